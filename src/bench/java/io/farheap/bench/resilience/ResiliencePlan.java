package io.farheap.bench.resilience;

import java.util.List;

/**
 * The plan of a run.
 *
 * @param kinds the baselines, and coded memory last
 * @param bytes of the memory, whole pages
 * @param regionBytes of a server: coded memory has one range of such regions
 * @param nanos for a figure, all turns together
 * @param turns of each side
 */
record ResiliencePlan(List<MemoryKind> kinds, long bytes, long regionBytes, long nanos, int turns) {

    MemoryKind coded() {
        return kinds.getLast();
    }

    /** Returns the baseline of ratios of such requests: one copy for a read, two for a write. */
    MemoryKind baseline(RequestKind access) {
        String name = access.write() ? MemoryKind.TWO_COPIES : MemoryKind.ONE_COPY;
        return kinds.stream()
                .filter(kind -> kind.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    int pageBytes() {
        return coded().pageBytes();
    }

    List<RequestKind> accesses() {
        return List.of(
                new RequestKind(false, pageBytes()), new RequestKind(true, pageBytes()),
                new RequestKind(false, SMALL), new RequestKind(true, SMALL));
    }

    /** Bytes of the smaller requests. */
    static final int SMALL = 64;

    /**
     * Returns the regions that each of some servers needs for all kinds at once, for a background load, and some spare
     * ones.
     */
    long regions(int servers) {
        long all = kinds.stream()
                .mapToLong(kind -> kind.regions(bytes, regionBytes))
                .sum();
        return all / servers + kinds.size() + 2;
    }

    /** Time before a figure: the last code is compiled after about a second. */
    long warmUpNanos() {
        return 2 * nanos;
    }

    long turnNanos() {
        return nanos / turns;
    }
}
