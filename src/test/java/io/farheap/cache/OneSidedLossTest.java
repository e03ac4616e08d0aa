package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.batch.SessionBatches;
import io.farheap.cache.contract.Status;
import io.farheap.cache.onesided.SessionEngine;
import io.farheap.cache.route.Routes;
import io.farheap.connection.Connection;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A batched session whose one-sided connection fails while its rings work. */
class OneSidedLossTest {

    private static final int LARGE = 32 * 1024;
    private static final long LATE_SECONDS = 20;

    private Cluster cluster;
    private Cache cache;
    private CacheSession session;
    private Buffer buffer;

    @BeforeEach
    void create() {
        cluster = new Cluster(4, 4);
        cache = Cache.builder()
                .capacity(2 * Cluster.REGION_BYTES)
                .servers(cluster.address(0))
                .device(TestDevice.client())
                .configuration(Configurations.BATCHED)
                .create();
        cache.addServer(cluster.address(1));
        session = cache.openSession();
        buffer = cache.allocate(2 * LARGE);
    }

    @AfterEach
    void close() {
        cache.close();
        cluster.close();
    }

    @Test
    void theRingsServeASmallRequestThatIsAlone() {
        failOneSided();
        buffer.segment().set(JAVA_LONG, 0, 5);
        session.writeBlocking(0, buffer, 0, 8);
        session.readBlocking(0, buffer, 8, 8);
        assertEquals(5, buffer.segment().get(JAVA_LONG, 8));
    }

    /** Such a write could take effect late, and overwrite a later small write that took a ring. */
    @Test
    @Needs(Need.LATE_OPERATIONS)
    void nothingPassesAWriteOfUnknownOutcomeUntilItIsFenced() {
        List<Integer> statuses = new ArrayList<>();
        LateOperations.by(LATE_SECONDS, TimeUnit.SECONDS);
        try {
            assertTrue(session.write(0, buffer, 0, LARGE, (token, status) -> statuses.add(status), 0));
            session.poll();
        } finally {
            LateOperations.no();
        }
        failOneSided();
        // There are two writes, because one alone would take the one-sided path.
        for (int i = 0; i < 2; i++) {
            assertTrue(session.write(8 * i, buffer, 0, 8, (token, status) -> statuses.add(status), i));
        }
        session.drain();
        assertEquals(List.of(Status.UNKNOWN, Status.OK, Status.OK), statuses);
        buffer.segment().set(JAVA_LONG, 0, 7);
        session.writeBlocking(0, buffer, 0, 8);
        session.readBlocking(0, buffer, 8, 8);
        assertEquals(7, buffer.segment().get(JAVA_LONG, 8));
    }

    /** A list blocks the range of its records; other requests continue in batches meanwhile. */
    @Test
    @Needs(Need.LATE_OPERATIONS)
    void aListBlocksWhatIsInItsRangeAlone() {
        SessionEngine engine = engine();
        LateOperations.by(100, TimeUnit.MILLISECONDS);
        try {
            inGate(() -> {
                long[] addresses = {4096, 8192};
                assertTrue(engine.postAllAtOnce(
                        false, addresses, 2, 256, buffer, buffer.address(), (token, status) -> {}, 0));
                assertTrue(engine.mayOverlap(8192 + 255, 8));
                assertTrue(engine.mayOverlap(4089, 8));
                assertFalse(engine.mayOverlap(4088, 8));
                assertFalse(engine.mayOverlap(8192 + 256, 8));
                assertTrue(engine.mayOverlap(6000, 8));
            });
        } finally {
            LateOperations.no();
        }
        while (engine.pending() > 0) {
            inGate(engine::poll);
        }
        inGate(() -> assertFalse(engine.mayOverlap(6000, 8)));
    }

    private void failOneSided() {
        SessionEngine engine = engine();
        inGate(() -> {
            Connection connection = Fields.get(engine, "routes", Routes.class).connection(0);
            connection.fail();
        });
    }

    private SessionEngine engine() {
        SessionBatches batches = Fields.get(session.core().admission, "path", SessionBatches.class);
        return Fields.get(batches, "engine", SessionEngine.class);
    }

    private void inGate(Runnable action) {
        session.core().admission.gate().claim();
        try {
            action.run();
        } finally {
            session.core().admission.gate().unclaim();
        }
    }
}
