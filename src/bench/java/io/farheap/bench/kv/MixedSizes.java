package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.kv.MapSession;
import io.farheap.kv.MapStats;
import io.farheap.kv.contract.MapCounts;
import io.farheap.kv.contract.MapException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/**
 * Measures which part of a map's memory is in live blocks if eight clients store objects of many sizes and the sizes
 * then change: the map empties segments of sizes that are needed less. The figures are read while the clients are open
 * and hold free blocks.
 */
final class MixedSizes {

    private static final int CLIENTS = 8;
    /** Bytes of values, from and to; later phases have other sizes. */
    private static final int[][] SIZES = {{50, 2000}, {1000, 8000}, {50, 800}};
    /** How often the memory is filled with values. */
    private static final int FILLINGS = 4;

    private static final long LEAST_BYTES = 16L << 20;
    private static final long BYTES_AN_OBJECT = 2048;
    private static final long KEYS_AN_OBJECT = 4;

    private final BenchReport report;
    private final PrintStream out;
    private final long objects;
    private final long seed;

    /** @param seed of the sizes and keys */
    MixedSizes(BenchReport report, PrintStream out, long objects, long seed) {
        this.seed = seed;
        this.report = report;
        this.out = out;
        this.objects = objects;
    }

    void run() {
        long memory = Math.max(LEAST_BYTES, BenchMaps.powerOfTwo(objects * BYTES_AN_OBJECT));
        out.printf(
                "%nelasticity: a map of %,d KiB, %d clients that set objects of sizes between two, uniformly, until four "
                        + "times the memory was set; the aim: 0.9 of it in live blocks%n",
                memory >> 10, CLIENTS);
        out.printf("%12s%12s%10s%12s%12s%12s%12s%n", "bytes", "sets", "live", "no room", "evicted", "moved", "emptied");
        try (ServerProcess server = BenchMaps.server(memory, memory);
                FarMap map = BenchMaps.create(server, "mixed", memory, memory / 1024)) {
            for (int[] sizes : SIZES) {
                phase(map, sizes[0], sizes[1], memory);
            }
        }
    }

    private void phase(FarMap map, int from, int to, long memory) {
        long sets = FILLINGS * memory / ((from + to) / 2) / CLIENTS;
        MapCounts before = map.counts();
        long emptiedBefore = map.stats().segmentsEmptied();
        List<MapSession> sessions = new ArrayList<>();
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        try {
            for (int i = 0; i < CLIENTS; i++) {
                MapSession session = map.openSession();
                sessions.add(session);
                SplittableRandom random = new SplittableRandom((seed << Integer.SIZE) + from + i);
                clients.add(CompletableFuture.runAsync(
                        () -> load(session, random, sets, from, to, KEYS_AN_OBJECT * memory / 1024),
                        task -> Thread.ofPlatform().daemon().start(task)));
            }
            clients.forEach(CompletableFuture::join);
            MapStats stats = map.stats();
            MapCounts after = map.counts();
            double live = (double) stats.blockBytes() / stats.segmentBytes();
            long emptied = stats.segmentsEmptied() - emptiedBefore;
            out.printf(
                    "%12s%,12d%10.3f%,12d%,12d%,12d%,12d%n",
                    from + "-" + to,
                    sets * CLIENTS,
                    live,
                    after.noRoom() - before.noRoom(),
                    after.evicted() - before.evicted(),
                    after.moved() - before.moved(),
                    emptied);
            report.row()
                    .put("part", "elasticity")
                    .put("case", "sizes")
                    .put("from_bytes", (long) from)
                    .put("to_bytes", (long) to)
                    .put("clients", (long) CLIENTS)
                    .put("sets", sets * CLIENTS)
                    .put("live_share", live)
                    .put("no_room", after.noRoom() - before.noRoom())
                    .put("evicted", after.evicted() - before.evicted())
                    .put("moved", after.moved() - before.moved())
                    .put("segments_emptied", emptied);
        } finally {
            sessions.forEach(MapSession::close);
        }
    }

    private static void load(MapSession session, SplittableRandom random, long sets, int from, int to, long keys) {
        for (long i = 0; i < sets; i++) {
            byte[] key = ByteBuffer.allocate(Long.BYTES)
                    .putLong(random.nextLong(keys))
                    .array();
            try {
                session.set(key, new byte[random.nextInt(from, to)]);
            } catch (MapException e) {
                if (!String.valueOf(e.getMessage()).startsWith("there is no room")) {
                    throw e;
                }
                // The failure is counted.
            }
        }
        // Another thread closes the session.
        session.release();
    }
}
