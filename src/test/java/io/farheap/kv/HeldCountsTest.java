package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SpaceShape;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import org.junit.jupiter.api.Test;

/** Accesses that a session adds up before it sends their number to the table. */
class HeldCountsTest {

    private static final byte[] KEY = {1, 2, 3};
    private static final int IDLE_POLLS = 1000;

    private static int frequency(TestSpace space, RemoteQueue queue, RegisteredBuffer memory) {
        assertEquals(
                PostResult.DONE,
                queue.execute(
                        false,
                        space.regions.getFirst(),
                        space.shape.bucketAt(0),
                        memory,
                        0,
                        SpaceShape.BUCKET_BYTES,
                        0));
        return memory.segment().get(JAVA_INT, Slot.offset(0) + Slot.FREQUENCY);
    }

    /** The accesses of an object do not wait forever for more of them. */
    @Test
    void afterASecondTheyGoAlsoWhereTheyAreFew() {
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 1, EvictionSettings.of("lfu"));
                RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = space.memory.register(SpaceShape.BUCKET_BYTES);
                MapSession session = space.map.openSession()) {
            session.set(KEY, new byte[8]);
            for (int i = 0; i < 5; i++) {
                session.get(KEY);
            }
            idle(session);
            assertEquals(1, frequency(space, queue, memory));
            space.clock.advance(2_000_000_000L);
            idle(session);
            assertEquals(6, frequency(space, queue, memory));
        }
    }

    private static void idle(MapSession session) {
        for (int i = 0; i < IDLE_POLLS; i++) {
            session.poll((tag, status, memory, at, bytes) -> {});
        }
    }
}
