package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.farheap.kv.format.Slot;
import io.farheap.kv.format.TestKeys;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.testing.TestDevice;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A slot may have the hash of another key than its object's: a session that stood still has written it since. No
 * request for that key takes one object for the other, or continues for ever.
 */
class StaleHashTest {

    enum Request {
        ADD,
        SET,
        REPLACE,
        INCREMENT,
        GET,
        DELETE,
        TOUCH
    }

    @ParameterizedTest
    @EnumSource
    void endsAsIfTheSlotWereAnothers(Request request) {
        long[] keys = TestKeys.of(2, true);
        byte[] there = TestKeys.bytes(keys[0]);
        byte[] former = TestKeys.bytes(keys[1]);
        byte[] value = {1, 2, 3};
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 1);
                RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = space.memory.register(Long.BYTES);
                MapSession session = space.map.openSession()) {
            RemoteRegion region = space.regions.getFirst();
            long at = space.shape.bucketAt(0) + Slot.offset(0) + Slot.HASH;
            session.set(former, new byte[] {9});
            assertEquals(PostResult.DONE, queue.execute(false, region, at, memory, 0, Long.BYTES, 0));
            session.delete(former);
            session.set(there, value);
            assertEquals(PostResult.DONE, queue.execute(true, region, at, memory, 0, Long.BYTES, 0));
            // The slot has the hash of its former object again.
            byte[] stored = {4, 5};
            session.release();
            byte[] found = assertTimeoutPreemptively(Duration.ofMillis(TestDevice.patience(30_000)), () -> {
                switch (request) {
                    case ADD -> session.add(former, stored, 0);
                    case SET -> session.set(former, stored);
                    case REPLACE -> session.replace(former, stored, 0);
                    case INCREMENT -> session.increment(former, 1);
                    case DELETE -> session.delete(former);
                    case TOUCH -> session.touch(former, 0);
                    case GET -> {}
                }
                byte[] after = session.get(former);
                session.release();
                return after;
            });
            boolean stores = request == Request.ADD || request == Request.SET;
            assertArrayEquals(stores ? stored : null, found);
            assertArrayEquals(value, session.get(there));
        }
    }
}
