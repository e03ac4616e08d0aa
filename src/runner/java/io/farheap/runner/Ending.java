package io.farheap.runner;

/**
 * How a command ended.
 *
 * @param status its exit status; 128 and a signal's number if one ended it
 * @param trouble why the runner ended it, or what it left; empty if all was well
 * @param said the end of its output
 */
record Ending(int status, String trouble, String said, double seconds, double cpuSeconds) {

    boolean passed() {
        return status == 0 && trouble.isEmpty();
    }

    /** In one sentence. */
    String how() {
        if (!trouble.isEmpty()) {
            return trouble;
        }
        return status > 128 ? "ended by signal " + (status - 128) : "ended with status " + status;
    }
}
