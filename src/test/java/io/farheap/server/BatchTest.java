package io.farheap.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import io.farheap.control.RegionGrant;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Batches between clients and a memory server's threads. */
@Tag("optimised")
class BatchTest {

    private static final int REGION = 64 << 10;
    private static final int REGIONS = 4;
    private static final long LEASE = 300_000_000_000L;

    private ServerPlane server;

    private ServerPlane start(int threads, Idle idle) {
        server = ServerPlane.open(new ServerOptions(
                (long) REGION * REGIONS, REGION, LEASE, TestDevice.server(), "test", threads, false, idle));
        return server;
    }

    @AfterEach
    void stop() {
        server.close();
    }

    /**
     * Random reads and writes of every length at every alignment, many in flight, have the results and the order of a
     * model.
     */
    @ParameterizedTest(name = "q = {0}, b = {1}")
    @CsvSource({"1, 1", "1, 64", "3, 16", "16, 7", "8, 256"})
    void requestsTakeEffectInOrder(int queueDepth, int batch) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        start(1, Idle.PARK);
        try (BatchClient client = new BatchClient(server, new RingShape(queueDepth, batch), 1)) {
            BatchConnection batches = client.batches;
            int region = client.allocate().regionId();
            byte[] model = new byte[REGION];
            long[] places = new long[batches.entries()];
            byte[][] expected = new byte[batches.entries()][];
            // With few requests in flight the test makes few: each round trip may cost a turn of the scheduler.
            int operations = Effort.count(Math.min(20_000, 1_000 * batches.entries()));
            for (int i = 0; i < operations; i++) {
                while (!batches.hasRoom()) {
                    batches.send();
                    batches.receive();
                    check(client, expected, places, seed);
                    Thread.yield();
                }
                int bytes = 1 + random.nextInt(batches.recordBytes());
                int offset = random.nextInt(REGION - bytes + 1);
                // A place is used again only after its request is finished.
                long at = (long) (i % batches.entries()) * BatchFormat.padded(batches.recordBytes());
                if (random.nextBoolean()) {
                    byte[] payload = new byte[bytes];
                    for (int b = 0; b < bytes; b++) {
                        payload[b] = (byte) random.nextInt();
                    }
                    System.arraycopy(payload, 0, model, offset, bytes);
                    MemorySegment.copy(payload, 0, client.memory(), JAVA_BYTE, at, bytes);
                    int entry = random.nextBoolean()
                            ? batches.addWrite(region, offset, bytes, client.address() + at)
                            : batches.addWrite(region, offset, MemorySegment.ofArray(payload));
                    expected[entry] = null;
                    client.memory().asSlice(at, bytes).fill((byte) 0);
                } else {
                    int entry = batches.addRead(region, offset, bytes, client.address() + at);
                    expected[entry] = java.util.Arrays.copyOfRange(model, offset, offset + bytes);
                    places[entry] = at;
                }
                if (batches.isFull() || random.nextInt(16) == 0) {
                    batches.send();
                }
            }
            client.drain();
            check(client, expected, places, seed);
            assertTrue(batches.isIdle());
        }
    }

    /** Otherwise a migration would wait for a request that was withdrawn and made in another way. */
    @Test
    void aMarkIsReachedWhereWhatWasBeforeItIsWithdrawn() {
        start(1, Idle.SPIN);
        try (BatchClient client = new BatchClient(server, new RingShape(2, 4), 1)) {
            int region = client.allocate().regionId();
            client.batches.addRead(region, 0, 8, client.address());
            long mark = client.batches.mark();
            assertFalse(client.batches.answered(mark));
            client.batches.withdraw();
            assertTrue(client.batches.answered(mark));
            client.batches.addRead(region, 0, 8, client.address());
            assertFalse(client.batches.answered(client.batches.mark()));
            client.drain();
        }
    }

    /**
     * A client that goes to sleep again and again before it takes answers must not use up the places of the answers
     * that it has not taken.
     */
    @Test
    void wakeUpsTakeNoPlaces() {
        start(1, Idle.SPIN);
        try (BatchClient client = new BatchClient(server, new RingShape(1, 4), 1)) {
            int region = client.allocate().regionId();
            for (int round = 0; round < 100; round++) {
                client.batches.addRead(region, 0, 8, client.address());
                client.batches.addRead(region, 8, 8, client.address() + 8);
                for (int asked = 0; asked < 20; asked++) {
                    client.batches.requestWakeUp();
                    Thread.yield();
                }
                while (!client.batches.isAnswered()) {
                    client.batches.receive();
                }
                assertEquals(2, client.batches.ready());
                client.batches.finish(2);
                assertEquals(0, client.batches.ready());
            }
        }
    }

    private static void check(BatchClient client, byte[][] expected, long[] places, long seed) {
        while (client.batches.ready() > 0) {
            int entry = client.batches.head();
            assertTrue(client.batches.succeeded());
            if (expected[entry] != null) {
                assertArrayEquals(
                        expected[entry],
                        client.memory()
                                .asSlice(places[entry], expected[entry].length)
                                .toArray(JAVA_BYTE),
                        "seed " + seed);
            }
            client.batches.finish(1);
        }
    }

    @Test
    void aReadWithoutAnAddressIsFetchedLater() {
        start(1, Idle.PARK);
        try (BatchClient client = new BatchClient(server, new RingShape(2, 16), 1)) {
            int region = client.allocate().regionId();
            client.memory().set(JAVA_LONG, 0, 42);
            assertEquals(0, client.write(region, 8, 8, 0));
            int entry = client.batches.addRead(region, 8, 8, 0);
            client.drain();
            byte[] heap = new byte[8];
            assertEquals(1, client.batches.ready());
            client.batches.copyTo(entry, MemorySegment.ofArray(heap));
            assertEquals(42, heap[0]);
        }
    }

    /** Requests for others' regions, and for regions given back, are refused; the rest of the batch is served. */
    @Test
    void aRegionThatIsNotHeldIsRefused() {
        start(2, Idle.PARK);
        try (BatchClient client = new BatchClient(server, new RingShape(2, 64), 2);
                BatchClient other = new BatchClient(server, new RingShape(2, 64), 2)) {
            int mine = client.allocate().regionId();
            int theirs = other.allocate().regionId();
            int returned = client.allocate().regionId();
            server.release(client.lease.id(), returned);
            other.memory().set(JAVA_LONG, 0, 7);
            assertEquals(0, other.write(theirs, 0, 8, 0));

            client.memory().set(JAVA_LONG, 0, 1);
            client.memory().set(JAVA_LONG, 8, -1);
            client.batches.addWrite(theirs, 0, 8, client.address());
            client.batches.addWrite(mine, 0, 8, client.address());
            client.batches.addRead(theirs, 0, 8, client.address() + 8);
            client.batches.addRead(returned, 0, 8, client.address() + 8);
            client.batches.addRead(REGIONS, 0, 8, client.address() + 8);
            client.batches.addRead(-1, 0, 8, client.address() + 8);
            client.batches.addRead(mine, 0, 8, client.address() + 16);
            client.drain();
            List<Integer> statuses = new ArrayList<>();
            while (client.batches.ready() > 0) {
                assertFalse(client.batches.succeeded());
                statuses.add((int) client.batches.status(client.batches.head()));
                client.batches.finish(1);
            }
            int no = BatchFormat.NOT_HELD;
            assertEquals(List.of(no, 0, no, no, no, no, 0), statuses);
            assertEquals(0, client.memory().get(JAVA_LONG, 8), "nothing of another's region");
            assertEquals(1, client.memory().get(JAVA_LONG, 16));
            assertEquals(0, other.read(theirs, 0, 8, 8));
            assertEquals(7, other.memory().get(JAVA_LONG, 8), "the other's region is as it was");
        }
    }

    @Test
    void manyConnectionsShareAThread() {
        start(2, Idle.PARK);
        List<BatchClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < REGIONS; i++) {
                clients.add(new BatchClient(server, new RingShape(4, 32), 2));
            }
            List<RegionGrant> regions =
                    clients.stream().map(BatchClient::allocate).toList();
            for (int round = 0; round < 200; round++) {
                for (int i = 0; i < REGIONS; i++) {
                    clients.get(i).memory().set(JAVA_LONG, 0, 1000 * round + i);
                    clients.get(i)
                            .batches
                            .addWrite(
                                    regions.get(i).regionId(),
                                    8 * round,
                                    8,
                                    clients.get(i).address());
                    clients.get(i)
                            .batches
                            .addRead(
                                    regions.get(i).regionId(),
                                    8 * round,
                                    8,
                                    clients.get(i).address() + 8);
                    clients.get(i).batches.send();
                }
                for (int i = 0; i < REGIONS; i++) {
                    clients.get(i).drain();
                    assertEquals(0, clients.get(i).finishAll());
                    assertEquals(1000 * round + i, clients.get(i).memory().get(JAVA_LONG, 8));
                }
            }
        } finally {
            clients.forEach(BatchClient::close);
        }
    }

    /** However the thread waits, it finds the next batch; one that parks uses no processor meanwhile. */
    @ParameterizedTest
    @EnumSource(Idle.class)
    void anIdleThreadWakesUp(Idle idle) throws InterruptedException {
        start(1, idle);
        try (BatchClient client = new BatchClient(server, new RingShape(2, 8), 1)) {
            int region = client.allocate().regionId();
            for (int i = 0; i < 20; i++) {
                client.memory().set(JAVA_LONG, 0, i);
                assertEquals(0, client.write(region, 0, 8, 0));
                assertEquals(0, client.read(region, 0, 8, 8));
                assertEquals(i, client.memory().get(JAVA_LONG, 8));
                if (idle == Idle.PARK) {
                    awaitNoCpu();
                }
            }
        }
    }

    private static void awaitNoCpu() throws InterruptedException {
        for (int i = 0; i < 1_200; i++) {
            long used = cpuOfServerThreads();
            Thread.sleep(50);
            if (used == cpuOfServerThreads()) {
                return;
            }
        }
        fail("an idle thread uses the processor all the time");
    }

    private static long cpuOfServerThreads() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long nanos = 0;
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("farheap-srv-")) {
                nanos += Math.max(0, threads.getThreadCpuTime(thread.threadId()));
            }
        }
        return nanos;
    }

    /** When disconnect returns, no batch takes effect any more, and the client notices that. */
    @Test
    void disconnectIsAFence() {
        start(1, Idle.PARK);
        try (BatchClient client = new BatchClient(server, new RingShape(4, 8), 1);
                BatchClient second = new BatchClient(server, new RingShape(4, 8), 1)) {
            int region = client.allocate().regionId();
            assertEquals(0, client.write(region, 0, 8, 0));
            server.disconnect(client.lease.id(), client.connected.connectionId());
            client.memory().set(JAVA_LONG, 0, 5);
            client.batches.addWrite(region, 0, 8, client.address());
            client.drain();
            assertTrue(client.batches.failed());
            assertEquals(BatchConnection.LOST, client.finishAll());
            assertFalse(client.batches.hasRoom());
            int other = second.allocate().regionId();
            assertEquals(0, second.write(other, 0, 8, 0));
        }
    }

    @Test
    @Needs(Need.HOST)
    void servingAllocatesNothing() {
        // Falling asleep and waking up allocate, more often on a busy machine; requests do not.
        start(1, Idle.SPIN);
        try (BatchClient client = new BatchClient(server, new RingShape(4, 64), 1)) {
            int region = client.allocate().regionId();
            run(client, region);
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            // The JVM counts allocation buffers, and a compilation may deoptimise once.
            long least = Long.MAX_VALUE;
            for (int round = 0; round < 20 && least > 0; round++) {
                long server = allocatedByServerThreads();
                long mine = threads.getCurrentThreadAllocatedBytes();
                run(client, region);
                mine = threads.getCurrentThreadAllocatedBytes() - mine;
                least = Math.min(least, mine + allocatedByServerThreads() - server);
            }
            assertEquals(0, least, "bytes in the round that allocated least");
        }
    }

    private static void run(BatchClient client, int region) {
        for (int i = 0; i < 200_000; i++) {
            while (!client.batches.hasRoom()) {
                client.batches.send();
                client.batches.receive();
                client.finishAll();
            }
            if ((i & 1) == 0) {
                client.batches.addRead(region, (i * 16) & REGION - 64, 16, client.address() + 64);
            } else {
                client.batches.addWrite(region, (i * 16) & REGION - 64, 16, client.address());
            }
        }
        client.drain();
        client.finishAll();
    }

    private static long allocatedByServerThreads() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytes = 0;
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("farheap-srv-")) {
                bytes += Math.max(0, threads.getThreadAllocatedBytes(thread.threadId()));
            }
        }
        return bytes;
    }
}
