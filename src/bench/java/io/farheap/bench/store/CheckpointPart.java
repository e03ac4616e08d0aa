package io.farheap.bench.store;

import io.farheap.bench.machine.ScratchDirectory;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.SideSetup;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.store.FarStore;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.tier.FileDevice;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures which part of its throughput a load keeps during a checkpoint, against a quiet time just before: for each
 * kind of checkpoint, with all of the log in local memory, above files. The kinds take turns, each with a store and a
 * load of its own, which stands still in the turns of the others.
 */
final class CheckpointPart {

    /** A store with one kind of checkpoint, and its load, which is paused between the turns. */
    private static final class Side implements AutoCloseable {

        private final CheckpointKind kind;
        private final long turnNanos;
        private final CloseStack resources = new CloseStack();
        private final FarStore store;
        private final UpdateLoad load;
        private final Samples millis = new Samples();

        Side(CheckpointKind kind, StorePlan plan) throws IOException {
            this.kind = kind;
            this.turnNanos = plan.turnNanos();
            try {
                ScratchDirectory directory = resources.add(new ScratchDirectory(plan.directory(), "farheap-store"));
                FileDevice device =
                        resources.add(FileDevice.open(directory.path().resolve("log"), StorePlan.SEGMENT_BYTES));
                store = resources.add(FarStore.builder()
                        .device(device)
                        .directory(directory.path().resolve("checkpoints"))
                        .checkpoints(kind)
                        .memory(plan.allLocal())
                        .pageBytes(StorePlan.PAGE_BYTES)
                        .expectedKeys(plan.data().records())
                        .pending(StorePlan.REQUESTS)
                        .open());
                UpdateLoad.fill(store, plan.data());
                load = resources.add(new UpdateLoad(store, plan.data()));
                load.pause();
            } catch (Throwable e) {
                Closeables.after(e, resources);
                throw e;
            }
        }

        /** Always a quiet time first: a checkpoint just after another one finds less to write. */
        StoreTurns.Pair<InterruptedException> pair() {
            return new StoreTurns.Pair<>(this::checkpoint, this::quiet);
        }

        private double quiet() throws InterruptedException {
            return UpdateLoad.settled(load::resume, load::rate, turnNanos);
        }

        /** Returns the load's rate during a checkpoint. */
        private double checkpoint() {
            long done = load.done();
            long begun = System.nanoTime();
            store.checkpoint();
            double nanos = System.nanoTime() - begun;
            millis.add(nanos / 1e6);
            double rate = (load.done() - done) * 1e9 / nanos;
            load.pause();
            return rate;
        }

        void put(StoreTurns turns, StorePlan plan, BenchReport report, PrintStream out) {
            long logBytesInMemory = store.logBytesInMemory();
            long logBytes = store.logBytes();
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

        @Override
        public void close() {
            resources.close();
        }
    }

    private CheckpointPart() {}

    static void run(StorePlan plan, BenchReport report, PrintStream out) throws IOException, InterruptedException {
        out.printf(
                "%ncheckpoints beside one thread that reads and writes, half of each; medians of at least %d%n%-14s%16s%16s%8s%20s%14s%n",
                plan.rounds(), "kind", "quiet, op/s", "meanwhile", "ratio", "(least..most)", "ms each");
        List<Side> sides = new ArrayList<>();
        try (CloseStack opened = new CloseStack()) {
            for (CheckpointKind kind : CheckpointKind.values()) {
                sides.add(opened.add(new Side(kind, plan)));
            }
            List<StoreTurns> turns = StoreTurns.<InterruptedException>take(
                    false,
                    plan.rounds(),
                    sides.stream().map(Side::pair).toList(),
                    () -> sides.forEach(side -> side.millis.clear()));
            for (int place = 0; place < sides.size(); place++) {
                sides.get(place).put(turns.get(place), plan, report, out);
            }
        }
    }
}
