package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.command.ServerProcess;
import io.farheap.lifetime.CloseStack;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.Slab;
import io.farheap.resilience.table.StripeWords;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/**
 * A server is stopped while it regenerates its slab, for a moment or until the slab was made elsewhere, and continues:
 * the bytes that it still stores then are in no slab that a session reads, and in no region that was granted again. A
 * session reads and writes all the time.
 */
class StoppedRebuildTest {

    private static final int DATA = 2;
    private static final int PAGE = 4096;
    private static final long SLAB_BYTES = 16 << 20;
    private static final int SPARE = 2;
    /** The number of stops; half of them last until the slab was made elsewhere. */
    private static final int ROUNDS = Effort.asked("farheap.stops", 2, 30);
    /** About the time that a rebuild takes. */
    private static final long MADE_NANOS = 30_000_000;

    private static final long MOMENT_NANOS = 50_000_000;
    /** The pause between requests, because the test waits for seconds and must not take a processor all the time. */
    private static final long PAUSE_NANOS = 50_000;

    private static final long SEED = System.nanoTime();

    private final Map<String, ServerProcess> servers = new LinkedHashMap<>();
    private final SplittableRandom random = new SplittableRandom(SEED);
    private final AtomicBoolean enough = new AtomicBoolean();

    @Test
    void whatALateServerStoresIsNobodys() throws Exception {
        try (CloseStack opened = new CloseStack()) {
            for (int i = 0; i < DATA + 2 + SPARE; i++) {
                ServerProcess server = opened.add(ServerProcess.start(
                        Devices.library(),
                        TestDevice.server(),
                        3 * SLAB_BYTES,
                        SLAB_BYTES,
                        Map.of(),
                        "--lease",
                        TestDevice.patience(60_000) + "ms"));
                servers.put(server.address(), server);
            }
            RemoteMemory memory = opened.add(RemoteMemory.open(TestDevice.client(), "stopped"));
            servers.keySet().forEach(memory::attach);
            CodedSpace space = opened.add(CodedSpace.create(
                    memory, Resilience.failureRecovery(DATA, 2), DATA * SLAB_BYTES, RemoteServer::address));
            space.leaveToServers();
            run(space);
        }
    }

    private void run(CodedSpace space) throws Exception {
        System.out.println("StoppedRebuildTest: seed " + SEED);
        byte[] bytes = new byte[(int) space.capacity()];
        random.nextBytes(bytes);
        try (CodedSession session = space.openSession()) {
            assertOk(session.writeBlocking(0, MemorySegment.ofArray(bytes), 0, bytes.length));
            FutureTask<Long> load = new FutureTask<>(() -> load(session, bytes));
            Thread thread = Thread.ofPlatform().daemon().start(load);
            try {
                for (int round = 0; round < ROUNDS; round++) {
                    stopOne(space, round);
                }
            } finally {
                enough.set(true);
                thread.join();
            }
            assertTrue(load.get() > 0);
            await("all slabs are good", () -> space.health().whole());
            for (int split = 0; split < 2; split++) {
                servers.get(space.slab(0, split).region().server().address()).kill();
            }
            byte[] all = new byte[bytes.length];
            assertOk(session.readBlocking(0, MemorySegment.ofArray(all), 0, all.length));
            assertEquals(-1, MemorySegment.ofArray(all).mismatch(MemorySegment.ofArray(bytes)));
        }
    }

    private void stopOne(CodedSpace space, int round) {
        await("all slabs are good", () -> space.health().whole());
        long before = space.health().regenerated();
        Slab old = space.slab(0, round % space.resilience().splits());
        space.giveUp(old);
        await("another is in its place", () -> space.slab(0, old.split()) != old);
        Slab next = space.slab(0, old.split());
        ServerProcess making = servers.get(next.region().server().address());
        await(
                "it has begun, or is made",
                () -> StripeWords.held(space.words().look(0)) || space.health().regenerated() > before);
        LockSupport.parkNanos(random.nextLong(MADE_NANOS));
        making.suspend();
        try {
            if (round % 2 == 0) {
                LockSupport.parkNanos(MOMENT_NANOS);
            } else {
                await(
                        "it is made elsewhere, or was made before",
                        () -> space.health().regenerated() > before);
            }
        } finally {
            making.resume();
        }
        await("the slab is made", () -> space.health().regenerated() > before);
    }

    /** Reads each page before it writes it; one thread does both, so it knows the page's content. */
    private long load(CodedSession session, byte[] bytes) {
        MemorySegment all = MemorySegment.ofArray(bytes);
        SplittableRandom pages = random.split();
        byte[] page = new byte[PAGE];
        MemorySegment one = MemorySegment.ofArray(page);
        long count = 0;
        for (; !enough.get(); count++) {
            long at = (long) pages.nextInt(bytes.length / PAGE) * PAGE;
            assertOk(session.readBlocking(at, one, 0, PAGE));
            assertEquals(-1, one.mismatch(all.asSlice(at, PAGE)), () -> "page at " + at);
            pages.nextBytes(page);
            MemorySegment.copy(one, 0, all, at, PAGE);
            assertOk(session.writeBlocking(at, one, 0, PAGE));
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return count;
    }

    private static void assertOk(int status) {
        assertEquals("ok", CodedStatus.describe(status));
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "waited too long for: " + what);
            LockSupport.parkNanos(50_000);
        }
    }
}
