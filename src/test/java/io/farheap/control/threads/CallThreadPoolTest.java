package io.farheap.control.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.Caller;
import io.farheap.testing.FailingLog;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The limits of calls that run and wait: in all, for a host, for a connection and for a lease. */
class CallThreadPoolTest {

    private static final CallKind KIND = CallKind.PULL;

    private final CallThreadPool line = new CallThreadPool(KIND);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();

    @AfterEach
    void stop() throws InterruptedException {
        mayEnd.countDown();
        line.stop();
        assertTrue(line.awaitTermination(60, TimeUnit.SECONDS));
    }

    private static Caller caller(int host, int connection) {
        return new Caller("host " + host, "host " + host + " connection " + connection);
    }

    private void hold() {
        begun.incrementAndGet();
        try {
            mayEnd.await();
        } catch (InterruptedException e) {
            return;
        }
        ended.incrementAndGet();
    }

    private int submit(Caller caller, int calls) {
        return (int) IntStream.range(0, calls)
                .filter(_ -> line.submit(caller, null, this::hold) == null)
                .count();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; !condition.getAsBoolean(); i++) {
            assertTrue(i < 6000, "this does not come about");
            Thread.sleep(10);
        }
    }

    @Test
    void aConnectionHasItsShareAndHearsOfItsLimit() throws Exception {
        int taken = submit(caller(1, 1), 1000);
        assertEquals(KIND.threads().connection() + KIND.waiting().connection(), taken);
        await(() -> begun.get() == KIND.threads().connection());
        String refusal = line.submit(caller(1, 1), null, this::hold);
        assertTrue(refusal.contains(KIND.waiting().connection() + " pulls waiting from this connection"), refusal);

        assertEquals(1, submit(caller(1, 2), 1));
        await(() -> begun.get() == KIND.threads().connection() + 1);
    }

    /** Caches of one process share a connection: a cache whose calls hang leaves threads for the others. */
    @Test
    void aLeaseHasItsShareOfItsConnection() throws Exception {
        int taken = 0;
        for (int i = 0; i < 1000; i++) {
            taken += line.submit(caller(1, 1), 7L, this::hold) == null ? 1 : 0;
        }
        assertEquals(KIND.threads().lease() + KIND.waiting().lease(), taken);
        await(() -> begun.get() == KIND.threads().lease());
        String refusal = line.submit(caller(1, 1), 7L, this::hold);
        assertTrue(refusal.contains(KIND.waiting().lease() + " pulls waiting from this lease"), refusal);

        assertNull(line.submit(caller(1, 1), 8L, this::hold));
        await(() -> begun.get() == KIND.threads().lease() + 1);
        // The same lease number on another connection counts as another lease.
        assertNull(line.submit(caller(1, 2), 7L, this::hold));
        await(() -> begun.get() == KIND.threads().lease() + 2);
    }

    /** Otherwise a client's renewals would wait behind its other calls instead of reaching the server. */
    @Test
    void aConnectionCarriesAllCallsThatTheServerTakes() {
        int most = 0;
        for (CallKind kind : CallKind.values()) {
            most += kind.threads().connection() + kind.waiting().connection();
        }
        assertTrue(most < ControlServer.MAX_CALLS_PER_CONNECTION, most + " calls");
    }

    @Test
    void aHostHasItsShareHoweverManyConnectionsItHas() throws Exception {
        int taken = 0;
        for (int connection = 0; connection < 100; connection++) {
            taken += submit(caller(1, connection), 20);
        }
        assertEquals(KIND.threads().host() + KIND.waiting().host(), taken);
        await(() -> begun.get() == KIND.threads().host());
        String refusal = line.submit(caller(1, 1000), null, this::hold);
        assertTrue(refusal.contains("from this host"), refusal);

        assertEquals(1, submit(caller(2, 0), 1));
        await(() -> begun.get() == KIND.threads().host() + 1);
    }

    @Test
    void thereIsALimitInAllAndEveryCallThatWasTakenIsServedOnce() throws Exception {
        int taken = 0;
        for (int host = 0; host < 100; host++) {
            taken += submit(caller(host, 0), 20);
        }
        assertEquals(KIND.threads().all() + KIND.waiting().all(), taken);
        await(() -> begun.get() == KIND.threads().all());
        assertTrue(line.submit(caller(1000, 0), null, this::hold).contains("in all"));

        mayEnd.countDown();
        int all = taken;
        await(() -> ended.get() == all);
        assertEquals(all, begun.get());
        // These calls no longer count.
        aConnectionHasItsShareAgain();
    }

    private void aConnectionHasItsShareAgain() throws InterruptedException {
        CountDownLatch hold = new CountDownLatch(1);
        AtomicInteger running = new AtomicInteger();
        for (int i = 0; i < KIND.threads().connection(); i++) {
            assertNull(line.submit(caller(7, 7), null, () -> {
                running.incrementAndGet();
                try {
                    hold.await();
                } catch (InterruptedException e) {
                    // The test has ended.
                }
            }));
        }
        await(() -> running.get() == KIND.threads().connection());
        hold.countDown();
    }

    @Test
    void whatWaitsGoesInOrderButNotBehindThoseThatHaveTheirShare() throws Exception {
        List<Integer> order = new CopyOnWriteArrayList<>();
        CountDownLatch first = new CountDownLatch(1);
        for (int i = 0; i < KIND.threads().connection() - 1; i++) {
            submit(caller(1, 1), 1);
        }
        assertNull(line.submit(caller(1, 1), null, () -> {
            try {
                first.await();
            } catch (InterruptedException e) {
                // The test has ended.
            }
        }));
        for (int i = 0; i < 10; i++) {
            int number = i;
            assertNull(line.submit(caller(1, 1), null, () -> order.add(number)));
        }
        assertTrue(order.isEmpty());
        CountDownLatch other = new CountDownLatch(1);
        assertNull(line.submit(caller(1, 2), null, other::countDown));
        assertTrue(other.await(60, TimeUnit.SECONDS));
        first.countDown();
        await(() -> order.size() == 10);
        assertEquals(IntStream.range(0, 10).boxed().toList(), order);
    }

    @Test
    void anErrorTakesNoThreadAway() throws Exception {
        Logger log = Logger.getLogger(CallThreadPool.class.getName());
        log.setLevel(Level.OFF);
        for (int i = 0; i < 3 * KIND.threads().all(); i++) {
            assertNull(line.submit(caller(i, 0), null, () -> {
                begun.incrementAndGet();
                throw new LinkageError("injected");
            }));
        }
        await(() -> begun.get() == 3 * KIND.threads().all());
        log.setLevel(null);
        aConnectionHasItsShareAgain();
    }

    @Test
    void anErrorThatCannotBeLoggedTakesNoThreadAway() throws Exception {
        int calls = 3 * KIND.threads().all();
        try (FailingLog log = new FailingLog(CallThreadPool.class, "a call", new OutOfMemoryError("injected"))) {
            for (int i = 0; i < calls; i++) {
                // All callers have one host, which would be refused if failed calls still counted.
                Caller caller = caller(1, i);
                await(() -> line.submit(caller, null, () -> {
                            throw new LinkageError("injected");
                        })
                        == null);
                int failed = i;
                await(() -> log.failures() > failed);
            }
        }
        aConnectionHasItsShareAgain();
        await(() -> line.submit(caller(1, calls), null, ended::incrementAndGet) == null);
        await(() -> ended.get() == 1);
    }

    @Test
    void afterTheEndNothingIsTaken() {
        line.stop();
        assertFalse(line.submit(caller(1, 1), null, this::hold) == null);
    }
}
