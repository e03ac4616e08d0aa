package io.farheap.bench.resilience;

import io.farheap.bench.Memcpy;
import io.farheap.bench.Samples;
import io.farheap.lifetime.CloseStack;
import io.farheap.resilience.Health;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * Regeneration alone: of one range a server is killed, one write makes its slab void, and nobody requests until it is
 * whole again; in turns with a memcpy of the bytes that were read, by one core. One thread.
 */
final class RegenerationPart {

    /** Each turn kills a server, and has a spare one for it. */
    private static final int MOST_TURNS = 3;

    private static final double MILLIS = 1e6;
    private static final double GIB = 1L << 30;
    /** Hydra, section 7.3, of 1 GB: to place, to read and to decode. */
    private static final double PAPER_MILLIS = 54 + 170 + 50;

    private final Plan plan;
    private final Rows rows;
    private final long slabBytes;
    private final int turns;

    /** @param slabBytes a power of two */
    RegenerationPart(Plan plan, Rows rows, long slabBytes) {
        this.plan = plan;
        this.rows = rows;
        this.slabBytes = slabBytes;
        this.turns = Math.min(plan.turns(), MOST_TURNS);
    }

    void run() {
        rows.note(String.format(
                Locale.ROOT,
                "%n%-32s%10s%14s%14s%14s%10s%12s",
                "regeneration alone",
                "ms",
                "bytes read",
                "bytes rebuilt",
                "memcpy ms",
                "of memcpy",
                "ms per GiB"));
        plan.kinds().stream()
                .filter(kind -> kind.resilience() != null && kind.survives())
                .forEach(this::run);
    }

    private void run(Kind kind) {
        long bytes = slabBytes / kind.layout().slotBytes() * kind.pageBytes();
        try (CloseStack opened = new CloseStack()) {
            Cluster cluster = opened.add(new Cluster(kind.splits() + turns, 1, slabBytes));
            FarSide side = opened.add(kind.open(cluster.memory(), bytes));
            Shadow shadow = opened.add(new Shadow(bytes, 1));
            Requester requester = opened.add(new Requester(side.open(), shadow, kind.pageBytes(), bytes, 1, 0));
            Memcpy memcpy = opened.add(new Memcpy(slabBytes));
            requester.fill();
            memcpy.run(1);
            Samples millis = new Samples();
            Samples copyMillis = new Samples();
            Samples ratios = new Samples();
            for (int turn = 0; turn < turns; turn++) {
                Health before = health(side);
                kill(cluster, before);
                double took = regenerate(side, requester, kind, before.regenerated());
                long read = health(side).regenerationBytesRead() - before.regenerationBytesRead();
                double slabs = (double) read / slabBytes;
                double copied = memcpy.run((int) Math.ceil(slabs)) * slabs / MILLIS;
                millis.add(took);
                copyMillis.add(copied);
                ratios.add(copied / took);
            }
            Tally everything = requester.verify();
            Tally verified = new Tally();
            verified.verified(everything);
            add(kind, health(side), verified, millis, copyMillis, ratios);
        }
    }

    private static Health health(FarSide side) {
        return Objects.requireNonNull(side.health());
    }

    /** The first server that has a slab. */
    private static void kill(Cluster cluster, Health health) {
        String address = health.servers().stream()
                .filter(server -> server.slabs() > 0 && !server.lost())
                .map(Health.Server::address)
                .findFirst()
                .orElseThrow();
        long pid = IntStream.range(0, cluster.size())
                .filter(i -> cluster.server(i).address().equals(address))
                .mapToLong(i -> cluster.server(i).pid())
                .findFirst()
                .orElseThrow();
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    /** Writes until the slab is void; how long it then takes until all are good, in ms. */
    private static double regenerate(FarSide side, Requester requester, Kind kind, long regenerated) {
        Access page = new Access(true, kind.pageBytes());
        long from = System.nanoTime();
        while (health(side).whole() && health(side).regenerated() == regenerated) {
            requester.run(page, 0, new Tally());
            awaitInTime(from);
        }
        long begun = System.nanoTime();
        while (!health(side).whole()) {
            awaitInTime(begun);
            try {
                Outage.pause();
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted while a slab is regenerated", e);
            }
        }
        return (System.nanoTime() - begun) / MILLIS;
    }

    private static void awaitInTime(long from) {
        if (System.nanoTime() - from > Outage.PATIENCE_NANOS) {
            throw new IllegalStateException("a slab of a killed server is not regenerated in "
                    + Outage.PATIENCE_NANOS / 1_000_000_000L + " s; take a smaller --slab");
        }
    }

    private void add(Kind kind, Health health, Tally verified, Samples millis, Samples copyMillis, Samples ratios) {
        double readOfTurn = (double) health.regenerationBytesRead() / turns;
        double perGib = millis.median() * GIB / readOfTurn;
        kind.put(rows.report().row())
                .put("op", "regenerate")
                .put("size", slabBytes)
                .put("fault", Faults.REGENERATION)
                .put("wrong_bytes", verified.wrongBytes())
                .put("unread_pages", verified.unreadPages())
                .put("regenerate_ms", millis.median())
                .put("regenerate_times", turns)
                .put("regeneration_bytes_read", health.regenerationBytesRead())
                .put("regeneration_bytes_rebuilt", health.regenerationBytesRebuilt())
                .put("regeneration_bytes_by_servers", health.regenerationBytesByServers())
                .put("memcpy_ms", copyMillis.median())
                .put("ratio_to_memcpy", ratios.median())
                .put("ms_per_gib_read", perGib)
                .put("paper_ms_per_gib_read", PAPER_MILLIS)
                .put("paper_figure", "section 7.3");
        rows.count(Faults.REGENERATION, verified.wrongBytes());
        rows.note(String.format(
                Locale.ROOT,
                "%-32s%10.1f%14d%14d%14.1f%10.2f%12.0f, the paper's %.0f (section 7.3)",
                kind.name(),
                millis.median(),
                health.regenerationBytesRead(),
                health.regenerationBytesRebuilt(),
                copyMillis.median(),
                ratios.median(),
                perGib,
                PAPER_MILLIS));
    }
}
