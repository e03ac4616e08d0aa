package io.farheap.bench.store;

import io.farheap.bench.machine.ScratchDirectory;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.SideSetup;
import io.farheap.store.FarStore;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.tier.FileDevice;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Locale;

/**
 * Measures which part of its throughput a load keeps during a checkpoint, against a quiet time just before: for each
 * kind of checkpoint, with all of the log in local memory, above files.
 */
final class CheckpointPart {

    private CheckpointPart() {}

    static void run(StorePlan plan, BenchReport report, PrintStream out) throws IOException, InterruptedException {
        out.printf(
                "%ncheckpoints beside one thread that reads and writes, half of each; medians of %d%n%-14s%16s%16s%8s%20s%14s%n",
                plan.rounds(), "kind", "quiet, op/s", "meanwhile", "ratio", "(least..most)", "ms each");
        for (CheckpointKind kind : CheckpointKind.values()) {
            run(kind, plan, report, out);
        }
    }

    private static void run(CheckpointKind kind, StorePlan plan, BenchReport report, PrintStream out)
            throws IOException, InterruptedException {
        StoreTurns turns;
        long logBytes;
        long logBytesInMemory;
        Samples millis = new Samples();
        try (ScratchDirectory directory = new ScratchDirectory(plan.directory(), "farheap-store");
                FileDevice device = FileDevice.open(directory.path().resolve("log"), StorePlan.SEGMENT_BYTES);
                FarStore store = FarStore.builder()
                        .device(device)
                        .directory(directory.path().resolve("checkpoints"))
                        .checkpoints(kind)
                        .memory(plan.allLocal())
                        .pageBytes(StorePlan.PAGE_BYTES)
                        .expectedKeys(plan.data().records())
                        .pending(StorePlan.REQUESTS)
                        .open()) {
            UpdateLoad.fill(store, plan.data());
            try (UpdateLoad load = new UpdateLoad(store, plan.data())) {
                // Always a quiet time first: a checkpoint just after another one finds less to write.
                turns = StoreTurns.<InterruptedException>take(
                        false,
                        plan.rounds(),
                        () -> checkpoint(store, load, millis),
                        () -> load.rate(plan.turnNanos()),
                        millis::clear);
            }
            logBytesInMemory = store.logBytesInMemory();
            logBytes = store.logBytes();
        }
        boolean allLocal = logBytesInMemory == logBytes;
        String name = kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
        out.printf(
                "%-14s%,16.0f%,16.0f%8.2f%20s%,14.1f  %s%s%n",
                name,
                turns.other().median(),
                turns.side().median(),
                turns.ratio(),
                turns.spread(),
                millis.median(),
                turns.remark(),
                allLocal ? "" : " not all in local memory");
        BenchReport.Row row = report.row()
                .put("part", "checkpoint")
                .put("kind", name)
                .put("records", plan.data().records())
                .put("quiet_ops_per_s", turns.other().median())
                .put("ops_per_s", turns.side().median());
        turns.putRatio(row).put("checkpoint_ms", millis.median());
        // The thread that makes the checkpoint runs beside the load's.
        new SideSetup(plan.allLocal(), 2, StorePlan.REQUESTS, 1).put(row);
        new SideSetup(plan.allLocal(), 1, StorePlan.REQUESTS, 1).put(row, "quiet_");
        turns.putRest(row, "ops_per_s", "quiet_ops_per_s");
        row.put("log_bytes", logBytes)
                .put("log_bytes_in_memory", logBytesInMemory)
                .put("all_local", allLocal);
    }

    /** Returns the load's rate during a checkpoint. */
    private static double checkpoint(FarStore store, UpdateLoad load, Samples millis) {
        long done = load.done();
        long begun = System.nanoTime();
        store.checkpoint();
        double nanos = System.nanoTime() - begun;
        millis.add(nanos / 1e6);
        return (load.done() - done) * 1e9 / nanos;
    }
}
