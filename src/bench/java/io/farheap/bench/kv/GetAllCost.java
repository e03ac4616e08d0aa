package io.farheap.bench.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.bench.report.ModelLateness;
import io.farheap.kv.FarMap;
import io.farheap.kv.MapBatch;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.KvHandler;
import io.farheap.remote.contract.VerbCounts;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/**
 * Compares a {@code getAll} of {@value #KEYS} keys with as many gets, one at a time; in turns. All keys are present.
 */
final class GetAllCost {

    static final int KEYS = 64;

    private final FarMap map;
    private final long objects;
    private final SplittableRandom random = new SplittableRandom(2);

    /** Operations that all batches have posted. */
    VerbCounts posted = MapTrace.none();

    long keys;
    private boolean ended;
    private final KvHandler handler = (tag, status, value, at, bytes) -> ended = true;

    /** @param map with objects of the keys 0 to {@code objects} - 1 */
    GetAllCost(FarMap map, long objects) {
        this.map = map;
        this.objects = objects;
    }

    /** Returns the ns of a key: in batches, and one at a time. */
    PairedTurns run(int turns, ModelLateness late, long turnNanos) {
        try (Arena arena = Arena.ofConfined();
                MapSession session = map.openSession(KEYS);
                MapCaller caller = new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES)) {
            MemorySegment key = arena.allocate(JAVA_LONG);
            MapBatch batch = new MapBatch();
            PairedTurns taken = PairedTurns.take(
                    turns,
                    late,
                    () -> nanosOfKey(turnNanos, () -> getAll(session, batch, key)),
                    () -> nanosOfKey(turnNanos, () -> {
                        for (int i = 0; i < KEYS; i++) {
                            caller.get(random.nextLong(objects));
                        }
                    }));
            posted = session.posted();
            return taken;
        }
    }

    private void getAll(MapSession session, MapBatch batch, MemorySegment key) {
        batch.clear();
        for (int i = 0; i < KEYS; i++) {
            key.set(JAVA_LONG, 0, random.nextLong(objects));
            batch.add(key);
        }
        session.getAll(batch, 0);
        keys += KEYS;
        ended = false;
        while (!ended) {
            session.poll(handler);
        }
    }

    private static double nanosOfKey(long turnNanos, Runnable batch) {
        long begun = System.nanoTime();
        long asked = 0;
        long now = begun;
        while (now - begun < turnNanos) {
            batch.run();
            asked += KEYS;
            now = System.nanoTime();
        }
        return (double) (now - begun) / asked;
    }
}
