package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.session.QuiescingPath;
import io.farheap.testing.Effort;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The way of requests changes while they are made; {@code MigrationHistoryTest} has histories of it. */
class ReconfigureTest {

    private Cluster cluster;
    private Cache cache;
    private CacheSession session;
    private Buffer buffer;
    private int called;

    @BeforeEach
    void create() {
        cluster = new Cluster(4, 4);
        cache = Cache.builder()
                .capacity(4 * Cluster.REGION_BYTES)
                .servers(cluster.addresses())
                .device(TestDevice.client())
                .create();
        session = cache.openSession();
        buffer = cache.allocate(4096);
    }

    @AfterEach
    void close() {
        cache.close();
        cluster.close();
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("-cli-"))
                .count();
    }

    private void assertWorks(CacheSession through, long value) {
        for (int region = 0; region < 4; region++) {
            buffer.segment().set(JAVA_LONG, 0, value + region);
            through.writeBlocking(region * Cluster.REGION_BYTES, buffer, 0, 8);
            through.readBlocking(region * Cluster.REGION_BYTES, buffer, 8, 8);
            assertEquals(value + region, buffer.segment().get(JAVA_LONG, 8));
        }
    }

    @Test
    void everyConfigurationFollowsEveryOther() {
        List<CacheConfiguration> all = Configurations.all().toList();
        long value = 0;
        for (CacheConfiguration from : all) {
            for (CacheConfiguration to : all) {
                cache.reconfigure(from);
                assertWorks(session, value += 10);
                cache.reconfigure(to);
                assertEquals(to, cache.configuration());
                assertEquals(to.clientThreads(), threads());
                assertWorks(session, value += 10);
                try (CacheSession another = cache.openSession()) {
                    assertWorks(another, value += 10);
                }
            }
        }
        cache.migrate(0, cluster.address(1));
        assertWorks(session, value + 10);
    }

    @Test
    void requestsThatArePendingEndFirst() {
        for (CacheConfiguration to : Configurations.all().toList()) {
            called = 0;
            int issued = 0;
            while (issued < 40
                    && session.write(
                            8L * issued,
                            buffer,
                            0,
                            8,
                            (token, status) -> called += status == Status.OK ? 1 : 1000,
                            issued)) {
                issued++;
            }
            CompletableFuture<Void> change = CompletableFuture.runAsync(() -> cache.reconfigure(to));
            while (!change.isDone()) {
                session.poll();
            }
            change.join();
            assertEquals(issued, called);
        }
    }

    /** The request is the last pending one, and its thread does not poll again. */
    @Test
    void aCallbackThatThrowsEndsARequestToo() throws Exception {
        assertTrue(session.write(
                0,
                buffer,
                0,
                8,
                (token, status) -> {
                    throw new IllegalStateException("thrown by the callback");
                },
                0));
        CompletableFuture<Void> change = CompletableFuture.runAsync(() -> cache.reconfigure(Configurations.BATCHED));
        while (!(Fields.get(session.core().admission, "path", RequestPath.class) instanceof QuiescingPath)) {
            Thread.sleep(1);
        }
        assertThrows(IllegalStateException.class, () -> {
            while (true) {
                session.poll();
            }
        });
        change.join();
        assertEquals(Configurations.BATCHED, cache.configuration());
        assertWorks(session, 1);
    }

    @Test
    void aSleepingThreadGoesOn() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        CompletableFuture<Long> reader = CompletableFuture.supplyAsync(() -> {
            long reads = 0;
            try (CacheSession own = cache.openSession()) {
                do {
                    own.readBlocking(reads++ % 64 * 8, buffer, 64, 8);
                } while (!stop.get());
            }
            return reads;
        });
        for (CacheConfiguration to : Configurations.all().toList()) {
            cache.reconfigure(to);
        }
        stop.set(true);
        assertTrue(reader.get() > 0);
    }

    /**
     * The thread that opens a session prepares it for the change. A change that prepared sessions itself would never
     * have prepared all of them, and would keep the preparations of closed ones.
     */
    @Test
    void sessionsThatComeAndGoKeepNoChangeFromItsEnd() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            long address = 8L * i;
            threads.add(CompletableFuture.runAsync(() -> {
                try (Buffer own = cache.allocate(8)) {
                    do {
                        try (CacheSession brief = cache.openSession()) {
                            brief.writeBlocking(address, own, 0, 8);
                        }
                    } while (!stop.get());
                }
            }));
        }
        try {
            for (int i = 0; i < Effort.either(1, 3); i++) {
                for (CacheConfiguration to : Configurations.all().toList()) {
                    Configurations.change(cache, to);
                    assertEquals(to, cache.configuration());
                }
            }
        } finally {
            stop.set(true);
        }
        for (CompletableFuture<Void> thread : threads) {
            thread.get();
        }
        assertEquals(cache.configuration().clientThreads(), threads());
        assertWorks(session, 70);
    }

    @Test
    void aSessionThatNobodyPollsStaysAndWorks() {
        assertTrue(session.write(0, buffer, 0, 8, (token, status) -> called++, 0));
        CacheException refused =
                assertThrows(CacheException.class, () -> cache.reconfigure(Configurations.HANDED_OVER));
        assertTrue(refused.getMessage().contains("poll"), refused.getMessage());
        assertEquals(CacheConfiguration.DIRECT, cache.configuration());
        assertEquals(0, threads());
        session.drain();
        assertEquals(1, called);
        assertWorks(session, 5);
        cache.reconfigure(Configurations.HANDED_OVER);
        assertWorks(session, 50);
    }

    @Test
    void whatTheDeviceCannotDoIsRefused() {
        int most = cache.context().limits().maxQueuePairRequests();
        assertThrows(
                IllegalArgumentException.class,
                () -> cache.reconfigure(CacheConfiguration.DIRECT.withQueueDepth(most)));
        assertThrows(IllegalArgumentException.class, () -> CacheConfiguration.DIRECT.with(1, 2, 4, 4));
        assertThrows(IllegalArgumentException.class, () -> CacheConfiguration.DIRECT.with(1, 0, 4, 4));
        assertFalse(session.pending() > 0);
        assertWorks(session, 1);
    }
}
