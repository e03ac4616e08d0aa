package io.farheap.runner;

/**
 * The counts of one test class, or of one test of another kind.
 *
 * @param name a class's full name, or a name that is unique in its suite
 * @param seconds by the wall
 * @param cpuSeconds of processors, its child processes' too
 * @param failure what to show of a failure; empty if there is none
 */
record Result(String name, int passed, int failed, int skipped, double seconds, double cpuSeconds, String failure) {

    static Result failure(String name, String why) {
        return new Result(name, 0, 1, 0, 0, 0, why);
    }

    /** A class without its package. */
    String shortName() {
        return name.startsWith("io.farheap.") ? name.substring(name.lastIndexOf('.') + 1) : name;
    }
}
