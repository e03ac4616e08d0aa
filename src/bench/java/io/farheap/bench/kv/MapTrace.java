package io.farheap.bench.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.bench.report.BenchReport;
import io.farheap.kv.FarMap;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.KvStatus;
import io.farheap.remote.contract.VerbCounts;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Plays a trace on a map: each request is a get, and a set if it misses; requests are distributed to several sessions
 * in turn.
 */
final class MapTrace implements AutoCloseable {

    /**
     * How long a set is tried again if there is nothing to evict yet, since on a busy machine the answer of the map's
     * services comes late.
     */
    static final long PATIENCE_NANOS = 10_000_000_000L;

    private final List<MapSession> sessions = new ArrayList<>();
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment key = arena.allocate(Long.BYTES, Long.BYTES);
    /** Empty: with the data that LRU-K keeps with an object, a block has no room for more. */
    private final MemorySegment value = arena.allocate(0);

    private int status;

    MapTrace(FarMap map, int clients) {
        for (int i = 0; i < clients; i++) {
            sessions.add(map.openSession());
        }
    }

    /** @return how many requests found their key */
    long play(int[] keys) {
        long hits = 0;
        for (int i = 0; i < keys.length; i++) {
            MapSession session = sessions.get(i % sessions.size());
            key.set(JAVA_LONG, 0, keys[i]);
            session.get(key, 0);
            if (await(session) == KvStatus.DONE) {
                hits++;
                continue;
            }
            long deadline = System.nanoTime() + PATIENCE_NANOS;
            do {
                session.set(key, value, 0);
            } while (await(session) == KvStatus.NO_ROOM && System.nanoTime() < deadline);
            if (status != KvStatus.DONE) {
                throw new IllegalStateException("request " + i + ": " + KvStatus.describe(status));
            }
        }
        return hits;
    }

    private int await(MapSession session) {
        while (session.poll((tag, ended, memory, at, bytes) -> status = ended) == 0) {
            Thread.onSpinWait();
        }
        return status;
    }

    /** Returns the operations of all sessions. */
    VerbCounts posted() {
        VerbCounts sum = none();
        for (MapSession session : sessions) {
            sum = sum(sum, session.posted());
        }
        return sum;
    }

    /** Puts the number of operations for each of so many requests. */
    static BenchReport.Row put(BenchReport.Row row, VerbCounts posted, long requests) {
        double each = Math.max(1, requests);
        return row.put("reads", posted.reads() / each)
                .put("writes", posted.writes() / each)
                .put("cas", posted.swaps() / each)
                .put("faa", posted.adds() / each);
    }

    static VerbCounts none() {
        return new VerbCounts(0, 0, 0, 0, 0, 0, 0);
    }

    static VerbCounts sum(VerbCounts one, VerbCounts other) {
        return new VerbCounts(
                one.reads() + other.reads(),
                one.writes() + other.writes(),
                one.swaps() + other.swaps(),
                one.adds() + other.adds(),
                one.bytesRead() + other.bytesRead(),
                one.bytesWritten() + other.bytesWritten(),
                one.doorbells() + other.doorbells());
    }

    @Override
    public void close() {
        sessions.forEach(MapSession::close);
        arena.close();
    }
}
