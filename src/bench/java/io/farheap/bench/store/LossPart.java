package io.farheap.bench.store;

import io.farheap.bench.machine.ScratchDirectory;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Validity;
import io.farheap.bench.ycsb.FarCacheProcess;
import io.farheap.lifetime.CloseStack;
import io.farheap.store.FarStore;
import io.farheap.tier.FarDevice;
import io.farheap.tier.FileDevice;
import io.farheap.tier.TieredDevice;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/**
 * Kills a memory server under a load, with far memory above files and the commit point at the file: measures the load
 * before, while far memory is gone, and after another server's memory was filled.
 */
final class LossPart {

    private static final int FILE_TIER = 1;
    private static final long UNBOUNDED = Long.MAX_VALUE;

    private LossPart() {}

    static void run(StorePlan plan, BenchReport report, PrintStream out) throws IOException, InterruptedException {
        long room = 3 * plan.data().logBytes() + 16 * StorePlan.SEGMENT_BYTES;
        try (CloseStack resources = new CloseStack()) {
            FarCacheProcess lost = resources.add(new FarCacheProcess(room));
            // Read until no handle uses it any more: closed after the device.
            FarCacheProcess other = resources.add(new FarCacheProcess(room));
            ScratchDirectory directory = resources.add(new ScratchDirectory(plan.directory(), "farheap-store"));
            TieredDevice device = resources.add(new TieredDevice(
                    List.of(tier(lost), FileDevice.open(directory.path(), StorePlan.SEGMENT_BYTES)),
                    FILE_TIER,
                    StorePlan.REQUESTS));
            FarStore store = resources.add(FarStore.builder()
                    .device(device)
                    .memory(plan.somewhatLocal())
                    .pageBytes(StorePlan.PAGE_BYTES)
                    .expectedKeys(plan.data().records())
                    .pending(StorePlan.REQUESTS)
                    .open());
            UpdateLoad.fill(store, plan.data());
            // In this process alone: one of the servers is killed.
            try (UpdateLoad load = new UpdateLoad(store, plan.data());
                    ModelLateness lateness = new ModelLateness()) {
                long window = plan.rounds() * plan.turnNanos();
                TurnWarmUp warmUp = TurnWarmUp.untimed(1);
                for (int turn = 0; turn < Math.max(TurnWarmUp.AGREEING, plan.rounds()) && warmUp.more(); turn++) {
                    warmUp.add(0, load.rate(plan.turnNanos()));
                }
                lateness.restart();
                double before = load.rate(window);
                ModelLateness.Total late = new ModelLateness.Total();
                lateness.addTo(late);
                lost.kill();
                double meanwhile = load.rate(window);
                long begun = System.nanoTime();
                device.replace(0, tier(other));
                long filled = device.fill(0, UNBOUNDED);
                double fillMillis = (System.nanoTime() - begun) / 1e6;
                // The outage and the fill have no part in the ratio.
                lateness.restart();
                double after = load.rate(window);
                lateness.addTo(late);
                Validity validity = late.validity();
                double ratio = MedianRatio.ofRates(validity, after, before);
                out.printf(
                        "%na memory server is killed, the commit point at the file: %,.0f op/s before, %,.0f meanwhile, %,.0f when another's "
                                + "memory is filled (%,d bytes in %,.0f ms), %.2f of before; %,d operations failed  %s%n",
                        before,
                        meanwhile,
                        after,
                        filled,
                        fillMillis,
                        ratio,
                        load.failed(),
                        validity.remark(warmUp.settled()));
                BenchReport.Row row = report.row()
                        .put("part", "loss")
                        .put("records", plan.data().records())
                        .put("before_ops_per_s", before)
                        .put("lost_ops_per_s", meanwhile)
                        .put("after_ops_per_s", after)
                        .put("ratio", ratio)
                        .put("filled_bytes", filled)
                        .put("fill_ms", fillMillis)
                        .put("failed", load.failed());
                new SideSetup(plan.somewhatLocal(), 1, StorePlan.REQUESTS, 1).put(row);
                validity.put(row, warmUp.settled());
            }
        }
    }

    private static FarDevice tier(FarCacheProcess memory) {
        return new FarDevice(memory.cache(), StorePlan.SEGMENT_BYTES, StorePlan.REQUESTS);
    }
}
