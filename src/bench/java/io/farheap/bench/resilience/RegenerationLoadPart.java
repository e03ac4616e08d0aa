package io.farheap.bench.resilience;

import io.farheap.bench.machine.Memcpy;
import io.farheap.bench.report.BenchReport;
import io.farheap.lifetime.CloseStack;
import io.farheap.thread.ThreadJoiner;
import java.util.Locale;

/**
 * Measures requests while a slab is regenerated, beside the same requests while another core copies memory, in turns:
 * pages of one range are read and written, one after the other, one request under way. One thread, and one that copies.
 */
final class RegenerationLoadPart {

    /** The ratios of Hydra, section 7.3, in which writes wait until the whole slab is regenerated. */
    private static final double PAPER_READ = 1.09;

    private static final double PAPER_WRITE = 1.31;

    private final ResiliencePlan plan;
    private final ResultRows rows;
    private final long slabBytes;
    private final int turns;

    /** @param slabBytes a power of two */
    RegenerationLoadPart(ResiliencePlan plan, ResultRows rows, long slabBytes) {
        this.plan = plan;
        this.rows = rows;
        this.slabBytes = slabBytes;
        this.turns = SlabLoss.turns(plan);
    }

    void run() {
        rows.note(String.format(
                Locale.ROOT,
                "%n%-32s%10s%10s%12s%10s%10s%8s%8s%12s",
                "while a slab is regenerated",
                "p50 ns",
                "p99 ns",
                "p99.9 ns",
                "memcpy",
                "its p99",
                "x p50",
                "x p99",
                "longest us"));
        SlabLoss.kinds(plan).forEach(this::run);
    }

    /** Reads and writes of a kind. */
    private record Load(
            Requester requester, RequestKind read, RequestKind write, RequestTally reads, RequestTally writes) {

        static Load of(Requester requester, MemoryKind kind) {
            return new Load(
                    requester,
                    new RequestKind(false, kind.pageBytes()),
                    new RequestKind(true, kind.pageBytes()),
                    new RequestTally(),
                    new RequestTally());
        }

        void step() {
            requester.run(read, 0, reads);
            requester.run(write, 0, writes);
        }

        void run(long nanos) {
            long from = System.nanoTime();
            do {
                step();
            } while (System.nanoTime() - from < nanos);
        }

        void endTurn() {
            reads.endTurn();
            writes.endTurn();
        }
    }

    private void run(MemoryKind kind) {
        long bytes = slabBytes / kind.layout().slotBytes() * kind.pageBytes();
        try (CloseStack opened = new CloseStack()) {
            ServerCluster cluster = opened.add(new ServerCluster(kind.splits() + turns, 1, slabBytes));
            FarSide side = opened.add(kind.open(cluster.memory(), bytes));
            ShadowMemory shadow = opened.add(new ShadowMemory(bytes, 1));
            Requester requester = opened.add(new Requester(side.open(), shadow, kind.pageBytes(), bytes, 1, 0));
            requester.fill();
            SlabLoss loss = new SlabLoss(cluster, side, requester, kind.pageBytes());
            Load.of(requester, kind).run(plan.warmUpNanos());
            Load copying = Load.of(requester, kind);
            Load regenerating = Load.of(requester, kind);
            for (int turn = 0; turn < turns; turn++) {
                loss.awaitWhole();
                try (Copier _ = new Copier(slabBytes)) {
                    copying.run(plan.nanos() / turns);
                }
                copying.endTurn();
                loss.kill();
                long from = loss.makeVoid();
                do {
                    regenerating.step();
                    SlabLoss.awaitInTime(from);
                } while (!loss.health().whole());
                regenerating.endTurn();
            }
            RequestTally everything = requester.verify();
            regenerating.writes().verified(everything);
            add(kind, regenerating.read(), regenerating.reads(), copying.reads(), PAPER_READ);
            add(kind, regenerating.write(), regenerating.writes(), copying.writes(), PAPER_WRITE);
        }
    }

    /** Another thread that copies memory again and again. */
    private static final class Copier implements AutoCloseable {

        private final Memcpy memcpy;
        private final Thread thread;
        private volatile boolean ending;

        Copier(long bytes) {
            memcpy = new Memcpy(bytes);
            thread = new Thread(this::copy, "memcpy");
            thread.start();
        }

        private void copy() {
            while (!ending) {
                memcpy.run(1);
            }
        }

        @Override
        public void close() {
            ending = true;
            ThreadJoiner.join(thread);
            memcpy.close();
        }
    }

    private void add(MemoryKind kind, RequestKind access, RequestTally tally, RequestTally copying, double papers) {
        BenchReport.Row row = kind.put(rows.report().row())
                .put("op", access.op())
                .put("size", access.bytes())
                .put("fault", FaultOptions.REGENERATING)
                .put("p50_ns", tally.median())
                .put("p99_ns", tally.tail())
                .put("p999_ns", tally.percentile(99.9))
                .put("memcpy_p50_ns", copying.median())
                .put("memcpy_p99_ns", copying.tail())
                .put("ratio_p50_to_memcpy", tally.medianRatio(copying))
                .put("ratio_p99_to_memcpy", tally.tailRatio(copying))
                .put("stall_us", tally.longestMicros())
                .put("wrong_bytes", tally.wrongBytes() + copying.wrongBytes())
                .put("unread_pages", tally.unreadPages())
                .put("requests", tally.requests())
                .put("lost", tally.lost() + copying.lost());
        if (kind.name().equals(MemoryKind.CODED)) {
            row.put("paper_ratio_p50", papers).put("paper_figure", "section 7.3");
        }
        rows.count(FaultOptions.REGENERATING, tally.wrongBytes() + copying.wrongBytes());
        rows.note(String.format(
                Locale.ROOT,
                "%-32s%10.0f%10.0f%12.0f%10.0f%10.0f%8.2f%8.2f%12.1f",
                kind.name() + " " + access.op() + " " + access.bytes(),
                tally.median(),
                tally.tail(),
                tally.percentile(99.9),
                copying.median(),
                copying.tail(),
                tally.medianRatio(copying),
                tally.tailRatio(copying),
                tally.longestMicros()));
    }
}
