package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.command.ServerProcess;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.testing.DeviceFaults;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Servers of a coded cache, in processes of their own, that miss writes and come back: from SIGSTOP, beyond their
 * lease, or from a partition. A session writes and reads all the time, and each byte that it reads must be the last one
 * that it wrote. In the end so many other servers are killed that reads would need a stale split if one were in use.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("full")
class StaleServersTest {

    private static final int REGION_BYTES = 1 << 18;
    private static final int CAPACITY = 4 * REGION_BYTES;
    private static final int MOST_BYTES = 10_000;
    private static final Resilience CODE = Resilience.failureRecovery(2, 2);
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);
    /** The lease of servers that must lose it. */
    private static final long SHORT_SECONDS = TestDevice.shortLease(5);

    private final List<ServerProcess> servers = new ArrayList<>();
    private Cache cache;
    private Load load;

    @AfterEach
    void close() throws Exception {
        if (load != null) {
            load.stop();
        }
        if (cache != null) {
            cache.close();
        }
        for (ServerProcess server : servers) {
            server.close();
        }
    }

    /** Servers with a long lease are not stopped, and must not lose it on a busy machine. */
    private ServerProcess start(long leaseSeconds) {
        ServerProcess server = TestServer.start(
                4L * REGION_BYTES, REGION_BYTES, "--lease", leaseSeconds + "s", "--domain", "domain " + servers.size());
        servers.add(server);
        return server;
    }

    private void create() {
        cache = Patience.create(() -> Cache.builder()
                .capacity(CAPACITY)
                .servers(servers.stream().map(ServerProcess::address).toList())
                .resilience(CODE)
                .create());
        load = new Load(cache);
    }

    /** Reads and writes of one session, compared with a copy of its writes. */
    private static final class Load {

        private final Cache cache;
        private final byte[] expected = new byte[CAPACITY];
        private final AtomicLong rounds = new AtomicLong();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private volatile boolean stopped;
        private final Thread thread;

        Load(Cache cache) {
            this.cache = cache;
            this.thread = Thread.ofPlatform().daemon().start(this::run);
        }

        private void run() {
            SplittableRandom random = new SplittableRandom(15);
            byte[] read = new byte[MOST_BYTES];
            try (CacheSession session = cache.openSession()) {
                random.nextBytes(expected);
                session.writeBlocking(0, MemorySegment.ofArray(expected));
                while (!stopped) {
                    int at = random.nextInt(CAPACITY - MOST_BYTES);
                    int length = 1 + random.nextInt(MOST_BYTES);
                    byte[] bytes = new byte[length];
                    random.nextBytes(bytes);
                    System.arraycopy(bytes, 0, expected, at, length);
                    session.writeBlocking(at, MemorySegment.ofArray(bytes));
                    compare(session, random.nextInt(CAPACITY - MOST_BYTES), read);
                    rounds.incrementAndGet();
                    // This load runs for long, so it leaves the processors to the tests that run at the same time.
                    LockSupport.parkNanos(1_000_000);
                }
                compare(session, 0, new byte[CAPACITY]);
            } catch (Throwable e) {
                failure.set(e);
            }
        }

        private void compare(CacheSession session, int at, byte[] into) {
            session.readBlocking(at, MemorySegment.ofArray(into));
            int wrong = Arrays.mismatch(into, Arrays.copyOfRange(expected, at, at + into.length));
            assertEquals(-1, wrong, () -> "byte " + (at + wrong) + " is not the last one written; " + cache.health());
        }

        void check() {
            assertNull(failure.get(), () -> "the load ended with " + failure.get());
        }

        /** Waits for {@code more} further rounds. */
        void goOn(int more) throws InterruptedException {
            long until = rounds.get() + more;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (rounds.get() < until) {
                check();
                assertTrue(System.nanoTime() - deadline < 0, () -> "the load stands still: " + cache.health());
                Thread.sleep(1);
            }
        }

        /** Ends the load, which then compares all bytes. */
        void stop() throws InterruptedException {
            stopped = true;
            thread.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
            check();
            assertTrue(!thread.isAlive(), "the load does not end");
        }
    }

    private void await(String what, Predicate<Health> wanted) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!wanted.test(cache.health())) {
            load.check();
            assertTrue(System.nanoTime() - deadline < 0, () -> "waited too long for " + what + ": " + cache.health());
            Thread.sleep(1);
        }
    }

    private void signal(int server, String signal) throws Exception {
        String pid = Long.toString(servers.get(server).pid());
        assertEquals(0, new ProcessBuilder("kill", signal, pid).start().waitFor());
    }

    private void killAndGoOn(int... killed) throws Exception {
        for (int server : killed) {
            servers.get(server).kill();
        }
        load.goOn(200);
        load.stop();
    }

    @Test
    void whoStandsStillBeyondItsLeaseIsReplacedAndReadNoMore() throws Exception {
        start(SHORT_SECONDS);
        start(SHORT_SECONDS);
        start(PATIENCE_SECONDS);
        start(PATIENCE_SECONDS);
        create();
        load.goOn(20);
        signal(0, "-STOP");
        signal(1, "-STOP");
        await("the loss of two", health -> health.mayLose() == 0);
        load.goOn(20);
        cache.addServer(start(PATIENCE_SECONDS).address());
        cache.addServer(start(PATIENCE_SECONDS).address());
        await("a whole cache on the others", health -> health.whole() && health.mayLose() == 2);
        load.goOn(20);
        signal(0, "-CONT");
        signal(1, "-CONT");
        load.goOn(200);
        // Of the cache's servers, only the two that were added are left.
        killAndGoOn(2, 3);
    }

    @Test
    void whatAPartitionKeptFromAServerIsNeverReadThere() throws Exception {
        for (int i = 0; i < 5; i++) {
            start(PATIENCE_SECONDS);
        }
        create();
        load.goOn(20);
        int cut = servers.stream().map(ServerProcess::address).toList().indexOf(cache.serverOf(0));
        try (DeviceFaults faults = DeviceFaults.ofProcess(servers.get(cut).pid())) {
            faults.cut();
            await("slabs that missed a write", health -> health.counts().voided() > 0);
            await("a whole cache on the others", health -> health.whole() && health.regenerated() > 0);
            load.goOn(50);
        }
        load.goOn(200);
        List<Integer> others = new ArrayList<>(List.of(0, 1, 2, 3, 4));
        others.remove(Integer.valueOf(cut));
        killAndGoOn(others.get(0), others.get(1));
    }
}
