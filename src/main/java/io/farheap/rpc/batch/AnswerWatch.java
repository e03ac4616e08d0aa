package io.farheap.rpc.batch;

/**
 * How long a server has not answered: when the client looks after it, and when it is given up. Counted in probes, so
 * that time in which this process was stopped does not count. One thread at a time.
 */
final class AnswerWatch {

    private static final int CHECK_MASK = 0xFF;
    private static final int REAP_MASK = 3;
    private static final long PROBE_NANOS = 100_000_000L;

    private int fruitless;
    private long waitingSince;
    /** How many probes were due since the server answered last, and how many are to be before it is given up. */
    private int probes;

    private int mostProbes = Integer.MAX_VALUE;

    void giveUpAfter(long nanos) {
        mostProbes = (int) Math.min(Integer.MAX_VALUE, Math.max(1, nanos / PROBE_NANOS));
    }

    /** The server has answered, or owes its first answer. */
    void begin() {
        waitingSince = 0;
        fruitless = 0;
        probes = 0;
    }

    /**
     * There was no answer at a look for one.
     *
     * @return whether there was none so often that the server is to be checked on
     */
    boolean missed() {
        return (++fruitless & CHECK_MASK) == 0;
    }

    /** Whether completions are to be taken now, which costs more than a look. */
    boolean reaps() {
        return (fruitless & REAP_MASK) == 0;
    }

    /** Whether the server is to be probed again. */
    boolean isProbeDue() {
        long now = System.nanoTime();
        if (waitingSince == 0) {
            waitingSince = now;
            return false;
        }
        if (now - waitingSince <= PROBE_NANOS) {
            return false;
        }
        waitingSince = now;
        return true;
    }

    /**
     * A probe is due, and a batch has no answer.
     *
     * @return whether the server is given up
     */
    boolean givesUp() {
        return ++probes > mostProbes;
    }
}
