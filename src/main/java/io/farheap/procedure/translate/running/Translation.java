package io.farheap.procedure.translate.running;

import java.util.List;

/**
 * A procedure that was admitted. Immutable; any thread.
 *
 * @param name of the user's class, with its package
 * @param writes whether it contains a store to the cache or an atomic
 * @param resumePoints how many places it can be suspended at: each access to the cache, and each loop
 * @param translatedBytes bytecode of the longest method that was written
 * @param loops in the order of their lines
 * @param code executes the procedure; the JVM unloads the class when nothing refers to this record and to contexts that
 *     began it
 */
public record Translation(
        String name, boolean writes, int resumePoints, int translatedBytes, List<Loop> loops, TranslatedCode code) {

    /**
     * A loop of the procedure.
     *
     * @param line of its head; 0 if the class does not give it
     * @param depth 1 for a loop that is in no other loop
     * @param fuelPerTurn most fuel of a turn, without the loops in it and without copied bytes
     */
    public record Loop(int line, int depth, long fuelPerTurn) {}
}
