package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.MapCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests allocate nothing, however they end. */
@Tag("optimised")
@Needs(Need.HOST)
class KvAllocationTest {

    private static final int ROUNDS = 20_000;
    private static final int MEASUREMENTS = 8;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @SuppressWarnings("UnusedVariable") // The handler must do something.
    private long ended;

    private long version;
    private MapSession session;
    /** A session of another process. */
    private MapSession writer;

    private void take(long tag, int status, MemorySegment memory, long at, int bytes) {
        ended++;
        version = session.version();
    }

    /** @param mostAgeNanos for which pointers count; 0: until their block is marked */
    @ParameterizedTest
    @ValueSource(longs = {0, 3_600_000_000_000L})
    void noRequestAllocates(long mostAgeNanos) {
        try (TestSpace space = new TestSpace(1, 2, 1 << 20, 100);
                MapSession opened = space.map.openSession(new PointerCache(100, mostAgeNanos, System::nanoTime));
                MapSession apart = space.map.openSession(new PointerCache(100));
                Arena arena = Arena.ofConfined()) {
            session = opened;
            writer = apart;
            MemorySegment key = arena.allocate(16, 8);
            MemorySegment other = arena.allocate(8, 8);
            MemorySegment hot = arena.allocate(24, 8);
            MemorySegment value = arena.allocate(8, 8);
            session.set(hot, value, 0);
            finish(this::take);
            KvHandler handler = this::take;
            long least = Long.MAX_VALUE;
            for (int i = 0; i < MEASUREMENTS && least > 0; i++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int round = 0; round < ROUNDS; round++) {
                    requests(key, other, value, handler);
                    requestsWithPointers(hot, value, handler);
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, least, "bytes in " + ROUNDS + " rounds");
            MapCounts counts = space.map.counts();
            assertTrue(counts.pointerHits() > ROUNDS, counts::toString);
            assertTrue(mostAgeNanos > 0 || counts.stalePointers() > ROUNDS / 2, counts::toString);
        }
    }

    /** Gets by a pointer, by one that has become stale, and what stores pointers and marks. */
    private void requestsWithPointers(MemorySegment hot, MemorySegment value, KvHandler handler) {
        for (int i = 0; i < 4; i++) {
            session.get(hot, 20 + i);
            finish(handler);
        }
        session.set(hot, value, 30);
        finish(handler);
        writer.set(hot, value, 31);
        while (writer.inFlight() > 0) {
            writer.poll(handler);
        }
    }

    private void requests(MemorySegment key, MemorySegment other, MemorySegment value, KvHandler handler) {
        session.add(key, value, 0, 1);
        finish(handler);
        session.add(key, value, 0, 2);
        session.replace(key, value, 1, 3);
        session.touch(key, 0, 4);
        session.increment(key, 1, 5);
        session.get(key, 6);
        finish(handler);
        session.compareAndSet(key, value, version, 0, 7);
        session.compareAndSet(key, value, version, 0, 8);
        session.replace(other, value, 0, 9);
        session.increment(other, 1, 10);
        session.delete(key, 11);
        finish(handler);
    }

    private void finish(KvHandler handler) {
        while (session.inFlight() > 0) {
            session.poll(handler);
        }
    }
}
