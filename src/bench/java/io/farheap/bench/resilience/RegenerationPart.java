package io.farheap.bench.resilience;

import io.farheap.bench.machine.ColdMemcpy;
import io.farheap.bench.machine.Memcpy;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.Validity;
import io.farheap.lifetime.CloseStack;
import io.farheap.resilience.contract.Health;
import java.util.Locale;

/**
 * Measures regeneration alone: a server of one range is killed, one write makes its slab void, and there are no
 * requests until the slab is whole again. This takes turns with memcpys, by one core, of the bytes that were read:
 * between used mappings, and from a new mapping, as a server's mapping of its sources is. One thread.
 */
final class RegenerationPart {

    private static final double MILLIS = 1e6;
    private static final double GIB = 1L << 30;
    /** Hydra, section 7.3, for 1 GB: to place, to read and to decode. */
    private static final double PAPER_MILLIS = 54 + 170 + 50;

    private final ResiliencePlan plan;
    private final ResultRows rows;
    private final long slabBytes;
    private final int turns;

    /** @param slabBytes a power of two */
    RegenerationPart(ResiliencePlan plan, ResultRows rows, long slabBytes) {
        this.plan = plan;
        this.rows = rows;
        this.slabBytes = slabBytes;
        this.turns = SlabLoss.turns(plan);
    }

    void run() {
        rows.note(String.format(
                Locale.ROOT,
                "%n%-32s%10s%14s%14s%14s%10s%14s%10s%12s",
                "regeneration alone",
                "ms",
                "bytes read",
                "bytes rebuilt",
                "memcpy ms",
                "of memcpy",
                "first memcpy",
                "of that",
                "ms per GiB"));
        SlabLoss.kinds(plan).forEach(this::run);
    }

    private void run(MemoryKind kind) {
        long bytes = slabBytes / kind.layout().slotBytes() * kind.pageBytes();
        try (CloseStack opened = new CloseStack()) {
            ServerCluster cluster = opened.add(new ServerCluster(kind.splits() + turns, 1, slabBytes));
            FarSide side = opened.add(kind.open(cluster.memory(), bytes));
            ShadowMemory shadow = opened.add(new ShadowMemory(bytes, 1));
            Requester requester = opened.add(new Requester(side.open(), shadow, kind.pageBytes(), bytes, 1, 0));
            Memcpy memcpy = opened.add(new Memcpy(slabBytes));
            ColdMemcpy firstMemcpy = opened.add(new ColdMemcpy(slabBytes));
            requester.fill();
            memcpy.run(1);
            SlabLoss loss = new SlabLoss(cluster, side, requester, kind.pageBytes());
            TurnSamples measured = new TurnSamples();
            for (int turn = 0; turn < turns; turn++) {
                // A late write may have made a slab void: the next loss must be the only one.
                loss.awaitWhole();
                Health before = loss.health();
                loss.kill();
                long begun = loss.makeVoid();
                loss.awaitWhole();
                double took = (System.nanoTime() - begun) / MILLIS;
                long read = loss.health().regenerationBytesRead() - before.regenerationBytesRead();
                double slabs = (double) read / slabBytes;
                double copied = memcpy.run((int) Math.ceil(slabs)) * slabs / MILLIS;
                double first = firstMemcpy.run((int) Math.ceil(slabs)) * slabs / MILLIS;
                measured.add(took, copied, first, took * GIB / read);
            }
            RequestTally everything = requester.verify();
            RequestTally verified = new RequestTally();
            verified.verified(everything);
            add(kind, loss.health(), verified, measured);
        }
    }

    /** The samples of each turn. */
    private static final class TurnSamples {
        final Samples millis = new Samples();
        final Samples copyMillis = new Samples();
        final Samples firstCopyMillis = new Samples();
        final Samples perGib = new Samples();

        void add(double took, double copied, double firstCopied, double eachGib) {
            millis.add(took);
            copyMillis.add(copied);
            firstCopyMillis.add(firstCopied);
            perGib.add(eachGib);
        }

        /** Returns the rate of regeneration over that of a memcpy. */
        double over(Samples copies) {
            return MedianRatio.ofTimes(Validity.NO_MODEL, copies.median(), millis.median());
        }
    }

    private void add(MemoryKind kind, Health health, RequestTally verified, TurnSamples measured) {
        kind.put(rows.report().row())
                .put("op", "regenerate")
                .put("size", slabBytes)
                .put("fault", FaultOptions.REGENERATION)
                .put("wrong_bytes", verified.wrongBytes())
                .put("unread_pages", verified.unreadPages())
                .put("regenerate_ms", measured.millis.median())
                .put("regenerate_times", turns)
                .put("regeneration_bytes_read", health.regenerationBytesRead())
                .put("regeneration_bytes_rebuilt", health.regenerationBytesRebuilt())
                .put("regeneration_bytes_by_servers", health.regenerationBytesByServers())
                .put("memcpy_ms", measured.copyMillis.median())
                .put("ratio_to_memcpy", measured.over(measured.copyMillis))
                .put("first_memcpy_ms", measured.firstCopyMillis.median())
                .put("ratio_to_first_memcpy", measured.over(measured.firstCopyMillis))
                .put("ms_per_gib_read", measured.perGib.median())
                .put("paper_ms_per_gib_read", PAPER_MILLIS)
                .put("paper_figure", "section 7.3");
        rows.count(FaultOptions.REGENERATION, verified.wrongBytes());
        rows.note(String.format(
                Locale.ROOT,
                "%-32s%10.1f%14d%14d%14.1f%10.2f%14.1f%10.2f%12.0f",
                kind.name(),
                measured.millis.median(),
                health.regenerationBytesRead(),
                health.regenerationBytesRebuilt(),
                measured.copyMillis.median(),
                measured.over(measured.copyMillis),
                measured.firstCopyMillis.median(),
                measured.over(measured.firstCopyMillis),
                measured.perGib.median()));
    }
}
