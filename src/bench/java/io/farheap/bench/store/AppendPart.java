package io.farheap.bench.store;

import io.farheap.bench.machine.ScratchDirectory;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.ycsb.FarCacheProcess;
import io.farheap.lifetime.CloseStack;
import io.farheap.memory.SharedMemory;
import io.farheap.tier.FarDevice;
import io.farheap.tier.FileDevice;
import io.farheap.tier.TieredDevice;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.device.IoStatus;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Measures how long an append to far memory above files takes until it has ended: with the commit point at far memory,
 * at the file, or at the file with a sync. One append at a time, which begins when the one before it has ended in all
 * tiers; in turns.
 */
final class AppendPart {

    private static final long FAR_BYTES = 64 << 20;
    private static final int FILE_TIER = 1;

    /** The side of one device: appends reuse one piece of memory cyclically. */
    private static final class Side implements AppendCompletion, IoCompletion, AutoCloseable {

        private final String name;
        private final boolean synced;
        private final int bytes;
        private final CloseStack resources = new CloseStack();
        private final TieredDevice device;
        private final DeviceMemory memory;
        private final DeviceHandle handle;
        private final Histogram latency = new Histogram(3);
        private long end;
        private boolean ended;
        private boolean released;
        private boolean syncEnded;

        Side(String name, StorePlan plan, int commit, boolean synced) throws IOException {
            this.name = name;
            this.synced = synced;
            this.bytes = plan.appendBytes();
            try {
                FarCacheProcess far = resources.add(new FarCacheProcess(FAR_BYTES));
                ScratchDirectory directory = resources.add(new ScratchDirectory(plan.directory(), "farheap-store"));
                SharedMemory shared = resources.add(SharedMemory.allocate("farheap-bench-append", bytes));
                device = resources.add(new TieredDevice(
                        List.of(
                                new FarDevice(far.cache(), StorePlan.SEGMENT_BYTES, StorePlan.REQUESTS),
                                FileDevice.open(directory.path(), StorePlan.SEGMENT_BYTES)),
                        commit,
                        StorePlan.REQUESTS));
                memory = resources.add(device.register(shared.segment()));
                handle = resources.add(device.open());
            } catch (Throwable e) {
                try (resources) {
                    throw e;
                }
            }
        }

        void run(long nanos, boolean counts) {
            long until = System.nanoTime() + nanos;
            while (System.nanoTime() < until) {
                long begun = System.nanoTime();
                append();
                if (counts) {
                    latency.recordValue(System.nanoTime() - begun);
                }
                // The slower tier must have it, too, before the next append begins.
                while (!released) {
                    handle.poll();
                }
            }
            device.truncate(Math.max(0, end - 2 * StorePlan.SEGMENT_BYTES));
        }

        private void append() {
            ended = false;
            released = false;
            while (!handle.append(end, memory, 0, bytes, this, 0)) {
                handle.poll();
            }
            end += bytes;
            while (!ended) {
                handle.poll();
            }
            if (synced) {
                syncEnded = false;
                while (!handle.sync(this, 0)) {
                    handle.poll();
                }
                while (!syncEnded) {
                    handle.poll();
                }
            }
        }

        private static void require(int status) {
            if (status != IoStatus.OK) {
                throw new IllegalStateException("a request of a device has failed: " + status);
            }
        }

        @Override
        public void appended(long token, int status) {
            require(status);
            ended = true;
        }

        @Override
        public void released(long token) {
            released = true;
        }

        @Override
        public void completed(long token, int status) {
            require(status);
            syncEnded = true;
        }

        @Override
        public void close() {
            resources.close();
        }
    }

    private AppendPart() {}

    static void run(StorePlan plan, BenchReport report, PrintStream out) throws IOException {
        out.printf(
                "%nappends of %,d bytes, one at a time, until they have ended at the commit point%n%-16s%12s%12s%12s%12s%10s%n",
                plan.appendBytes(), "commit point", "p50 us", "p99", "p99.9", "max", "times");
        List<Side> sides = new ArrayList<>();
        try (CloseStack opened = new CloseStack()) {
            sides.add(opened.add(new Side("far", plan, 0, false)));
            sides.add(opened.add(new Side("file", plan, FILE_TIER, false)));
            sides.add(opened.add(new Side("file, synced", plan, FILE_TIER, true)));
            for (int round = 0; round <= plan.rounds(); round++) {
                for (Side side : sides) {
                    side.run(plan.turnNanos(), round > 0);
                }
            }
            double far = sides.getFirst().latency.getValueAtPercentile(50);
            for (Side side : sides) {
                Histogram latency = side.latency;
                double times = latency.getValueAtPercentile(50) / far;
                out.printf(
                        "%-16s%,12.1f%,12.1f%,12.1f%,12.1f%10.1f%n",
                        side.name,
                        latency.getValueAtPercentile(50) / 1e3,
                        latency.getValueAtPercentile(99) / 1e3,
                        latency.getValueAtPercentile(99.9) / 1e3,
                        latency.getMaxValue() / 1e3,
                        times);
                report.row()
                        .put("part", "append")
                        .put("commit", side.name)
                        .put("bytes", (long) side.bytes)
                        .put("appends", latency.getTotalCount())
                        .put("p50_ns", latency.getValueAtPercentile(50))
                        .put("p99_ns", latency.getValueAtPercentile(99))
                        .put("p999_ns", latency.getValueAtPercentile(99.9))
                        .put("max_ns", latency.getMaxValue())
                        .put("ratio_to_far", times)
                        .put("device", side.device.name());
            }
        }
    }
}
