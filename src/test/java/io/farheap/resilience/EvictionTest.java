package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** If servers are short of memory, clients give slabs back and regenerate them elsewhere; no byte is wrong. */
class EvictionTest {

    private static final int PAGE = 4096;
    private static final Resilience CODE = Resilience.failureRecovery(4, 2);

    /** One thread that writes and reads random pages, and a copy of the bytes that it wrote. */
    private static final class Load implements AutoCloseable {
        private final CodedSpace space;
        private final byte[] copy;
        private final SplittableRandom random;
        private final AtomicBoolean stopped = new AtomicBoolean();
        private final Thread thread;
        private volatile Throwable failure;
        volatile int least = Integer.MAX_VALUE;

        Load(CodedSpace space, long seed) {
            this.space = space;
            this.random = new SplittableRandom(seed);
            this.copy = new byte[(int) space.capacity()];
            this.thread = Thread.ofPlatform().start(this::run);
        }

        private void run() {
            try (CodedSession session = space.openSession()) {
                while (!stopped.get()) {
                    step(session);
                    least = Math.min(least, space.health().mayLose());
                }
                byte[] all = new byte[copy.length];
                assertEquals(CodedStatus.OK, session.readBlocking(0, MemorySegment.ofArray(all), 0, all.length));
                assertArrayEquals(copy, all);
            } catch (Throwable e) {
                failure = e;
            }
        }

        private void step(CodedSession session) {
            byte[] bytes = new byte[random.nextInt(1, 2 * PAGE)];
            int at = random.nextInt(copy.length - bytes.length);
            if (random.nextBoolean()) {
                random.nextBytes(bytes);
                assertEquals(CodedStatus.OK, session.writeBlocking(at, MemorySegment.ofArray(bytes), 0, bytes.length));
                System.arraycopy(bytes, 0, copy, at, bytes.length);
            } else {
                assertEquals(CodedStatus.OK, session.readBlocking(at, MemorySegment.ofArray(bytes), 0, bytes.length));
                assertArrayEquals(java.util.Arrays.copyOfRange(copy, at, at + bytes.length), bytes);
            }
        }

        @Override
        public void close() throws InterruptedException {
            stopped.set(true);
            thread.join();
            if (failure != null) {
                throw new AssertionError("the load failed", failure);
            }
        }
    }

    private static boolean has(CodedSpace space, RemoteServer server) {
        return space.slabsAt(server) > 0;
    }

    @Test
    void aSlabGoesElsewhereWhereItsServersMachineIsShortOfMemory() throws InterruptedException {
        try (CodedServers servers = CodedServers.withHeadroom(8, 1);
                CodedSpace space = servers.space(CODE, PAGE)) {
            try (Load load = new Load(space, 1)) {
                int pressed = servers.indexOf(space.serverOf(2));
                servers.machine(pressed).wants(1);
                CodedServers.await(
                        "its slab is gone", () -> !has(space, servers.attached.get(pressed)) && servers.whole(space));
                CodedServers.await(
                        "the machine has the memory",
                        () -> servers.status(pressed).withdrawnRegions() == 1);
                assertEquals(1, servers.status(pressed).headroom().evictedRegions());
                servers.machine(pressed).othersHave(0);
                CodedServers.await("it has room again", () -> servers.freeRegions(pressed) == 1);
                assertTrue(load.least >= 1, "one slab at a time: " + load.least);
            }
            assertEquals(1, space.health().evicted());
            assertEquals(1, space.health().regenerated());
        }
    }

    @Test
    void whereThereIsNoOtherPlaceTheSlabStays() throws InterruptedException {
        try (CodedServers servers = CodedServers.withHeadroom(6, 1);
                CodedSpace space = servers.space(CODE, PAGE);
                Load load = new Load(space, 2)) {
            servers.machine(0).wants(1);
            CodedServers.await(
                    "it was asked for in vain",
                    () -> space.health().latestTrouble().contains("no server of a free domain has room"));
            assertEquals(0, space.health().evicted());
            assertTrue(space.health().whole());
            RemoteServer added = servers.add(1);
            CodedServers.await(
                    "it goes to a new server",
                    () -> has(space, added) && space.health().whole());
            assertEquals(2, space.health().mayLose());
        }
    }

    @Test
    void withoutParityNothingIsOffered() {
        try (CodedServers servers = CodedServers.withHeadroom(3, 1);
                CodedSpace space = servers.space(Resilience.copies(1), PAGE)) {
            int server = servers.indexOf(space.serverOf(0));
            servers.machine(server).wants(1);
            CodedServers.await(
                    "the server has looked",
                    () -> servers.status(server).headroom().freeBytes() < CodedServers.REGION_BYTES * 16);
            int looks = servers.machine(server).looks();
            // Clients report their use as often as the server looks at its machine.
            CodedServers.await("again and again", () -> servers.machine(server).looks() > looks + 10);
            assertEquals(0, servers.status(server).headroom().askedRegions());
            assertTrue(has(space, servers.attached.get(server)));
        }
    }

    @Test
    void evictionsAndDeathsMeet() throws InterruptedException {
        long seed = new SplittableRandom().nextLong();
        System.out.println("EvictionTest.evictionsAndDeathsMeet: seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        try (CodedServers servers = CodedServers.withHeadroom(12, 2);
                CodedSpace space = servers.space(CODE, 8 * CodedServers.REGION_BYTES);
                Load load = new Load(space, seed)) {
            for (int round = 0; round < 3; round++) {
                List<RemoteServer> used = space.serversOf(round % 2);
                int pressed = servers.indexOf(used.get(random.nextInt(3)));
                int dying = servers.indexOf(used.get(3 + random.nextInt(3)));
                servers.machine(pressed).wants(2);
                if (random.nextBoolean()) {
                    CodedServers.await(
                            "one is asked for",
                            () -> servers.status(pressed).headroom().askedRegions() > 0
                                    || servers.status(pressed).withdrawnRegions() > 0);
                }
                servers.kill(dying);
                CodedServers.await(
                        "nothing is left there",
                        () -> !has(space, servers.attached.get(pressed)) && servers.whole(space));
                servers.machine(pressed).othersHave(0);
                CodedServers.await("it has room again", () -> servers.freeRegions(pressed) == 2);
            }
            assertTrue(load.least >= 0, "never fewer than k: " + load.least);
            assertTrue(space.health().evicted() >= 1, () -> space.health().toString());
        }
    }
}
