package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests of a leased map allocate nothing, neither here nor at the server. */
@Tag("optimised")
@Needs(Need.HOST)
class LeasedAllocationTest {

    private static final int MOST_ROUNDS = 200;
    private static final int LEAST_ROUNDS = 10;
    private static final int SILENT_ROUNDS = 3;
    private static final int REQUESTS = Effort.count(3_000);
    /** Of values in pieces. */
    private static final int LONG_REQUESTS = 200;

    private static final int KEYS = 50;
    private static final long REGION = 4 << 20;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private int ended;
    private final KvHandler count = (tag, status, memory, at, bytes) -> {
        if (status != KvStatus.DONE) {
            throw new AssertionError("status " + status);
        }
        ended++;
    };

    @Test
    void noRequestAllocates() {
        requests(KEYS, 100, REQUESTS);
    }

    @Test
    void noRequestOfAValueInPiecesAllocates() {
        requests(4, 40_000, LONG_REQUESTS);
    }

    private void requests(int keyCount, int valueBytes, int requests) {
        try (TestServers servers = new TestServers("garbage");
                FarMap map = servers.named(servers.startAll(1, 4, REGION))
                        .engine(FarMapBuilder.LEASED)
                        .memory(2 * REGION)
                        .objects(1000)
                        .create();
                FarMap other =
                        servers.named(map.servers().toArray(String[]::new)).open();
                MapSession here = map.openSession();
                MapSession there = other.openSession();
                Arena arena = Arena.ofConfined()) {
            MemorySegment keys = arena.allocate(8L * keyCount, 8);
            MemorySegment value = arena.allocate(valueBytes, 8);
            MemorySegment[] each = new MemorySegment[keyCount];
            for (int i = 0; i < keyCount; i++) {
                each[i] = keys.asSlice(8L * i, 8);
                each[i].set(ValueLayout.JAVA_LONG, 0, i);
            }
            run(here, each, value, true, requests);
            run(there, each, value, false, requests);
            long[] serving = serving();
            assertTrue(serving.length > 0);
            // A deoptimisation may allocate now and then; a request that allocates does so in all rounds.
            int silent = 0;
            long last = 0;
            for (int round = 0; round < MOST_ROUNDS && (round < LEAST_ROUNDS || silent < SILENT_ROUNDS); round++) {
                long before = allocated(serving);
                run(here, each, value, round % 2 == 0, requests);
                run(there, each, value, round % 2 != 0, requests);
                long bytes = allocated(serving) - before;
                silent = bytes == 0 ? silent + 1 : 0;
                last = bytes == 0 ? last : bytes;
            }
            assertTrue(silent >= SILENT_ROUNDS, "before, a round allocated " + last + " bytes");
            assertTrue(map.counts().pointerHits() > requests, map.counts()::toString);
        }
    }

    /** Sets of all keys, or gets. */
    private void run(MapSession session, MemorySegment[] keys, MemorySegment value, boolean sets, int requests) {
        ended = 0;
        for (int i = 0; i < requests; i++) {
            MemorySegment key = keys[i % keys.length];
            while (!(sets ? session.set(key, value, i) : session.get(key, i))) {
                session.poll(count);
            }
        }
        while (ended < requests) {
            session.poll(count);
        }
    }

    /** The bytes that this thread and the serving threads have allocated. */
    private long allocated(long[] serving) {
        long bytes = threads.getCurrentThreadAllocatedBytes();
        for (long thread : serving) {
            bytes += threads.getThreadAllocatedBytes(thread);
        }
        return bytes;
    }

    private static long[] serving() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("farheap-srv-"))
                .mapToLong(Thread::threadId)
                .toArray();
    }
}
