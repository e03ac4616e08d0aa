package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.Slab;
import io.farheap.thread.ThreadJoiner;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A space that grows while it is used, and while slabs are lost and regenerated. */
class GrowthTest {

    private static final Resilience CODE = Resilience.failureRecovery(2, 2);
    private static final int RANGE_BYTES = (int) (2 * CodedServers.REGION_BYTES);
    private static final int MOST_BYTES = 10_000;

    /** One session, which reads and writes the space in its present size, and a copy of the bytes that it wrote. */
    private static final class Load implements AutoCloseable {
        private final CodedSession session;
        private final byte[] shadow;
        private final SplittableRandom random;
        private volatile int end;
        private volatile boolean stops;
        private volatile long done;
        private final CompletableFuture<Void> running;

        Load(CodedSpace space, int ranges, long seed) {
            session = space.openSession();
            shadow = new byte[ranges * RANGE_BYTES];
            random = new SplittableRandom(seed);
            end = (int) space.capacity();
            running = began(this::run);
        }

        private void run() {
            while (!stops) {
                int length = 1 + random.nextInt(MOST_BYTES);
                int at = random.nextInt(end - length + 1);
                byte[] bytes = new byte[length];
                if (random.nextBoolean()) {
                    random.nextBytes(bytes);
                    System.arraycopy(bytes, 0, shadow, at, length);
                    assertOk(session.writeBlocking(at, MemorySegment.ofArray(bytes), 0, length));
                } else {
                    assertRead(at, length);
                }
                done++;
            }
        }

        private void assertRead(int at, int length) {
            byte[] bytes = new byte[length];
            assertOk(session.readBlocking(at, MemorySegment.ofArray(bytes), 0, length));
            assertArrayEquals(Arrays.copyOfRange(shadow, at, at + length), bytes, "from " + at);
        }

        /** Makes some more requests to the space as it is, and then continues with the larger one. */
        void end(long bytes) {
            long before = done;
            CodedServers.await("some requests", () -> done > before + 20 || running.isDone());
            end = (int) bytes;
        }

        /** Ends the load, and checks that all bytes are as written. */
        void check() {
            stops = true;
            running.join();
            assertRead(0, end);
        }

        @Override
        public void close() {
            stops = true;
            // An exception of the load is thrown by check.
            running.handle((nothing, thrown) -> null).join();
            session.close();
        }
    }

    /** Starts a task on a thread of its own. */
    private static CompletableFuture<Void> began(Runnable task) {
        return CompletableFuture.runAsync(
                task, runnable -> Thread.ofPlatform().daemon().start(runnable));
    }

    private static void assertOk(int status) {
        assertEquals("ok", CodedStatus.describe(status));
    }

    @Test
    void whatIsNewIsZeroAndAsResilientAsTheRest() {
        long seed = System.nanoTime();
        try (CodedServers servers = new CodedServers(6, 8);
                CodedSpace space = servers.space(CODE, 1);
                Load load = new Load(space, 4, seed);
                CodedSession session = space.openSession()) {
            assertEquals(RANGE_BYTES, space.capacity());
            for (int ranges = 2; ranges <= 4; ranges++) {
                space.grow((long) (ranges - 1) * RANGE_BYTES + 1);
                assertEquals((long) ranges * RANGE_BYTES, space.capacity(), "seed " + seed);
                assertEquals(4 * ranges, space.health().slabs());
                assertEquals(4, space.serversOf(ranges - 1).stream().distinct().count());
                MemorySegment added = MemorySegment.ofArray(new byte[RANGE_BYTES]);
                added.fill((byte) 1);
                assertOk(session.readBlocking((long) (ranges - 1) * RANGE_BYTES, added, 0, RANGE_BYTES));
                assertEquals(-1, added.mismatch(MemorySegment.ofArray(new byte[RANGE_BYTES])), "seed " + seed);
                load.end(space.capacity());
                if (ranges == 3) {
                    servers.kill(servers.indexOf(space.serversOf(2).getFirst()));
                    servers.kill(servers.indexOf(space.serversOf(0).getLast()));
                }
            }
            load.end(space.capacity());
            CodedServers.await("all slabs are good", () -> servers.whole(space));
            load.check();
            assertEquals(2, space.health().mayLose());
            // Growing to the present size, or to a smaller one, changes nothing.
            space.grow(space.capacity());
            space.grow(1);
            assertEquals(4L * RANGE_BYTES, space.capacity());
        }
    }

    /** Slabs are replaced while the table is copied: no slab may be replaced in the old table alone. */
    @Test
    void slabsAreMadeAnewMeanwhile() {
        long seed = System.nanoTime();
        int most = 30;
        try (CodedServers servers = new CodedServers(5, 40);
                CodedSpace space = servers.space(CODE, 1);
                Load load = new Load(space, most, seed)) {
            AtomicBoolean enough = new AtomicBoolean();
            Thread doubter = Thread.ofPlatform().daemon().start(() -> {
                SplittableRandom random = new SplittableRandom(seed);
                while (!enough.get()) {
                    Slab slab = space.slab(0, random.nextInt(4));
                    if (slab.isGood()) {
                        space.giveUp(slab);
                    }
                }
            });
            try {
                for (int ranges = 2; ranges <= most; ranges++) {
                    long before = space.health().regenerated();
                    CodedServers.await(
                            "a slab is made anew", () -> space.health().regenerated() > before);
                    space.grow((long) ranges * RANGE_BYTES);
                    load.end(space.capacity());
                }
            } finally {
                enough.set(true);
                ThreadJoiner.join(doubter);
            }
            CodedServers.await("all slabs are good", () -> space.health().whole());
            load.check();
        }
    }

    @Test
    void whereThereIsNoRoomNothingChanges() {
        try (CodedServers servers = new CodedServers(4, 2);
                CodedSpace space = servers.space(CODE, 1)) {
            String message = assertThrows(IllegalArgumentException.class, () -> space.grow(3L * RANGE_BYTES))
                    .getMessage();
            assertTrue(message.contains("there are 0 for range 2 of 2"), message);
            assertEquals(RANGE_BYTES, space.capacity());
            for (int server = 0; server < 4; server++) {
                assertEquals(1, servers.freeRegions(server));
            }
            assertThrows(IllegalArgumentException.class, () -> space.grow(0));
            space.grow(2L * RANGE_BYTES);
            assertEquals(2L * RANGE_BYTES, space.capacity());
            space.close();
            assertThrows(RuntimeException.class, () -> space.grow(3L * RANGE_BYTES));
        }
    }

    /** A server that is leaving gets no new slabs, and keeps none. */
    @Test
    void aServerThatLeavesGetsNothingNew() {
        long seed = System.nanoTime();
        try (CodedServers servers = new CodedServers(6, 8);
                CodedSpace space = servers.space(CODE, 1);
                Load load = new Load(space, 4, seed)) {
            List<RemoteServer> first = space.serversOf(0);
            CompletableFuture<Void> retired = began(() -> space.retire(first.getFirst(), () -> {}));
            for (int ranges = 2; ranges <= 4; ranges++) {
                space.grow((long) ranges * RANGE_BYTES);
                load.end(space.capacity());
            }
            retired.join();
            // If the growth came first, the server may have received a slab, which has left again.
            assertEquals(0, space.slabsAt(first.getFirst()), "seed " + seed);
            assertEquals(8, servers.freeRegions(servers.indexOf(first.getFirst())));
            load.end(space.capacity());
            CodedServers.await("all slabs are good", () -> space.health().whole());
            load.check();
        }
    }
}
