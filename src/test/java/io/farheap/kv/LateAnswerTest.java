package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.cache.SoftverbsFaults;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Servers whose answers are late do not make a session evict from a map that has room. */
@Needs(Need.SOFTVERBS)
class LateAnswerTest {

    /** The delay of each operation: a call and its answer take longer than a keeper waits for an answer at once. */
    private static final long LATE_NANOS = 300_000_000;

    private static final int OBJECTS = 40;

    @AfterEach
    void inTime() {
        SoftverbsFaults.delayOperations(0);
    }

    /** A server that has joined must answer first whether it will leave. */
    @Test
    void aMapIsOpenedThough() {
        try (TestServers servers = new TestServers("late")) {
            String first = servers.start(8, 1 << 20, TestServers.LEASE_NANOS);
            String second = servers.start(8, 1 << 20, TestServers.LEASE_NANOS);
            try (FarMap map = servers.named(first).memory(4 << 20).objects(1000).create()) {
                map.addServer(second, 4 << 20);
                SoftverbsFaults.delayOperations(LATE_NANOS);
                servers.named(first).open().close();
                SoftverbsFaults.delayOperations(0);
            }
        }
    }

    @Test
    void aSessionWaitsForBlocksThatComeLate() {
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 1000);
                MapSession session = space.map.openSession()) {
            for (int i = 0; i < OBJECTS; i++) {
                session.set(TestServers.key(i), TestServers.value(i, 100));
            }
            SoftverbsFaults.delayOperations(LATE_NANOS);
            // This object has another size, so it needs another segment.
            session.set(TestServers.key(OBJECTS), TestServers.value(OBJECTS, 2000));
            SoftverbsFaults.delayOperations(0);
            assertEquals(0, space.map.counts().evicted());
            for (int i = 0; i < OBJECTS; i++) {
                assertArrayEquals(TestServers.value(i, 100), session.get(TestServers.key(i)));
            }
            assertArrayEquals(TestServers.value(OBJECTS, 2000), session.get(TestServers.key(OBJECTS)));
            TestServers.assertSound(space.map);
        }
    }
}
