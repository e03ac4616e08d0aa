package io.farheap.bench.store;

import io.farheap.bench.machine.ScratchDirectory;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Validity;
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
 * tiers; in turns, in an order that rotates.
 */
final class AppendPart {

    private static final long FAR_BYTES = 64 << 20;
    private static final int FILE_TIER = 1;
    private static final int MOST_WARM_UPS = 5;

    /** The side of one device: appends reuse one piece of memory cyclically. */
    private static final class Side implements AppendCompletion, IoCompletion, AutoCloseable {

        private final String name;
        private final boolean synced;
        private final int bytes;
        private final CloseStack resources = new CloseStack();
        private final TieredDevice device;
        private final DeviceMemory memory;
        private final DeviceHandle handle;
        private final String server;
        private final Histogram latency = new Histogram(3);
        private final Histogram turn = new Histogram(3);
        private final Samples medians = new Samples();
        private final ModelLateness.Total late = new ModelLateness.Total();
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
                server = far.address();
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

        /** Returns the median time of an append, in ns. */
        private double run(long nanos) {
            turn.reset();
            long until = System.nanoTime() + nanos;
            while (System.nanoTime() < until) {
                long begun = System.nanoTime();
                append();
                turn.recordValue(System.nanoTime() - begun);
                // The slower tier must have it, too, before the next append begins.
                while (!released) {
                    handle.poll();
                }
            }
            device.truncate(Math.max(0, end - 2 * StorePlan.SEGMENT_BYTES));
            return turn.getValueAtPercentile(50);
        }

        private void count(long nanos, ModelLateness lateness) {
            lateness.restart();
            medians.add(run(nanos));
            lateness.addTo(late);
            latency.add(turn);
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
            String[] servers = sides.stream().map(side -> side.server).toArray(String[]::new);
            ModelLateness lateness = opened.add(new ModelLateness(servers));
            int turns = Rotation.turns(sides.size(), plan.rounds());
            Rotation rotation = new Rotation(sides.size(), turns);
            TurnWarmUp warmUp = TurnWarmUp.untimed(sides.size());
            for (int turn = -1; turn >= -MOST_WARM_UPS && warmUp.more(); turn--) {
                for (int place : rotation.order(turn)) {
                    warmUp.add(place, sides.get(place).run(plan.turnNanos()));
                }
            }
            for (int turn = 0; turn < turns; turn++) {
                for (int place : rotation.order(turn)) {
                    sides.get(place).count(plan.turnNanos(), lateness);
                }
            }
            Side far = sides.getFirst();
            for (int place = 0; place < sides.size(); place++) {
                Side side = sides.get(place);
                Histogram latency = side.latency;
                Validity validity = side.late.validity();
                boolean settled = warmUp.settled(place);
                double times = MedianRatio.ofTimes(
                        validity.worse(far.late.validity()), side.medians.median(), far.medians.median());
                out.printf(
                        "%-16s%,12.1f%,12.1f%,12.1f%,12.1f%10.1f  %s%n",
                        side.name,
                        side.medians.median() / 1e3,
                        latency.getValueAtPercentile(99) / 1e3,
                        latency.getValueAtPercentile(99.9) / 1e3,
                        latency.getMaxValue() / 1e3,
                        times,
                        validity.remark(settled));
                BenchReport.Row row = report.row()
                        .put("part", "append")
                        .put("commit", side.name)
                        .put("bytes", (long) side.bytes)
                        .put("appends", latency.getTotalCount())
                        .put("p50_ns", side.medians.median())
                        .put("p99_ns", latency.getValueAtPercentile(99))
                        .put("p999_ns", latency.getValueAtPercentile(99.9))
                        .put("max_ns", latency.getMaxValue())
                        .put("ratio_to_far", times)
                        .put("device", side.device.name())
                        .put("p50_ns_p25", side.medians.lowerQuartile())
                        .put("p50_ns_p75", side.medians.upperQuartile());
                new SideSetup(side.bytes, 1, 1, 1).put(row);
                validity.put(row, settled);
            }
        }
    }
}
