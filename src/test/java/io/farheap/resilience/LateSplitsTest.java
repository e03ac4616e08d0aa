package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.SoftverbsFaults;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.CodedCompletion;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.session.ValueLayouts;
import io.farheap.resilience.table.Slab;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Splits that the device executes late: which requests wait for them, and which memory they write. */
@Needs(Need.SOFTVERBS)
class LateSplitsTest {

    private static final int PAGE = 4096;
    private static final long LATE_NANOS = 400_000_000L;

    private final CodedServers servers = new CodedServers(8, 4);
    private int ended;
    private final CodedCompletion completion = (token, status) -> {
        assertEquals("ok", CodedStatus.describe(status));
        ended++;
    };

    @AfterEach
    void close() {
        SoftverbsFaults.delayOperations(0);
        servers.close();
    }

    private static byte[] bytes(int seed) {
        byte[] bytes = new byte[PAGE];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    private void await(CodedSession session, int count) {
        while (ended < count) {
            session.poll();
            rest();
        }
    }

    /** Late splits are late by much more than this, so waiting for them need not take a processor. */
    private static void rest() {
        LockSupport.parkNanos(50_000);
    }

    @Test
    void aReadAsksTheRestAndNothingLandsInItsMemoryAfterwards() {
        try (CodedSpace space = servers.space(Resilience.copies(2), PAGE);
                CodedSession session = space.openSession()) {
            MemorySegment memory = MemorySegment.ofArray(bytes(1));
            session.writeBlocking(0, memory, 0, PAGE);
            memory.fill((byte) 0);
            SoftverbsFaults.delayOperations(LATE_NANOS);
            session.read(0, memory, 0, PAGE, completion, 1);
            SoftverbsFaults.delayOperations(0);
            await(session, 1);
            assertArrayEquals(bytes(1), memory.toArray(ValueLayouts.BYTE));
            Health.Counts counts = space.health().counts();
            assertEquals(1, counts.hedged());
            assertEquals(1, counts.late());
            // The page is written again and the application reuses its memory while the late split is pending.
            byte[] other = bytes(2);
            session.writeBlocking(0, MemorySegment.ofArray(other), 0, PAGE);
            memory.fill((byte) 7);
            while (session.unsettled()) {
                session.poll();
                rest();
            }
            byte[] sevens = new byte[PAGE];
            Arrays.fill(sevens, (byte) 7);
            assertArrayEquals(sevens, memory.toArray(ValueLayouts.BYTE));
        }
    }

    @Test
    void aSmallReadOfALateSplitDecodesIt() {
        try (CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), PAGE);
                CodedSession session = space.openSession()) {
            byte[] page = bytes(3);
            session.writeBlocking(0, MemorySegment.ofArray(page), 0, PAGE);
            byte[] small = new byte[100];
            SoftverbsFaults.delayOperations(LATE_NANOS);
            session.read(1500, MemorySegment.ofArray(small), 0, 100, completion, 1);
            SoftverbsFaults.delayOperations(0);
            await(session, 1);
            assertArrayEquals(Arrays.copyOfRange(page, 1500, 1600), small);
            assertEquals(1, space.health().counts().decoded());
            assertTrue(session.unsettled());
            // While the server's split is pending, reads do not ask this server: they decode the bytes at once.
            for (int i = 0; i < 50; i++) {
                session.readBlocking(1500, MemorySegment.ofArray(small), 0, 100);
                assertArrayEquals(Arrays.copyOfRange(page, 1500, 1600), small);
            }
            assertEquals(51, space.health().counts().decoded());
        }
    }

    /** The session is not polled any more, so the thread that retires the server takes the split's completion. */
    @Test
    void whatAnIdleSessionHasNotTakenHoldsUpNoRetirement() throws Exception {
        try (CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), PAGE);
                CodedSession session = space.openSession()) {
            byte[] page = bytes(8);
            session.writeBlocking(0, MemorySegment.ofArray(page), 0, PAGE);
            byte[] small = new byte[100];
            SoftverbsFaults.delayOperations(LATE_NANOS);
            session.read(1500, MemorySegment.ofArray(small), 0, 100, completion, 1);
            SoftverbsFaults.delayOperations(0);
            await(session, 1);
            assertTrue(session.unsettled());
            RemoteServer server = space.serverOf(1);
            CompletableFuture.runAsync(() -> space.retire(server, () -> {}))
                    .get(TestDevice.patience(30), TimeUnit.SECONDS);
            assertEquals(4, servers.freeRegions(servers.indexOf(server)));
            assertEquals(1, session.outstanding());
            byte[] read = new byte[PAGE];
            session.readBlocking(0, MemorySegment.ofArray(read), 0, PAGE);
            assertArrayEquals(page, read);
        }
    }

    @Test
    void whereAllSplitsOfAWriteAreLateNoSlabIsVoid() {
        // All splits complete midway between two looks at the time, so that no split is late after the others.
        Resilience resilience = Resilience.failureRecovery(4, 2).timeout(Duration.ofSeconds(1));
        try (CodedSpace space = servers.space(resilience, PAGE);
                CodedSession session = space.openSession()) {
            byte[] page = bytes(4);
            SoftverbsFaults.delayOperations(1_500_000_000);
            session.write(0, MemorySegment.ofArray(page), 0, PAGE, completion, 1);
            SoftverbsFaults.delayOperations(0);
            await(session, 1);
            assertEquals(0, space.health().counts().voided());
            assertTrue(space.health().whole());
            byte[] read = new byte[PAGE];
            session.readBlocking(0, MemorySegment.ofArray(read), 0, PAGE);
            assertArrayEquals(page, read);
        }
    }

    @Test
    void aSlabWhoseSplitIsTooLateIsVoidAndNeverReadAgain() {
        try (CodedSpace space = servers.space(Resilience.copies(3), PAGE);
                CodedSession writer = space.openSession();
                CodedSession reader = space.openSession()) {
            writer.writeBlocking(0, MemorySegment.ofArray(bytes(0)), 0, PAGE);
            byte[] read = new byte[PAGE];
            SoftverbsFaults.delayOperations(0.3, LATE_NANOS);
            for (int i = 1; i < 12; i++) {
                byte[] page = bytes(i);
                assertEquals(CodedStatus.OK, writer.writeBlocking(0, MemorySegment.ofArray(page), 0, PAGE));
                for (int again = 0; again < 4; again++) {
                    assertEquals(CodedStatus.OK, reader.readBlocking(0, MemorySegment.ofArray(read), 0, PAGE));
                    assertArrayEquals(page, read, "write " + i);
                }
            }
            SoftverbsFaults.delayOperations(0);
            assertTrue(
                    space.health().counts().voided() > 0, () -> space.health().toString());
            CodedServers.await("all slabs are good", () -> space.health().whole());
            assertEquals(CodedStatus.OK, reader.readBlocking(0, MemorySegment.ofArray(read), 0, PAGE));
            assertArrayEquals(bytes(11), read);
        }
    }

    @Test
    void aStrictWriteWaitsForANewSlab() {
        try (CodedSpace space = servers.space(Resilience.failureRecovery(4, 2).strict(true), PAGE);
                CodedSession session = space.openSession()) {
            byte[] page = bytes(5);
            session.writeBlocking(0, MemorySegment.ofArray(page), 0, PAGE);
            servers.kill(servers.indexOf(space.slab(0, 1).region().server()));
            page = bytes(6);
            assertEquals(CodedStatus.OK, session.writeBlocking(0, MemorySegment.ofArray(page), 0, PAGE));
            assertEquals(0, space.health().counts().degraded());
            CodedServers.await("all slabs are good", () -> space.health().whole());
            byte[] read = new byte[PAGE];
            session.readBlocking(0, MemorySegment.ofArray(read), 0, PAGE);
            assertArrayEquals(page, read);
        }
    }

    @Test
    void anEarlyCallbackLeavesSplitsOwedThatNobodyReads() {
        try (CodedSpace space = servers.space(Resilience.ecOnly(4, 2), PAGE);
                CodedSession writer = space.openSession();
                CodedSession reader = space.openSession()) {
            writer.writeBlocking(0, MemorySegment.ofArray(bytes(0)), 0, PAGE);
            byte[] read = new byte[PAGE];
            SoftverbsFaults.delayOperations(0.2, 20_000_000);
            for (int i = 1; i < 100; i++) {
                byte[] page = bytes(i);
                // A blocking write would also wait for its pending splits.
                writer.write(0, MemorySegment.ofArray(page), 0, PAGE, completion, i);
                await(writer, i);
                boolean[] there = {false};
                reader.read(0, MemorySegment.ofArray(read), 0, PAGE, (token, status) -> there[0] = status == 0, 0);
                while (!there[0]) {
                    reader.poll();
                    writer.poll();
                    rest();
                }
                assertArrayEquals(page, read, "write " + i);
            }
        }
    }

    @Test
    void aBlockingWriteOwesNothingWhenItReturns() {
        try (CodedSpace space = servers.space(Resilience.ecOnly(4, 2), PAGE);
                CodedSession idle = space.openSession();
                CodedSession other = space.openSession()) {
            SoftverbsFaults.delayOperations(0.3, 20_000_000);
            for (int i = 0; i < 20; i++) {
                byte[] page = bytes(i);
                assertEquals(CodedStatus.OK, idle.writeBlocking(0, MemorySegment.ofArray(page), 0, PAGE));
                // No thread polls the first session now, but it must not hold the page.
                assertEquals(CodedStatus.OK, other.writeBlocking(0, MemorySegment.ofArray(page), 0, PAGE));
            }
        }
    }

    @Test
    void aPageThatAnIdleSessionOwesDoesNotKeepTheKeeperFromItsDuties() {
        try (CodedSpace space = servers.space(Resilience.ecOnly(4, 2), PAGE);
                CodedSession idle = space.openSession()) {
            SoftverbsFaults.delayOperations(0.3, 20_000_000);
            int written = 0;
            do {
                idle.write(0, MemorySegment.ofArray(bytes(written)), 0, PAGE, completion, written);
                await(idle, ++written);
            } while (!idle.unsettled());
            SoftverbsFaults.delayOperations(0);
            // The session is not polled any more while the keeper must regenerate a slab.
            Slab old = space.slab(0, 5);
            space.giveUp(old);
            CodedServers.await(
                    "a regeneration has begun, and was given up",
                    () -> space.slab(0, 5).generation() > 1);
            idle.drain();
            CodedServers.await("all slabs are good", () -> space.health().whole());
        }
    }

    @Test
    void aBlockingCallReturnsAtItsOwnEnd() {
        try (CodedSpace space = servers.space(Resilience.failureRecovery(4, 2), PAGE);
                CodedSession session = space.openSession()) {
            byte[] page = bytes(7);
            session.writeBlocking(0, MemorySegment.ofArray(page), 0, PAGE);
            byte[] first = new byte[PAGE];
            byte[] second = new byte[PAGE];
            SoftverbsFaults.delayOperations(20_000_000);
            session.read(
                    0,
                    MemorySegment.ofArray(first),
                    0,
                    PAGE,
                    (token, status) -> {
                        throw new UnsupportedOperationException("thrown by a callback");
                    },
                    1);
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> session.readBlocking(0, MemorySegment.ofArray(first), 0, PAGE));
            assertEquals(CodedStatus.OK, session.readBlocking(0, MemorySegment.ofArray(second), 0, PAGE));
            assertArrayEquals(page, second);
        }
    }
}
