package io.farheap.runner;

import java.nio.file.Path;

/** Tells from an item's files what became of its tests. */
@FunctionalInterface
interface OutcomeReader {

    /** @param scratch the directory that the command was given */
    Outcome read(Path scratch, Ending ending);

    /** Tells whether an item goes on: a number that grows with what it has done, such as what it has printed. */
    default long progress(Path scratch) {
        return scratch.resolve("output").toFile().length();
    }

    /** The one test is whether the command ends with status 0. */
    static OutcomeReader ofStatus(String test) {
        return (_, ending) -> Outcome.of(new Result(
                test,
                ending.passed() ? 1 : 0,
                ending.passed() ? 0 : 1,
                0,
                ending.seconds(),
                ending.cpuSeconds(),
                ending.passed() ? "" : ending.said()));
    }

    /** Of what prepares others: no test if it works, and a failure if not. */
    static OutcomeReader ofBuild(String name) {
        return (scratch, ending) ->
                ending.passed() ? Outcome.NOTHING : ofStatus(name).read(scratch, ending);
    }
}
