package io.farheap.bench.store;

import io.farheap.bench.machine.ScratchDirectory;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.SideSetup;
import io.farheap.memory.SharedMemory;
import io.farheap.store.FarStore;
import io.farheap.store.FarStoreBuilder;
import io.farheap.tier.FileDevice;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.device.IoStatus;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

/**
 * Measures how fast a store recovers that was closed after a checkpoint, against a sequential read of its log by the
 * same device: with an index that is rebuilt from the log, and with one in the checkpoint. All four take turns.
 */
final class RecoveryPart {

    private static final int PIECE_BYTES = 1 << 20;
    private static final int IN_FLIGHT = 16;

    private final StorePlan plan;
    private final Path directory;
    private final boolean index;
    /** The length of the log. */
    private long bytes;

    private RecoveryPart(StorePlan plan, Path directory, boolean index) {
        this.plan = plan;
        this.directory = directory;
        this.index = index;
    }

    static void run(StorePlan plan, BenchReport report, PrintStream out) throws IOException {
        out.printf(
                "%nrecovery against a sequential read of the log; medians of at least %d%n%-22s%14s%16s%16s%8s%20s%n",
                plan.rounds(), "checkpoint", "log bytes", "recovery ms", "sequential ms", "ratio", "(least..most)");
        try (ScratchDirectory rebuilt = new ScratchDirectory(plan.directory(), "farheap-store");
                ScratchDirectory kept = new ScratchDirectory(plan.directory(), "farheap-store")) {
            List<RecoveryPart> parts =
                    List.of(new RecoveryPart(plan, rebuilt.path(), false), new RecoveryPart(plan, kept.path(), true));
            parts.forEach(RecoveryPart::fill);
            List<StoreTurns> turns = StoreTurns.<RuntimeException>take(
                    true,
                    plan.rounds(),
                    parts.stream()
                            .map(part -> new StoreTurns.Pair<RuntimeException>(part::readMillis, part::recoverMillis))
                            .toList(),
                    () -> {});
            for (int place = 0; place < parts.size(); place++) {
                parts.get(place).put(turns.get(place), report, out);
            }
        }
    }

    private void fill() {
        try (FileDevice device = device();
                FarStore store = builder(device).open()) {
            UpdateLoad.fill(store, plan.data());
            store.checkpoint();
        }
    }

    private void put(StoreTurns turns, BenchReport report, PrintStream out) {
        String name = index ? "with the index" : "of the log alone";
        out.printf(
                "%-22s%,14d%,16.1f%,16.1f%8.2f%20s  %s%n",
                name,
                bytes,
                turns.other().median(),
                turns.side().median(),
                turns.ratio(),
                turns.spread(),
                turns.remark());
        BenchReport.Row row = report.row()
                .put("part", "recovery")
                .put("index_in_checkpoint", index)
                .put("records", plan.data().records())
                .put("log_bytes", bytes)
                .put("recovery_ms", turns.other().median())
                .put("sequential_ms", turns.side().median());
        turns.putRatio(row);
        new SideSetup(plan.somewhatLocal(), 1, StorePlan.REQUESTS, 1).put(row);
        new SideSetup((long) PIECE_BYTES * IN_FLIGHT, 1, IN_FLIGHT, 1).put(row, "sequential_");
        turns.putRest(row, "sequential_ms", "recovery_ms");
    }

    private double readMillis() {
        try (FileDevice device = device()) {
            long begun = System.nanoTime();
            readAll(device);
            return (System.nanoTime() - begun) / 1e6;
        }
    }

    private double recoverMillis() {
        long begun = System.nanoTime();
        try (FileDevice device = device();
                FarStore store = builder(device).open()) {
            double millis = (System.nanoTime() - begun) / 1e6;
            bytes = store.logBytes();
            check(store);
            return millis;
        }
    }

    private FileDevice device() {
        return FileDevice.open(directory.resolve("log"), StorePlan.SEGMENT_BYTES);
    }

    private FarStoreBuilder builder(FileDevice device) {
        return FarStore.builder()
                .device(device)
                .directory(directory.resolve("checkpoints"))
                .indexInCheckpoints(index)
                // So that each round begins with the same checkpoint.
                .checkpointOnClose(false)
                .memory(plan.somewhatLocal())
                .pageBytes(StorePlan.PAGE_BYTES)
                .expectedKeys(plan.data().records())
                .pending(StorePlan.REQUESTS);
    }

    private void check(FarStore store) {
        try (UpdateLoad load = new UpdateLoad(store, plan.data())) {
            while (load.done() == 0) {
                Thread.onSpinWait();
            }
            if (load.failed() > 0) {
                throw new IllegalStateException(load.failed() + " records are not there after recovery");
            }
        }
    }

    /** Reads with several pieces in flight, so that the disk is the limit. */
    private static void readAll(FileDevice device) {
        int[] inFlight = {0};
        IoCompletion completion = (token, status) -> {
            if (status != IoStatus.OK) {
                throw new IllegalStateException("a read of the log has failed: " + status);
            }
            inFlight[0]--;
        };
        long from = device.begin() / PIECE_BYTES * PIECE_BYTES;
        long end = device.end() / PIECE_BYTES * PIECE_BYTES;
        try (SharedMemory shared = SharedMemory.allocate("farheap-bench-recovery", (long) PIECE_BYTES * IN_FLIGHT);
                DeviceMemory memory = device.register(shared.segment());
                DeviceHandle handle = device.open()) {
            for (long at = from; at < end || inFlight[0] > 0; ) {
                if (at < end && inFlight[0] < IN_FLIGHT) {
                    long offset = at / PIECE_BYTES % IN_FLIGHT * PIECE_BYTES;
                    if (handle.read(at, memory, offset, PIECE_BYTES, completion, 0)) {
                        inFlight[0]++;
                        at += PIECE_BYTES;
                        continue;
                    }
                }
                if (handle.poll() == 0) {
                    handle.awaitProgress();
                }
            }
        }
    }
}
