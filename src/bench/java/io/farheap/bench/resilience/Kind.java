package io.farheap.bench.resilience;

import io.farheap.bench.report.BenchReport;
import io.farheap.remote.RemoteMemory;
import io.farheap.resilience.Resilience;
import org.jspecify.annotations.Nullable;

/**
 * A kind of far memory that is measured.
 *
 * @param resilience null of one that has none
 */
record Kind(String name, @Nullable Resilience resilience, int pageBytes) {

    static final String CODED = "coded";
    static final String ONE_COPY = "one-copy";
    static final String TWO_COPIES = "two-copies";
    static final String CODED_ONE_COPY = "coded-one-copy";

    static Kind coded(Resilience resilience) {
        return new Kind(CODED, resilience, resilience.pageBytes());
    }

    /** @throws IllegalArgumentException where there is no such baseline */
    static Kind baseline(String name, int pageBytes) {
        return switch (name) {
            case ONE_COPY -> new Kind(name, null, pageBytes);
            case CODED_ONE_COPY -> new Kind(name, Resilience.copies(1).pageBytes(pageBytes), pageBytes);
            case TWO_COPIES -> new Kind(name, Resilience.copies(2).pageBytes(pageBytes), pageBytes);
            default ->
                throw new IllegalArgumentException(
                        "--against " + name + ": there are " + ONE_COPY + ", " + TWO_COPIES + " and " + CODED_ONE_COPY);
        };
    }

    /** Servers that a range is on. */
    int splits() {
        return resilience == null ? 1 : resilience.splits();
    }

    /** Whether it is meant to survive what a crash kills. */
    boolean survives() {
        return resilience != null && resilience.paritySplits() > 0 && resilience.mode() != Resilience.Mode.EC_ONLY;
    }

    /** Servers that a crash kills: as many as it survives, and one where it survives none. */
    int kills() {
        return resilience == null ? 1 : Math.max(1, resilience.paritySplits());
    }

    /** Regions that it takes, of all servers. */
    long regions(long bytes, long regionBytes) {
        int splitBytes = resilience == null ? pageBytes : resilience.splitBytes();
        long rangeBytes = regionBytes / splitBytes * pageBytes;
        return (bytes + rangeBytes - 1) / rangeBytes * splits();
    }

    FarSide open(RemoteMemory memory, long bytes) {
        return resilience == null ? new PlainSide(memory, pageBytes, bytes) : new CodedSide(memory, resilience, bytes);
    }

    BenchReport.Row put(BenchReport.Row row) {
        row.put("system", name);
        return resilience == null
                ? row.put("mode", "none").put("k", 1).put("r", 0).put("delta", 0)
                : row.put("mode", resilience.mode().toString())
                        .put("k", resilience.dataSplits())
                        .put("r", resilience.paritySplits())
                        .put("delta", resilience.additional());
    }
}
