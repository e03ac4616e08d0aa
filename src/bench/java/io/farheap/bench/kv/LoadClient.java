package io.farheap.bench.kv;

import io.farheap.bench.ycsb.YcsbKeys;
import io.farheap.kv.FarMap;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

/**
 * A thread with a session of its own that gets Zipfian keys, one at a time, and sets missing ones, until it is closed.
 * One other thread reads its figures.
 */
final class LoadClient implements AutoCloseable {

    private final SingleWriterRecorder recorder = new SingleWriterRecorder(3);
    private final Thread thread;
    private volatile long missed;
    private long missedBefore;
    private volatile boolean closed;

    /** @param number of the client, which is its seed */
    LoadClient(FarMap map, long objects, int number) {
        thread = Thread.ofPlatform().name("client " + number).daemon().start(() -> use(map, objects, number));
    }

    private void use(FarMap map, long objects, int number) {
        YcsbKeys keys = new YcsbKeys(objects, number);
        try (MapCaller caller = new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES)) {
            for (long before = System.nanoTime(); !closed; ) {
                long key = keys.zipfian();
                if (!caller.get(key)) {
                    missed = caller.absent();
                    caller.set(key);
                }
                long after = System.nanoTime();
                recorder.recordValue(after - before);
                before = after;
            }
        }
    }

    /** Whether the client may still make requests. */
    boolean isAlive() {
        return thread.isAlive();
    }

    /** Returns the times of gets since the last call, in ns, each with the set of a missing key. */
    Histogram latency() {
        return recorder.getIntervalHistogram();
    }

    /** Returns how many requests have missed since the last call. */
    long missedSince() {
        long now = missed;
        long since = now - missedBefore;
        missedBefore = now;
        return since;
    }

    /** Drops the figures so far. */
    void forget() {
        latency();
        missedSince();
    }

    @Override
    public void close() {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }
}
