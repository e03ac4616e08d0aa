package io.farheap.kv.leased.format;

/**
 * How long a term is by the clocks of both ends. A term is a duration: a client counts it from when it sent the
 * request, the server from when it executes it, which is later. Each clock may be wrong by {@value #DRIFT_PER_MILLION}
 * millionths of the time that passes; the client counts so much less, and the server so much more.
 */
public final class LeaseClock {

    /** The drift bound, in millionths. */
    public static final long DRIFT_PER_MILLION = 500;

    private static final long MILLION = 1_000_000;

    private LeaseClock() {}

    /** How long the client uses a lease of a term, in ns by its own clock. */
    public static long ofClient(long termNanos) {
        return Math.max(0, termNanos - drift(termNanos));
    }

    /** How long the server keeps a block that it has leased for a term, in ns by its own clock. */
    public static long ofServer(long termNanos) {
        return termNanos + drift(termNanos);
    }

    private static long drift(long termNanos) {
        return termNanos == 0 ? 0 : termNanos / MILLION * DRIFT_PER_MILLION + DRIFT_PER_MILLION;
    }
}
