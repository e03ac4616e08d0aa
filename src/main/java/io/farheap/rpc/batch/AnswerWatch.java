package io.farheap.rpc.batch;

/**
 * How long a server has not answered: when the client checks whether it is alive, and when it gives the connection up.
 * Time is counted in probes, so that time in which this process was stopped does not count. One thread at a time.
 */
final class AnswerWatch {

    private static final int CHECK_MASK = 0xFF;
    private static final int REAP_MASK = 3;
    private static final long PROBE_NANOS = 100_000_000L;

    private int fruitless;
    private long waitingSince;
    /** Probes that were due since the server's last answer, and the number after which the connection is given up. */
    private int probes;

    private int mostProbes = Integer.MAX_VALUE;

    void giveUpAfter(long nanos) {
        mostProbes = (int) Math.min(Integer.MAX_VALUE, Math.max(1, nanos / PROBE_NANOS));
    }

    /** The server has answered, or the first batch after an idle time is about to be sent. */
    void begin() {
        waitingSince = 0;
        fruitless = 0;
        probes = 0;
    }

    /**
     * Notes a look that found no answer.
     *
     * @return whether so many looks found none that the client should check on the server
     */
    boolean missed() {
        return (++fruitless & CHECK_MASK) == 0;
    }

    /** Whether this look should also take completions, which costs more than the look. */
    boolean reaps() {
        return (fruitless & REAP_MASK) == 0;
    }

    /** Whether the server should be probed again. */
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
     * Notes that a probe is due while a batch has no answer.
     *
     * @return whether to give the connection up
     */
    boolean givesUp() {
        return ++probes > mostProbes;
    }
}
