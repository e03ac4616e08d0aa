package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.SoftverbsFaults;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.command.ServerProcess;
import io.farheap.migration.MigrationOptions;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * A server is killed while a region moves chunk by chunk. Chunks that have moved by then are in the new copy alone, and
 * the others in the old one alone: the killed server's chunks are lost, the other chunks have their latest values, and
 * the status distinguishes them.
 */
@Isolated("it switches this process's faults")
class KilledMigrationTest {

    private static final long REGION_BYTES = 4 << 20;
    private static final int PROBE_STEP = 64 << 10;
    private static final int CHUNK_BYTES = 16 << 10;
    private static final int PROBES = (int) (REGION_BYTES / PROBE_STEP);
    /** One small chunk at a time, so that it takes long. */
    private static final MigrationOptions SLOWLY =
            MigrationOptions.DEFAULT.chunkBytes(512).windowBytes(512);
    /**
     * On a device that can delay operations, the marks that pace the copy are late, too: the copy takes longer than a
     * busy machine keeps a thread waiting.
     */
    private static final MigrationOptions LATE =
            MigrationOptions.DEFAULT.chunkBytes(CHUNK_BYTES).windowBytes(CHUNK_BYTES);

    private static final long LATE_NANOS = 50_000_000L;
    private static final int LOST = -1;

    private ServerProcess old;
    private ServerProcess fresh;
    private Cache cache;
    private CacheSession session;
    private Buffer buffer;

    @BeforeEach
    void create() {
        old = TestServer.start(2 * REGION_BYTES, REGION_BYTES);
        fresh = TestServer.start(2 * REGION_BYTES, REGION_BYTES);
        cache = Patience.create(() -> Cache.builder()
                .capacity(2 * REGION_BYTES)
                .servers(old.address())
                .create());
        cache.addServer(fresh.address());
        session = cache.openSession();
        buffer = cache.allocate(4096);
        for (int probe = 0; probe < PROBES; probe++) {
            write(probe, 1);
        }
    }

    @AfterEach
    void close() {
        cache.close();
        old.close();
        fresh.close();
    }

    /** @return whether the probe was written and not lost */
    private boolean write(int probe, long value) {
        buffer.segment().set(JAVA_LONG, 0, value);
        return isThere(() -> session.writeBlocking((long) probe * PROBE_STEP, buffer, 0, 8));
    }

    private long read(CacheSession through, int probe) {
        return isThere(() -> through.readBlocking((long) probe * PROBE_STEP, buffer, 8, 8))
                ? buffer.segment().get(JAVA_LONG, 8)
                : LOST;
    }

    /** A server that was killed cannot be reached, until its lease has ended: then what it had is lost. */
    private static boolean isThere(Runnable request) {
        while (true) {
            try {
                request.run();
                return true;
            } catch (CacheException e) {
                if (e.status() == Status.LOST) {
                    return false;
                }
                assertEquals(Status.UNREACHABLE, e.status());
            }
        }
    }

    /** On an emulated processor, a waiting thread must leave the processor to the threads that it waits for. */
    private static void pause() {
        LockSupport.parkNanos(1_000_000);
    }

    /**
     * Kills a server when an eighth of the region has moved, while writes continue.
     *
     * @return the last value that was written to each probe, negative if that write was lost
     */
    private long[] killInTheMiddle(ServerProcess victim) {
        boolean soft = Devices.library() == VerbsLibrary.SOFT;
        if (soft) {
            SoftverbsFaults.delayOperations(LATE_NANOS);
        }
        CompletableFuture<CacheException> migration = CompletableFuture.supplyAsync(() -> assertThrows(
                CacheException.class, () -> cache.migrate(List.of(0), fresh.address(), soft ? LATE : SLOWLY)));
        try {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(60));
            while (cache.movedBytes(0) < REGION_BYTES / 8) {
                assertTrue(!migration.isDone() && System.nanoTime() - deadline < 0, "the region moves");
                pause();
            }
            victim.kill();
        } finally {
            if (soft) {
                SoftverbsFaults.delayOperations(0);
            }
        }
        long[] written = new long[PROBES];
        // Until its end is noticed, a write to the memory of a dead server may succeed: the last ones begin after that.
        boolean noticed = false;
        boolean last = false;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(60));
        for (long value = 2; !last; value++) {
            assertTrue(
                    System.nanoTime() - deadline < 0, () -> "no write is lost, or the migration goes on: " + migration);
            last = noticed && migration.isDone();
            pause();
            for (int probe = 0; probe < PROBES; probe++) {
                if (last) {
                    assertKept(probe, written[probe]);
                }
                boolean ok = write(probe, value);
                noticed |= !ok;
                written[probe] = ok ? value : -value;
            }
        }
        String message = migration.join().getMessage();
        assertTrue(message.contains(old.address()) && message.contains(fresh.address()), message);
        return written;
    }

    /** A value that was written while the migration failed is either lost or present. */
    private void assertKept(int probe, long written) {
        long read = read(session, probe);
        if (read != LOST && written > 0) {
            assertEquals(written, read, "probe " + probe);
        }
    }

    /** @return how many probes are lost, from the beginning on */
    private int assertDividedAt(long[] written, boolean lowIsLost) {
        int lost = 0;
        int low = 0;
        try (CacheSession another = cache.openSession()) {
            for (int probe = 0; probe < PROBES; probe++) {
                long read = read(another, probe);
                assertEquals(read, read(session, probe), "probe " + probe);
                if (read == LOST) {
                    lost++;
                    assertTrue(written[probe] < 0, "probe " + probe + " was written, and is lost");
                } else {
                    assertEquals(written[probe], read, "probe " + probe);
                }
                if ((read == LOST) == lowIsLost && low == probe) {
                    low++;
                }
            }
        }
        assertEquals(lowIsLost ? low : PROBES - low, lost, "what is lost is one end of the region");
        assertTrue(lost > 0 && lost < PROBES, lost + " of " + PROBES + " are lost");
        return low;
    }

    @Test
    void aDestinationThatDiesTakesTheChunksAlongThatHadMoved() {
        long[] written = killInTheMiddle(fresh);
        int low = assertDividedAt(written, true);
        assertEquals(0, session.held());
        // The second region is unaffected, and the rest of the first one moves like any other region.
        session.writeBlocking(REGION_BYTES, buffer, 0, 8);
        try (ServerProcess third = TestServer.start(2 * REGION_BYTES, REGION_BYTES)) {
            cache.addServer(third.address());
            cache.retire(old.address(), moved -> {});
            old.kill();
            assertEquals(low, assertDividedAt(written, true));
            session.readBlocking(REGION_BYTES, buffer, 0, 8);
            cache.close();
        }
    }

    @Test
    void aSourceThatDiesTakesTheChunksAlongThatHadNotMoved() {
        long[] written = killInTheMiddle(old);
        assertDividedAt(written, false);
        assertEquals(0, session.held());
        assertThrows(CacheException.class, () -> cache.migrate(0, fresh.address()));
        assertDividedAt(written, false);
    }
}
