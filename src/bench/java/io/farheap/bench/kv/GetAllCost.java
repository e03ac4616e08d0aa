package io.farheap.bench.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.bench.report.Samples;
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

    /** ns for each key. */
    final Samples together = new Samples();

    final Samples single = new Samples();
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

    /** @param warmUps turns before those that count */
    void run(int warmUps, int turns, long turnNanos) {
        try (Arena arena = Arena.ofConfined();
                MapSession session = map.openSession(KEYS);
                MapCaller caller = new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES)) {
            MemorySegment key = arena.allocate(JAVA_LONG);
            MapBatch batch = new MapBatch();
            for (int turn = -warmUps; turn < turns; turn++) {
                double all = nanosOfKey(turnNanos, () -> getAll(session, batch, key));
                double one = nanosOfKey(turnNanos, () -> {
                    for (int i = 0; i < KEYS; i++) {
                        caller.get(random.nextLong(objects));
                    }
                });
                if (turn >= 0) {
                    together.add(all);
                    single.add(one);
                }
            }
            posted = session.posted();
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
