package io.farheap.procedure.translate.running;

import java.util.List;

/**
 * A procedure that was admitted. Immutable; any thread.
 *
 * @param name of the user's class, with its package
 * @param writes whether it has a store to the cache or an atomic
 * @param resumePoints where it can be suspended: each access to the cache, each loop
 * @param translatedBytes of the larger of the methods that were written
 * @param loops in the order of their lines
 * @param code to execute; the class goes when nothing refers to this and to no context that began it
 */
public record Translation(
        String name, boolean writes, int resumePoints, int translatedBytes, List<Loop> loops, TranslatedCode code) {

    /**
     * @param line of its head, 0 where the class does not say
     * @param depth 1 for a loop that is in no other
     * @param fuelPerTurn at most, without what loops in it and copied bytes take
     */
    public record Loop(int line, int depth, long fuelPerTurn) {}
}
