package io.farheap.runner;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One command in the queue: a JVM with a group of test classes, a run of ctest, jcstress, a guest, a build. The command
 * runs in the root of the checkout; its output goes to a file of its own.
 *
 * @param name unique in a plan, for messages
 * @param suite the suite that its results count for; {@link Suite#BUILD} for what only prepares others
 * @param environment what is added to the environment of the runner
 * @param slots how many places it takes of those that {@link Pool} has
 * @param alone whether nothing else may run beside it
 * @param after the names of the items that have to pass before it may start
 * @param seconds how long it is expected to take; the longest start first
 * @param silence it hangs if it has made no progress for so long: no output, and no event of a test
 * @param mebibytes what it and what it starts may take of the memory
 * @param reader what became of it
 */
record Item(
        String name,
        Suite suite,
        Command command,
        Map<String, String> environment,
        int slots,
        boolean alone,
        Set<String> after,
        double seconds,
        Duration silence,
        int mebibytes,
        OutcomeReader reader) {

    /** The command line of an item. */
    @FunctionalInterface
    interface Command {

        /** @param scratch a directory for the item's files, which is there */
        List<String> line(Path scratch);
    }

    static final Duration SILENCE = Duration.ofMinutes(10);

    /** One that takes one place, and starts as soon as there is one. */
    static Item of(String name, Suite suite, OutcomeReader reader, Command command) {
        return new Item(name, suite, command, Map.of(), 1, false, Set.of(), 10, SILENCE, 1500, reader);
    }

    Item environment(Map<String, String> variables) {
        return new Item(name, suite, command, variables, slots, alone, after, seconds, silence, mebibytes, reader);
    }

    Item slots(int places) {
        return new Item(name, suite, command, environment, places, alone, after, seconds, silence, mebibytes, reader);
    }

    Item alone(boolean isAlone) {
        return new Item(name, suite, command, environment, slots, isAlone, after, seconds, silence, mebibytes, reader);
    }

    Item after(Set<String> names) {
        return new Item(name, suite, command, environment, slots, alone, names, seconds, silence, mebibytes, reader);
    }

    Item seconds(double expected) {
        return new Item(name, suite, command, environment, slots, alone, after, expected, silence, mebibytes, reader);
    }

    Item mebibytes(int most) {
        return new Item(name, suite, command, environment, slots, alone, after, seconds, silence, most, reader);
    }

    Item silence(Duration longest) {
        return new Item(name, suite, command, environment, slots, alone, after, seconds, longest, mebibytes, reader);
    }
}
