package io.farheap.bench.resilience;

import io.farheap.bench.report.BenchReport;
import io.farheap.remote.RemoteMemory;
import io.farheap.resilience.contract.Resilience;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A kind of far memory that is measured.
 *
 * @param resilience null if the kind is not one of {@link io.farheap.resilience}
 * @param layout of its pages
 * @param opener opens it
 */
record MemoryKind(String name, @Nullable Resilience resilience, int pageBytes, PageLayout layout, Opener opener) {

    /** Opens memory on all attached servers. */
    @FunctionalInterface
    interface Opener {

        /** @param bytes whole pages */
        FarSide open(RemoteMemory memory, long bytes);
    }

    static final String CODED = "coded";
    static final String ONE_COPY = "one-copy";
    static final String TWO_COPIES = "two-copies";
    static final String CODED_ONE_COPY = "coded-one-copy";
    static final String SSD_BACKUP = "ssd-backup";
    /** By LZ4. */
    static final String COMPRESSED_COPIES = "compressed-copies";
    /** By the Deflate of the JDK. */
    static final String DEFLATED_COPIES = "compressed-copies-deflate";

    static final String EC_CACHE = HydraParts.NONE.kind;
    /** The fair baseline on one machine: a sleeping client waits for its wake-up and not for the splits. */
    static final String POLLING_EC_CACHE = HydraParts.RUN_TO_COMPLETION.kind;

    static final String CODED_K_OF_K = "coded-k-of-k";

    private static final String NO_LZ4 =
            "LZ4 is not on the class path; ./farheap bench resilience --beside compressed-copies fetches it";

    private static final List<String> BASELINES = Stream.concat(
                    Stream.of(
                            ONE_COPY,
                            TWO_COPIES,
                            CODED_ONE_COPY,
                            CODED_K_OF_K,
                            SSD_BACKUP,
                            COMPRESSED_COPIES,
                            DEFLATED_COPIES),
                    Arrays.stream(HydraParts.values()).map(parts -> parts.kind))
            .toList();

    static MemoryKind coded(Resilience resilience) {
        return coded(CODED, resilience);
    }

    private static MemoryKind coded(String name, Resilience resilience) {
        return new MemoryKind(
                name,
                resilience,
                resilience.pageBytes(),
                PageLayout.of(resilience),
                (memory, bytes) -> new CodedSide(memory, resilience, bytes));
    }

    private static MemoryKind other(String name, int pageBytes, PageLayout layout, Opener opener) {
        return new MemoryKind(name, null, pageBytes, layout, opener);
    }

    /**
     * Returns a baseline for coded memory.
     *
     * @param coded the coded kind, of which it has the pages; EC-Cache also has its splits
     * @param directory for a backup
     * @throws IllegalArgumentException if there is no such baseline, or it {@linkplain #absence is absent}
     */
    static MemoryKind baseline(String name, Resilience coded, Path directory) {
        int pageBytes = coded.pageBytes();
        return switch (name) {
            case ONE_COPY ->
                other(
                        name,
                        pageBytes,
                        PageLayout.copies(1, pageBytes),
                        (memory, bytes) -> new PlainSide(memory, pageBytes, bytes));
            case CODED_ONE_COPY -> coded(name, Resilience.copies(1).pageBytes(pageBytes));
            case CODED_K_OF_K -> coded(name, coded.additional(0));
            case TWO_COPIES -> coded(name, Resilience.copies(2).pageBytes(pageBytes));
            case SSD_BACKUP -> {
                BackupPlace place = BackupPlace.of(directory);
                yield other(
                        name,
                        pageBytes,
                        PageLayout.copies(1, pageBytes),
                        (memory, bytes) -> new BackupSide(memory, pageBytes, bytes, place));
            }
            case COMPRESSED_COPIES ->
                compressed(
                        name,
                        pageBytes,
                        PageCompressors.provided()
                                .orElseThrow(() -> new IllegalArgumentException("--beside " + name + ": " + NO_LZ4)));
            case DEFLATED_COPIES -> compressed(name, pageBytes, DeflatedPages::new);
            default -> ecCache(name, coded);
        };
    }

    /** Returns the reason why a baseline cannot be measured here, if there is one. */
    static Optional<String> absence(String name) {
        return name.equals(COMPRESSED_COPIES) && PageCompressors.provided().isEmpty()
                ? Optional.of(NO_LZ4)
                : Optional.empty();
    }

    private static MemoryKind compressed(String name, int pageBytes, PageCompressorProvider compressors) {
        return other(
                name,
                pageBytes,
                PageLayout.copies(CompressedSide.COPIES, CompressedSide.slotBytes(pageBytes)),
                (memory, bytes) -> new CompressedSide(memory, pageBytes, bytes, compressors));
    }

    private static MemoryKind ecCache(String name, Resilience coded) {
        for (HydraParts parts : HydraParts.values()) {
            if (parts.kind.equals(name)) {
                PageLayout layout = PageLayout.of(coded);
                return other(
                        name,
                        coded.pageBytes(),
                        layout,
                        (memory, bytes) -> new EcCacheSide(memory, layout, bytes, parts));
            }
        }
        throw new IllegalArgumentException("--beside " + name + ": there are " + String.join(", ", BASELINES));
    }

    /** Returns the number of servers that a page, or a coded range, is on. */
    int splits() {
        return layout.splits();
    }

    /** Whether other servers should have the data of servers that crash. */
    boolean survives() {
        return layout.paritySplits() > 0 && (resilience == null || resilience.mode() != Resilience.Mode.EC_ONLY);
    }

    /** Returns how many servers a crash kills: r, and one if r is 0. */
    int kills() {
        return Math.max(1, layout.paritySplits());
    }

    /** Returns the regions that it takes, of all servers together. */
    long regions(long bytes, long regionBytes) {
        long rangeBytes = regionBytes / layout.slotBytes() * pageBytes;
        return (bytes + rangeBytes - 1) / rangeBytes * splits();
    }

    FarSide open(RemoteMemory memory, long bytes) {
        return opener.open(memory, bytes);
    }

    BenchReport.Row put(BenchReport.Row row) {
        return row.put("system", name)
                .put("mode", resilience == null ? "none" : resilience.mode().toString())
                .put("k", layout.dataSplits())
                .put("r", layout.paritySplits())
                .put("delta", layout.additional());
    }
}
