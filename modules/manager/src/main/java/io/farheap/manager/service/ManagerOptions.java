package io.farheap.manager.service;

/**
 * The options of a manager.
 *
 * @param serverSilentNanos a server that has not reported for this long gets no more caches
 * @param clientSilentNanos a client process that has not reported for this long loses its caches as soon as no server
 *     holds a lease for them
 * @param forgetNanos a server that was silent for this long, while others were heard, is given up: what it held counts
 *     as free
 * @param earlyMoves whether caches leave spot servers that are expected to end soon ahead of their notice
 * @param cheaperMoves how many caches may move at once to servers that cost less; 0: none
 * @param supply of servers
 */
public record ManagerOptions(
        long serverSilentNanos,
        long clientSilentNanos,
        long forgetNanos,
        boolean earlyMoves,
        int cheaperMoves,
        Supply supply) {

    private static final long FORGET_NANOS = 3_600_000_000_000L;

    public static final ManagerOptions DEFAULT =
            new ManagerOptions(3_000_000_000L, 30_000_000_000L, true, 2, Supply.DEFAULT);

    /** Options with which a server is given up after an hour. */
    public ManagerOptions(
            long serverSilentNanos, long clientSilentNanos, boolean earlyMoves, int cheaperMoves, Supply supply) {
        this(serverSilentNanos, clientSilentNanos, FORGET_NANOS, earlyMoves, cheaperMoves, supply);
    }

    public ManagerOptions {
        if (serverSilentNanos < 1 || clientSilentNanos < 1) {
            throw new IllegalArgumentException("servers that may be silent for " + serverSilentNanos
                    + " ns and clients for " + clientSilentNanos + "; both are more than 0");
        }
        if (forgetNanos <= serverSilentNanos) {
            throw new IllegalArgumentException("servers that are given up after a silence of " + forgetNanos
                    + " ns and get no caches after " + serverSilentNanos + " ns; the first is more than the second");
        }
        if (cheaperMoves < 0) {
            throw new IllegalArgumentException(cheaperMoves + " moves at once to cheaper servers; 0 is none");
        }
    }
}
