package io.farheap.bench.report;

/**
 * The means of one side of a comparison. Every row with a peer has them as fields, so that a reader sees whether the
 * sides were equal.
 *
 * @param bytesLocal local memory of the side for its data: buffers, caches, indexes
 * @param cores that the side keeps busy, in all of its processes
 * @param inFlight operations under way at a time
 * @param group operations that one call asks for
 */
public record SideSetup(long bytesLocal, int cores, int inFlight, int group) {

    /** Puts the fields {@code bytes_local}, {@code cores}, {@code in_flight} and {@code group}. */
    public BenchReport.Row put(BenchReport.Row row) {
        return put(row, "");
    }

    /**
     * Puts the fields of another side of the same row.
     *
     * @param prefix of their names, such as {@code memcpy_}
     */
    public BenchReport.Row put(BenchReport.Row row, String prefix) {
        return row.put(prefix + "bytes_local", bytesLocal)
                .put(prefix + "cores", cores)
                .put(prefix + "in_flight", inFlight)
                .put(prefix + "group", group);
    }
}
