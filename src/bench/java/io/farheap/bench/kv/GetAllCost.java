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
import java.util.function.DoubleSupplier;
import java.util.function.LongConsumer;

/**
 * Compares a {@code getAll} of {@value #KEYS} keys with gets, one at a time, and then with as many gets in flight; in
 * turns. All keys are present.
 */
final class GetAllCost {

    static final int KEYS = 64;

    /**
     * The ns of a key in batches beside those of gets.
     *
     * @param single one at a time
     * @param piped {@value #KEYS} in flight
     */
    record ComparedGets(PairedTurns single, PairedTurns piped) {}

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

    ComparedGets run(int turns, ModelLateness late, long turnNanos) {
        try (Arena arena = Arena.ofConfined();
                MapSession session = map.openSession(KEYS);
                MapCaller caller = new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES);
                MapCaller piping = new MapCaller(map.openSession(KEYS), BenchMaps.VALUE_BYTES)) {
            MemorySegment key = arena.allocate(JAVA_LONG);
            MapBatch batch = new MapBatch();
            DoubleSupplier batches = () -> nanosOfKey(turnNanos, () -> getAll(session, batch, key), () -> {});
            PairedTurns single = PairedTurns.take(
                    turns,
                    late,
                    batches,
                    () -> nanosOfKey(turnNanos, () -> each(number -> caller.get(number)), () -> {}));
            PairedTurns piped = PairedTurns.take(
                    turns, late, batches, () -> nanosOfKey(turnNanos, () -> each(piping::beginGet), piping::drain));
            posted = session.posted();
            return new ComparedGets(single, piped);
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

    private void each(LongConsumer get) {
        for (int i = 0; i < KEYS; i++) {
            get.accept(random.nextLong(objects));
        }
    }

    private static double nanosOfKey(long turnNanos, Runnable batch, Runnable drain) {
        long begun = System.nanoTime();
        long asked = 0;
        long now = begun;
        while (now - begun < turnNanos) {
            batch.run();
            asked += KEYS;
            now = System.nanoTime();
        }
        drain.run();
        return (double) (System.nanoTime() - begun) / asked;
    }
}
