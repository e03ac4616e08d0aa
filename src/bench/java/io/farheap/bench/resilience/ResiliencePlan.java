package io.farheap.bench.resilience;

import java.util.List;

/**
 * What is measured.
 *
 * @param kinds the baselines, and what is coded last
 * @param bytes of the memory, whole pages
 * @param regionBytes of a server: what is coded has one range of them
 * @param nanos of a figure, all turns together
 * @param turns of each side
 */
record ResiliencePlan(List<MemoryKind> kinds, long bytes, long regionBytes, long nanos, int turns) {

    MemoryKind coded() {
        return kinds.getLast();
    }

    /** What ratios of such requests are to: of a read to one copy, of a write to two. */
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

    /** Regions that each of some servers needs for all kinds at once, a background load's, and some to spare. */
    long regions(int servers) {
        long all = kinds.stream()
                .mapToLong(kind -> kind.regions(bytes, regionBytes))
                .sum();
        return all / servers + kinds.size() + 2;
    }

    /** Before a figure: what is compiled last is not before a second. */
    long warmUpNanos() {
        return 2 * nanos;
    }

    long turnNanos() {
        return nanos / turns;
    }
}
