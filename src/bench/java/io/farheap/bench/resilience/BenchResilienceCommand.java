package io.farheap.bench.resilience;

import io.farheap.bench.against.AgainstOptions;
import io.farheap.bench.against.ComparedRows;
import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.TimingNote;
import io.farheap.command.DeviceNotice;
import io.farheap.command.ResilienceOptions;
import io.farheap.command.Sizes;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.contract.Resilience.Mode;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code farheap bench resilience}: measures coded far memory beside copies, with faults and without (Hydra, section
 * 7.1).
 */
@Command(
        name = "resilience",
        mixinStandardHelpOptions = true,
        description = {
            "Measure coded far memory beside copies and other baselines: memory servers are processes, each a failure "
                    + "domain.",
            "Reads and writes of a page and of 64 bytes, one under way, in turns: each side after the other, on the "
                    + "same servers. p50 and p99 are medians of turns, p99.9 is of all of them; ratios are of "
                    + "medians, of a read to one copy, of a write to two copies. Every byte that is read is "
                    + "compared.",
            "crash: each turn of each system on servers of its own, of which as many are killed at once as it survives (one of "
                    + "those that survive none), under reads and writes at the same time. Figures are from the kill "
                    + "until the lost parts are regenerated, in systems that do so; ratios are to the same load before "
                    + "the kill.",
            "regeneration: alone, without requests: a server of one range is killed, at most three times, in turns "
                    + "with a memcpy of the bytes that were read. regenerating: the same under reads and writes, "
                    + "compared with reads and writes beside a memcpy.",
            "partition: as crash, but one server of each cannot be reached on the data path for a while.",
            "straggler: servers execute a part of their operations later. background: another process reads and "
                    + "writes large pieces of one server as fast as it can. corruption: one server stores and returns "
                    + "wrong bytes. burst: some requests at once, each timed from its issue, then a pause as long."
        })
public final class BenchResilienceCommand implements Callable<Integer> {

    private static final long LEAST_REGION_BYTES = 64 << 10;
    private static final long MOST_BYTES = 1L << 30;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            defaultValue = "failure-recovery",
            description = "failure-recovery, corruption-detection, corruption-correction or ec-only (default: "
                    + "${DEFAULT-VALUE})")
    private String mode = "";

    @Option(
            names = "--k",
            paramLabel = "N",
            defaultValue = "8",
            description = "data splits of a page (default: ${DEFAULT-VALUE})")
    private int k;

    @Option(names = "--r", paramLabel = "N", description = "parity splits (default: 2, corruption-correction: 3)")
    private @Nullable Integer r;

    @Option(names = "--delta", paramLabel = "N", description = "additional splits that a read requests (default: 1)")
    private @Nullable Integer delta;

    @Option(
            names = "--beside",
            split = ",",
            paramLabel = "SYSTEM",
            description = "systems to measure beside one copy (bare READs and WRITEs of one queue) and two copies, "
                    + "which always run, since ratios are to them; coded-one-copy: coded memory with k = 1 and "
                    + "r = 0; ssd-backup: one copy, and a file behind a bounded buffer, 32 "
                    + "writes to it at a time; compressed-copies: two, by LZ4; compressed-copies-deflate: by Deflate; "
                    + "ec-cache: the same k, r and Δ on random groups of servers, with copies, and asleep while it "
                    + "waits, so ec-cache+run-to-completion, which polls, always runs beside it; "
                    + "ec-cache+in-place-coding, ec-cache+asynchronous-encoding: the same with that part of Hydra, and "
                    + "those before it; "
                    + "coded-k-of-k: coded memory with Δ = 0, without late binding (default: none of these)")
    private List<String> beside = List.of();

    /** By baseline that cannot be measured here, the reason. */
    private final Map<String, String> absent = new LinkedHashMap<>();

    @Option(
            names = "--directory",
            paramLabel = "DIR",
            description = "on the disk that ssd-backup writes to (default: the one for temporary files)")
    private Path directory = Path.of(System.getProperty("java.io.tmpdir"));

    @Mixin
    private FaultOptions faults;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "1",
            description = "for each figure of each system, all turns together; a crash, and the time after a "
                    + "partition, is measured for at least as long (default: ${DEFAULT-VALUE})")
    private double seconds;

    @Option(
            names = "--turns",
            paramLabel = "N",
            defaultValue = "10",
            description = "turns of each system for each figure, rounded up so that the order favours none "
                    + "(default: ${DEFAULT-VALUE})")
    private int turns;

    @Option(
            names = "--bytes",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "8m",
            description = "memory that each system has, rounded to pages (default: ${DEFAULT-VALUE})")
    private long bytes;

    @Mixin
    private BenchOutput output;

    @Mixin
    private AgainstOptions against;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        output.check();
        against.check(output);
        ResiliencePlan plan = plan();
        faults.check(plan.bytes() / plan.pageBytes());
        DeviceNotice.print(spec.commandLine().getErr());
        if (against.wanted()) {
            against.compare(spec, output, ComparedRows.RESILIENCE);
            return 0;
        }
        BenchReport report;
        try (Context context = Devices.open("")) {
            report = output.report(spec, context);
        }
        PrintStream out = System.out;
        report.origin().forEach(out::println);
        TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
        note.put(report);
        out.println(note.sentence());
        out.println(plan.coded().resilience() + ", " + Sizes.format(plan.bytes()) + " of each system");
        if (beside.contains(MemoryKind.SSD_BACKUP)) {
            String place = BackupPlace.of(directory).toString();
            out.println("ssd-backup in " + place);
            report.summary().put("ssd_backup", place);
        }
        ResultRows rows = new ResultRows(report, out);
        absent.forEach(rows::absent);
        if (faults.anyInTurns()) {
            inTurns(plan, rows);
        }
        int outages = Rotation.turns(plan.kinds().size(), faults.outages());
        if (faults.has(FaultOptions.CRASH)) {
            OutagePart.crash(plan, rows, outages).run();
        }
        if (faults.has(FaultOptions.PARTITION)) {
            OutagePart.partition(plan, rows, outages, faults.partitionNanos()).run();
        }
        if (faults.has(FaultOptions.REGENERATION)) {
            new RegenerationPart(plan, rows, faults.slab()).run();
        }
        if (faults.has(FaultOptions.REGENERATING)) {
            new RegenerationLoadPart(plan, rows, faults.slab()).run();
        }
        losses(plan, out);
        output.write(report, rows.plots());
        // Wrong bytes of the corruption fault do not fail the run, which shows which kinds detect them.
        return rows.wrongBytesBut(FaultOptions.CORRUPTION) == 0 ? 0 : 1;
    }

    private static void losses(ResiliencePlan plan, PrintStream out) {
        out.printf(
                "%nProbability that something is lost if %d of %,d servers with %d slabs each die at once:%n",
                LossProbability.DEAD, LossProbability.SERVERS, LossProbability.SLABS);
        plan.kinds().forEach(kind -> out.printf("  %-20s %.4f%n", kind.name(), LossProbability.of(kind)));
    }

    /** Corruption comes last: the other faults would find the wrong bytes that it leaves in a single copy. */
    private void inTurns(ResiliencePlan plan, ResultRows rows) {
        // A spare server for the slabs that are moved from the one that corrupts.
        try (TurnsPart part = new TurnsPart(plan, rows, faults.has(FaultOptions.CORRUPTION) ? 1 : 0)) {
            if (faults.has(FaultOptions.NONE)) {
                part.none();
            }
            if (faults.has(FaultOptions.STRAGGLER)) {
                part.straggler(faults.straggler());
            }
            if (faults.has(FaultOptions.BACKGROUND)) {
                part.background(faults.piece());
            }
            if (faults.has(FaultOptions.BURST)) {
                part.burst(faults.burst());
            }
            if (faults.has(FaultOptions.CORRUPTION)) {
                part.corruption(faults.corrupt());
            }
        }
    }

    private ResiliencePlan plan() {
        Resilience resilience = resilience();
        if (!(seconds > 0 && seconds <= 3600) || turns < 1 || turns > 10_000) {
            throw new IllegalArgumentException("--seconds " + seconds + " --turns " + turns
                    + ": seconds are above 0 and at most 3600, turns 1 to 10000");
        }
        int pageBytes = resilience.pageBytes();
        if (bytes < 4L * pageBytes || bytes > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "--bytes " + bytes + ": it is " + 4 * pageBytes + " (four pages) to " + MOST_BYTES);
        }
        List<MemoryKind> kinds = new ArrayList<>();
        for (String name : names()) {
            MemoryKind.absence(name)
                    .ifPresentOrElse(
                            reason -> absent.put(name, reason),
                            () -> kinds.add(MemoryKind.baseline(name, resilience, directory)));
        }
        kinds.add(MemoryKind.coded(resilience));
        long pages = bytes / pageBytes;
        long slab = Math.max(LEAST_REGION_BYTES, pages * resilience.splitBytes());
        long regionBytes = Long.highestOneBit(slab - 1) << 1;
        return new ResiliencePlan(
                kinds, pages * pageBytes, regionBytes, (long) (seconds * 1e9), Rotation.turns(kinds.size(), turns));
    }

    /** Returns the baselines of all ratios, and those that are asked for. */
    private Set<String> names() {
        Set<String> names = new LinkedHashSet<>(List.of(MemoryKind.ONE_COPY, MemoryKind.TWO_COPIES));
        for (String name : beside) {
            names.add(name);
            if (name.equals(MemoryKind.EC_CACHE)) {
                names.add(MemoryKind.POLLING_EC_CACHE);
            }
        }
        return names;
    }

    private Resilience resilience() {
        Mode wanted = ResilienceOptions.mode(mode);
        int parity = r != null ? r : wanted == Mode.CORRUPTION_CORRECTION ? 3 : 2;
        Resilience resilience = ResilienceOptions.of(wanted, k, parity);
        return delta == null ? resilience : resilience.additional(delta);
    }
}
