package io.farheap.server.pool;

/**
 * How much memory a server gives to its machine, at least, since tasks of the machine wait for memory (PSI) although
 * the headroom is free: one step more than it has given, and another one after each window in which tasks have waited
 * for too long, up to a quarter of its regions. The memory of others may be what is short, in a control group for
 * example, so stalls alone never take more, however much of the machine's memory is free. After each window without
 * stalls the server may have half of it again. Not thread-safe.
 */
final class StallReserve {

    /** The share of the time, in percent, in which some task may wait for memory. */
    static final double MOST_STALLED = 10;
    /** The time over which the kernel takes the average. */
    static final long WINDOW_NANOS = 10_000_000_000L;

    /** How many steps all regions of a server are. */
    private static final int STEPS = 16;
    /** The part of a server's regions that stalls take at most. */
    private static final int MOST_PART = 4;

    private final long regionBytes;
    private final long stepBytes;
    private final long mostBytes;
    private long bytes;
    private long changedAt;

    /** @param regions how many the server has; of fewer than {@value #MOST_PART} stalls take none */
    StallReserve(long regionBytes, int regions) {
        this.regionBytes = regionBytes;
        this.stepBytes = regionBytes * Math.ceilDiv(regions, STEPS);
        this.mostBytes = regionBytes * (regions / MOST_PART);
    }

    /**
     * Returns how many bytes the server is to have given to the machine, at least.
     *
     * @param stalled the share of the time, in percent, in which some task has waited for memory
     * @param given how many bytes it has given, for whatever reason
     * @param now nanoseconds of the clock of earlier calls
     */
    long look(double stalled, long given, long now) {
        boolean due = bytes == 0 || now - changedAt >= WINDOW_NANOS;
        if (!due) {
            return bytes;
        }
        if (stalled > MOST_STALLED) {
            bytes = Math.min(mostBytes, Math.max(bytes, given) + stepBytes);
            changedAt = now;
        } else if (bytes > 0) {
            bytes = bytes / 2 < regionBytes ? 0 : bytes / 2;
            changedAt = now;
        }
        return bytes;
    }
}
