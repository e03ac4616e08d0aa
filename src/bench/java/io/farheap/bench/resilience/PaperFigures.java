package io.farheap.bench.resilience;

import io.farheap.bench.report.BenchReport;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.contract.Resilience.Mode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Ratios that Hydra's text gives for its 4 KB pages (8+2, Δ=1; with corruption r=3), each beside the same ratio of this
 * run. Values that appear only in its plots are not here. Its "X times better than" is 1 / X here.
 */
final class PaperFigures {

    /** The other side of a ratio is the same system without the fault. */
    static final String WITHOUT_FAULT = FaultOptions.NONE;

    /**
     * A ratio of a kind.
     *
     * @param system the name of the kind
     * @param mode of coded memory; other kinds have none
     * @param tail whether it is a ratio of 99th percentiles; if not, of medians
     * @param to the name of a kind, or {@link #WITHOUT_FAULT}
     * @param least NaN if the text only gives an upper bound
     * @param where the place in the paper
     */
    record PaperClaim(
            String system,
            Mode mode,
            String fault,
            boolean write,
            boolean tail,
            String to,
            double least,
            double most,
            String where) {

        String name() {
            return "ratio_" + (tail ? "p99" : "p50") + "_to_"
                    + to.replace('-', '_').replace('+', '_');
        }
    }

    private static final String FIGURE_10 = "figure 10";

    private static final List<PaperClaim> CLAIMS = new ArrayList<>();

    static {
        String latency = "figure 9";
        add(FaultOptions.NONE, false, false, MemoryKind.SSD_BACKUP, 1 / 2.13, 1 / 1.79, latency);
        add(FaultOptions.NONE, false, true, MemoryKind.SSD_BACKUP, 1 / 2.04, 1 / 1.93, latency);
        add(FaultOptions.NONE, true, false, MemoryKind.SSD_BACKUP, 1 / 2.22, 1 / 1.9, latency);
        add(FaultOptions.NONE, true, true, MemoryKind.SSD_BACKUP, 1 / 2.2, 1 / 1.74, latency);
        // EC-Cache has late binding, but none of the other parts: the factors of these, multiplied.
        String parts = "figure 10, its parts multiplied";
        double readParts = (1 - 0.51) * (1 - 0.28);
        double writeParts = readParts * (1 - 0.38);
        add(FaultOptions.NONE, false, false, MemoryKind.EC_CACHE, readParts, readParts, parts);
        add(FaultOptions.NONE, true, false, MemoryKind.EC_CACHE, writeParts, writeParts, parts);
        double withoutSleep = 1 - 0.51;
        String polling = MemoryKind.POLLING_EC_CACHE;
        double pollingRead = readParts / withoutSleep;
        double pollingWrite = writeParts / withoutSleep;
        add(FaultOptions.NONE, false, false, polling, pollingRead, pollingRead, parts);
        add(FaultOptions.NONE, true, false, polling, pollingWrite, pollingWrite, parts);
        for (boolean write : new boolean[] {false, true}) {
            part(HydraParts.RUN_TO_COMPLETION, write, HydraParts.NONE, 1 - 0.51);
            part(HydraParts.IN_PLACE_CODING, write, HydraParts.RUN_TO_COMPLETION, 1 - 0.28);
        }
        part(HydraParts.ASYNCHRONOUS_ENCODING, true, HydraParts.IN_PLACE_CODING, 1 - 0.38);
        add(FaultOptions.NONE, false, false, MemoryKind.CODED_K_OF_K, 1.06, 1.06, FIGURE_10);
        add(FaultOptions.NONE, false, true, MemoryKind.CODED_K_OF_K, 1 - 0.61, 1 - 0.61, FIGURE_10);
        add(FaultOptions.BACKGROUND, false, true, MemoryKind.TWO_COPIES, 1 / 1.33, 1 / 1.33, "figure 12a");
        add(FaultOptions.BACKGROUND, true, true, MemoryKind.TWO_COPIES, 1 / 1.5, 1 / 1.5, "figure 12a");
        for (boolean tail : new boolean[] {false, true}) {
            for (boolean write : new boolean[] {false, true}) {
                add(FaultOptions.NONE, write, tail, MemoryKind.TWO_COPIES, Double.NaN, 1.18, latency);
                add(FaultOptions.BACKGROUND, write, tail, MemoryKind.SSD_BACKUP, 1 / 2.56, 1 / 1.97, "figure 12a");
                add(FaultOptions.CRASH, write, tail, MemoryKind.TWO_COPIES, 1, 1, "figure 12b");
            }
            add(FaultOptions.CRASH, false, tail, MemoryKind.SSD_BACKUP, 1 / 13.6, 1 / 8.37, "figure 12b");
            add(FaultOptions.CRASH, true, tail, MemoryKind.SSD_BACKUP, 1 / 7.3, 1 / 4.79, "figure 12b");
        }
        Mode corrects = Mode.CORRUPTION_CORRECTION;
        CLAIMS.add(new PaperClaim(
                MemoryKind.CODED,
                corrects,
                FaultOptions.CORRUPTION,
                false,
                true,
                WITHOUT_FAULT,
                1.51,
                1.51,
                "figure 11"));
        CLAIMS.add(new PaperClaim(
                MemoryKind.CODED,
                corrects,
                FaultOptions.CORRUPTION,
                true,
                true,
                WITHOUT_FAULT,
                1.09,
                1.09,
                "figure 11"));
    }

    private PaperFigures() {}

    private static void add(
            String fault, boolean write, boolean tail, String to, double least, double most, String where) {
        CLAIMS.add(new PaperClaim(MemoryKind.CODED, Mode.FAILURE_RECOVERY, fault, write, tail, to, least, most, where));
    }

    /** Adds the factor by which a part of Hydra reduces a median. */
    private static void part(HydraParts part, boolean write, HydraParts before, double leaves) {
        CLAIMS.add(new PaperClaim(
                part.kind,
                Mode.FAILURE_RECOVERY,
                FaultOptions.NONE,
                write,
                false,
                before.kind,
                leaves,
                leaves,
                FIGURE_10));
    }

    /** Returns the paper's ratios for a row; only for whole pages. */
    static List<PaperClaim> of(MemoryKind kind, RequestKind access, String fault) {
        if (access.bytes() != kind.pageBytes()) {
            return List.of();
        }
        Resilience resilience = kind.resilience();
        return CLAIMS.stream()
                .filter(claim -> claim.system().equals(kind.name())
                        && (resilience == null || claim.mode() == resilience.mode())
                        && claim.fault().equals(fault)
                        && claim.write() == access.write())
                .toList();
    }

    /**
     * Puts the paper's ratios into a row, and ours if the row does not have them yet. The lines have ours alone.
     *
     * @param same results of all kinds, this one included, for the same requests with the same fault
     * @return lines for people
     */
    static List<String> put(
            BenchReport.Row row,
            MemoryKind kind,
            RequestKind access,
            String fault,
            Map<MemoryKind, RequestTally> same,
            @Nullable RequestTally without) {
        List<String> lines = new ArrayList<>();
        Set<String> places = new LinkedHashSet<>();
        RequestTally tally = same.get(kind);
        if (tally == null) {
            return lines;
        }
        for (PaperClaim claim : of(kind, access, fault)) {
            double ours;
            if (claim.to().equals(WITHOUT_FAULT)) {
                ours = without == null ? Double.NaN : tally.tailRatio(without);
            } else {
                ours = ratio(claim, tally, same);
                row.put(claim.name(), ours);
            }
            row.put("paper_" + claim.name() + "_least", claim.least()).put("paper_" + claim.name(), claim.most());
            places.add(claim.where());
            lines.add(String.format(
                    Locale.ROOT,
                    "  %s %s to %s: %s (the ratio of the paper's %s)",
                    access.op(),
                    claim.tail() ? "p99" : "p50",
                    claim.to(),
                    Double.isNaN(ours) ? "not measured" : String.format(Locale.ROOT, "%.2f", ours),
                    claim.where()));
        }
        if (!places.isEmpty()) {
            row.put("paper_figure", String.join("; ", places));
        }
        return lines;
    }

    private static double ratio(PaperClaim claim, RequestTally tally, Map<MemoryKind, RequestTally> same) {
        for (Map.Entry<MemoryKind, RequestTally> other : same.entrySet()) {
            if (other.getKey().name().equals(claim.to())) {
                return claim.tail() ? tally.tailRatio(other.getValue()) : tally.medianRatio(other.getValue());
            }
        }
        return Double.NaN;
    }
}
