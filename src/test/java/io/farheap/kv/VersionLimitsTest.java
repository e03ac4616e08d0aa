package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.format.SpaceShape;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import org.junit.jupiter.api.Test;

/** Versions do not return, however many sessions a map has had. */
class VersionLimitsTest {

    private static final byte[] KEY = {1, 2, 3};

    /** Sets how many sessions the map has had. */
    private static void sessions(TestSpace space, long count) {
        try (RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = space.memory.register(Long.BYTES)) {
            memory.segment().set(JAVA_LONG, 0, count);
            assertEquals(
                    PostResult.DONE,
                    queue.execute(
                            true, space.regions.getFirst(), SpaceShape.SESSION_COUNTER, memory, 0, Long.BYTES, 0));
        }
    }

    @Test
    void aLateSessionDoesNotRepeatAnEarlyOnesVersions() {
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 1000)) {
            VersionedValue early;
            try (MapSession session = space.map.openSession()) {
                session.set(KEY, new byte[] {1});
                early = session.getVersioned(KEY);
            }
            // The first session of the map has number 1.
            for (int bits : new int[] {24, 28, 32}) {
                sessions(space, 1L << bits);
                try (MapSession session = space.map.openSession()) {
                    session.set(KEY, new byte[] {2});
                    assertFalse(session.compareAndSet(KEY, new byte[] {3}, early.version(), 0), bits + " bits");
                    assertArrayEquals(new byte[] {2}, session.get(KEY));
                }
            }
        }
    }

    @Test
    void aMapThatHasHadAllSessionsSaysSo() {
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 1000)) {
            sessions(space, (1L << 36) - 2);
            space.map.openSession().close();
            String message = assertThrows(MapException.class, () -> space.map.openSession())
                    .getMessage();
            assertTrue(message.contains("create another map"), message);
        }
    }
}
