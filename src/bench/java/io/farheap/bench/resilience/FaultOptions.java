package io.farheap.bench.resilience;

import io.farheap.command.Sizes;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/** The options of the command that select faults, and how severe they are. */
final class FaultOptions {

    static final String NONE = "none";
    static final String CRASH = "crash";
    static final String STRAGGLER = "straggler";
    static final String BACKGROUND = "background";
    static final String CORRUPTION = "corruption";
    static final String BURST = "burst";
    static final String PARTITION = "partition";
    static final String REGENERATION = "regeneration";
    static final String REGENERATING = "regenerating";
    /** Faults for which each kind has servers of its own. */
    private static final Set<String> APART = Set.of(CRASH, PARTITION, REGENERATION, REGENERATING);

    private static final List<String> ALL =
            List.of(NONE, CRASH, STRAGGLER, BACKGROUND, CORRUPTION, BURST, PARTITION, REGENERATION, REGENERATING);
    /** Faults that only a software device can be asked for. */
    private static final Set<String> ASKED_OF_DEVICE = Set.of(STRAGGLER, CORRUPTION, PARTITION);

    private static final Pattern LATE = Pattern.compile("(0?\\.\\d+|[01](?:\\.0*)?):(\\d{1,9})");
    private static final long LEAST_PIECE = 4 << 10;
    private static final long MOST_PIECE = 1 << 20;
    private static final int MOST_AT_ONCE = 256;
    private static final long LEAST_SLAB = 64 << 10;
    private static final long MOST_SLAB = 128 << 20;
    private static final int MOST_OUTAGES = 100;
    private static final int MOST_PARTITION_MILLIS = 60_000;

    @Option(
            names = "--fault",
            split = ",",
            paramLabel = "FAULT",
            defaultValue = NONE,
            description =
                    "none, crash, straggler, background, corruption, burst, partition, regeneration, regenerating "
                            + "(default: ${DEFAULT-VALUE})")
    private List<String> faults = List.of();

    @Option(
            names = "--straggler",
            paramLabel = "PART:NS",
            defaultValue = "0.1:50000",
            description = "part of one server's operations that are late, 0 to 1, and their delay in ns "
                    + "(default: ${DEFAULT-VALUE})")
    private String late = "";

    @Option(
            names = "--stragglers",
            paramLabel = "one|all",
            defaultValue = "one",
            description = "servers whose operations are late, each as --straggler sets it (default: ${DEFAULT-VALUE})")
    private String lateServers = "";

    @Option(
            names = "--corrupt",
            paramLabel = "PART",
            defaultValue = "0.01",
            description = "part of one server's splits that it corrupts, above 0 to 1 (default: ${DEFAULT-VALUE})")
    private double corrupt;

    @Option(
            names = "--background",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "256k",
            description = "pieces in which a background load reads and writes, 4k to 1m and at most a region "
                    + "(default: ${DEFAULT-VALUE})")
    private long piece;

    @Option(
            names = "--burst",
            paramLabel = "N",
            defaultValue = "16",
            description = "requests of a burst, issued at once (default: ${DEFAULT-VALUE})")
    private int burst;

    @Option(
            names = "--partition-ms",
            paramLabel = "N",
            defaultValue = "1000",
            description = "ms for which one server cannot be reached on the data path (default: ${DEFAULT-VALUE})")
    private int partitionMillis;

    @Option(
            names = "--slab",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "8m",
            description = "a slab that is regenerated, a power of two of 64k to 128m (default: ${DEFAULT-VALUE})")
    private long slab;

    @Option(
            names = "--outages",
            paramLabel = "N",
            defaultValue = "3",
            description =
                    "turns of each system for crash and partition, 1 to 100, which share its --seconds; each starts "
                            + "new servers (default: ${DEFAULT-VALUE})")
    private int outages;

    /** A part of the operations on a server is late by some ns. */
    record Straggler(double part, long nanos, boolean allServers) {}

    /** @throws IllegalArgumentException if a value is out of its limits, or this device does not support a fault */
    void check(long pages) {
        for (String fault : faults) {
            if (!ALL.contains(fault)) {
                throw new IllegalArgumentException("--fault " + fault + ": there are " + String.join(", ", ALL));
            }
            if (ASKED_OF_DEVICE.contains(fault) && Devices.library() != VerbsLibrary.SOFT) {
                throw new IllegalArgumentException(
                        "--fault " + fault + ": only softverbs can be asked for it; take -Dfarheap.verbs=soft");
            }
        }
        straggler();
        if (!(corrupt > 0 && corrupt <= 1)) {
            throw new IllegalArgumentException("--corrupt " + corrupt + ": it is above 0 and at most 1");
        }
        if (piece < LEAST_PIECE || piece > MOST_PIECE) {
            throw new IllegalArgumentException(
                    "--background " + piece + ": it is " + LEAST_PIECE + " (4k) to " + MOST_PIECE + " (1m) bytes");
        }
        if (burst < 2 || burst > MOST_AT_ONCE) {
            throw new IllegalArgumentException("--burst " + burst + ": it is 2 to " + MOST_AT_ONCE + " requests");
        }
        if (has(BURST) && burst > pages) {
            throw new IllegalArgumentException("--burst " + burst + ": requests of a burst are to different pages, and "
                    + "there are " + pages + "; take more --bytes");
        }
        if (slab < LEAST_SLAB || slab > MOST_SLAB || Long.bitCount(slab) != 1) {
            throw new IllegalArgumentException("--slab " + slab + ": it is a power of two of " + LEAST_SLAB
                    + " (64k) to " + MOST_SLAB + " (128m) bytes");
        }
        if (outages < 1 || outages > MOST_OUTAGES) {
            throw new IllegalArgumentException("--outages " + outages + ": it is 1 to " + MOST_OUTAGES);
        }
        if (partitionMillis < 1 || partitionMillis > MOST_PARTITION_MILLIS) {
            throw new IllegalArgumentException(
                    "--partition-ms " + partitionMillis + ": it is 1 to " + MOST_PARTITION_MILLIS);
        }
    }

    boolean has(String fault) {
        return faults.contains(fault);
    }

    /** Whether there is a fault for which all kinds share servers. */
    boolean anyInTurns() {
        return faults.stream().anyMatch(fault -> !APART.contains(fault));
    }

    Straggler straggler() {
        Matcher matcher = LATE.matcher(late);
        if (!matcher.matches() || Double.parseDouble(matcher.group(1)) > 1) {
            throw new IllegalArgumentException("--straggler " + late + ": it is PART:NS, such as 0.1:50000");
        }
        boolean all = lateServers.equals("all");
        if (!all && !lateServers.equals("one")) {
            throw new IllegalArgumentException("--stragglers " + lateServers + ": there are one and all");
        }
        return new Straggler(Double.parseDouble(matcher.group(1)), Long.parseLong(matcher.group(2)), all);
    }

    double corrupt() {
        return corrupt;
    }

    /** Returns the bytes of a background load's pieces. */
    int piece() {
        return (int) piece;
    }

    /** Returns the requests of a burst. */
    int burst() {
        return burst;
    }

    /** Returns the bytes of a slab that is regenerated alone. */
    long slab() {
        return slab;
    }

    /** Returns the turns of faults that take servers away. */
    int outages() {
        return outages;
    }

    long partitionNanos() {
        return partitionMillis * 1_000_000L;
    }
}
