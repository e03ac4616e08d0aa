package io.farheap.server.pool;

/**
 * What is kept free beyond the headroom since tasks of the machine wait for memory (PSI), although the headroom is
 * free: one step more than what is free, and another one after each window in which tasks have waited for too long, up
 * to {@value #MOST_STEPS} steps. The memory of others may be what is short, in a control group for example, so stalls
 * alone never take all that a server has. After each window without stalls half of it is given up. Not thread-safe.
 */
final class StallReserve {

    /** The share of the time, in percent, in which some task may wait for memory. */
    static final double MOST_STALLED = 10;
    /** The time over which the kernel takes the average. */
    static final long WINDOW_NANOS = 10_000_000_000L;

    static final int MOST_STEPS = 4;
    /** How many steps all regions of a server are. */
    private static final int STEPS = 16;

    private final long regionBytes;
    private final long stepBytes;
    private int steps;
    private long bytes;
    private long changedAt;

    /** @param regions how many the server has */
    StallReserve(long regionBytes, int regions) {
        this.regionBytes = regionBytes;
        this.stepBytes = regionBytes * Math.ceilDiv(regions, STEPS);
    }

    /**
     * Returns how many bytes are to be kept free beyond the headroom.
     *
     * @param stalled the share of the time, in percent, in which some task has waited for memory
     * @param beyond how many bytes beyond the headroom are free; below 0 if there are too few
     * @param now of the clock of earlier calls
     */
    long look(double stalled, long beyond, long now) {
        boolean due = steps == 0 || now - changedAt >= WINDOW_NANOS;
        if (!due) {
            return bytes;
        }
        if (stalled > MOST_STALLED && steps < MOST_STEPS) {
            steps++;
            bytes = Math.max(0, beyond) + stepBytes;
            changedAt = now;
        } else if (stalled <= MOST_STALLED && steps > 0) {
            bytes /= 2;
            steps = bytes < regionBytes ? 0 : Math.max(1, steps - 1);
            bytes = steps == 0 ? 0 : bytes;
            changedAt = now;
        }
        return bytes;
    }
}
