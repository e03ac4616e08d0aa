package io.farheap.bench.store;

import io.farheap.bench.against.AgainstOptions;
import io.farheap.bench.against.ComparedRows;
import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.TimingNote;
import io.farheap.bench.ycsb.DataSet;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Durations;
import io.farheap.command.Sizes;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench store}: measures what a store's durability costs. */
@Command(
        name = "store",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the cost of a store's durability, on records with keys and values of 8 bytes.",
            "append: the time of an append by the commit point. checkpoint: the throughput that a load keeps while a checkpoint is "
                    + "made. recovery: against a sequential read of the log. loss: a memory server that is killed under a load."
        })
public final class BenchStoreCommand implements Callable<Integer> {

    private static final Set<String> PARTS = new LinkedHashSet<>(List.of("append", "checkpoint", "recovery", "loss"));
    private static final long LEAST_RECORDS = 10_000;
    private static final long MOST_RECORDS = 1L << 32;
    private static final int LEAST_APPEND = 4096;

    @Option(
            names = "--part",
            paramLabel = "NAME",
            split = ",",
            description = "append, checkpoint, recovery, loss (default: all)")
    private List<String> parts = List.copyOf(PARTS);

    @Option(
            names = "--records",
            paramLabel = "N",
            defaultValue = "4000000",
            description = "keys (default: ${DEFAULT-VALUE})")
    private long records;

    @Option(
            names = "--append",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "64k",
            description = "of each append, a power of two (default: ${DEFAULT-VALUE})")
    private long append;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "6",
            description =
                    "turns that count, after three to five that do not; a multiple of 6 completes the rotations (default: ${DEFAULT-VALUE})")
    private int repeat;

    @Option(
            names = "--turn",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "500ms",
            description = "how long a turn, or a quiet time, is (default: ${DEFAULT-VALUE})")
    private Duration turn;

    @Option(
            names = "--directory",
            paramLabel = "DIR",
            description = "on the disk that is measured (default: the one for temporary files)")
    private Path directory = Path.of(System.getProperty("java.io.tmpdir"));

    @Mixin
    private BenchOutput output;

    @Mixin
    private AgainstOptions against;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        DeviceNotice.print(spec.commandLine().getErr());
        if (against.wanted()) {
            against.compare(spec, output, ComparedRows.STORE);
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
        StorePlan plan =
                new StorePlan(new DataSet(records, Long.BYTES), (int) append, repeat, turn.toNanos(), directory);
        for (String part : PARTS) {
            if (parts.contains(part)) {
                switch (part) {
                    case "append" -> AppendPart.run(plan, report, out);
                    case "checkpoint" -> CheckpointPart.run(plan, report, out);
                    case "recovery" -> RecoveryPart.run(plan, report, out);
                    default -> LossPart.run(plan, report, out);
                }
            }
        }
        output.write(report);
        return 0;
    }

    private void check() {
        output.check();
        against.check(output);
        if (!PARTS.containsAll(parts)) {
            throw new IllegalArgumentException("--part " + parts + ": they are " + PARTS);
        }
        if (records < LEAST_RECORDS || records > MOST_RECORDS) {
            throw new IllegalArgumentException(
                    "--records " + records + ": there are " + LEAST_RECORDS + " to " + MOST_RECORDS);
        }
        if (append < LEAST_APPEND || append > StorePlan.SEGMENT_BYTES || Long.bitCount(append) != 1) {
            throw new IllegalArgumentException("--append " + append + ": it is a power of two from " + LEAST_APPEND
                    + " to " + StorePlan.SEGMENT_BYTES);
        }
        if (repeat < 1 || turn.toMillis() < 1) {
            throw new IllegalArgumentException("--repeat " + repeat + " --turn " + turn.toMillis()
                    + "ms: there is at least 1 turn that counts, and a turn takes at least 1 ms");
        }
        if (!Files.isDirectory(directory)) {
            throw new IllegalArgumentException("--directory " + directory + ": it is no directory");
        }
    }
}
