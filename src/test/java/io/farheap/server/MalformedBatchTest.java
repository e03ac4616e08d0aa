package io.farheap.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.plane.RingRequest;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.WcStatus;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Clients write arbitrary bytes into their message rings: they lose that connection, change no memory, and other
 * clients are not affected.
 */
class MalformedBatchTest {

    private static final int HEADER = BatchFormat.HEADER_BYTES;
    private static final int CHECKSUM = 16;
    private static final int REGION = 64 << 10;
    private static final int REGIONS = 4;
    private static final long LEASE = 300_000_000_000L;

    private ServerPlane server;
    private BatchClient good;
    private int goodRegion;

    @BeforeEach
    void start() {
        server = ServerPlane.open(new ServerOptions(
                (long) REGION * REGIONS, REGION, LEASE, TestDevice.server(), "test", 1, false, Idle.BACK_OFF));
        good = new BatchClient(server, new RingShape(4, 32), 1);
        goodRegion = good.allocate().regionId();
        fillGood();
    }

    @AfterEach
    void stop() {
        good.close();
        server.close();
    }

    private void fillGood() {
        for (int at = 0; at < REGION; at += 8) {
            good.memory().set(JAVA_LONG, 0, at + 1);
            while (!good.batches.hasRoom()) {
                good.drain();
                good.finishAll();
            }
            good.batches.addWrite(goodRegion, at, 8, good.address());
        }
        good.drain();
        assertEquals(0, good.finishAll());
    }

    /** The other client is served, and its region holds the bytes that it wrote. */
    private void assertGoodIsWell(SplittableRandom random) {
        int at = 8 * random.nextInt(REGION / 8);
        good.memory().set(JAVA_LONG, 0, at + 1);
        assertEquals(0, good.write(goodRegion, at, 8, 0));
        int look = 8 * random.nextInt(REGION / 8);
        assertEquals(0, good.read(goodRegion, look, 8, 8));
        assertEquals(look + 1, good.memory().get(JAVA_LONG, 8));
    }

    private static void assertUntouched(HostileClient client, RegionGrant region) {
        int bytes = HostileClient.SHAPE.requestSlotBytes();
        assertEquals(WcStatus.SUCCESS, client.read(region, bytes));
        for (int at = 0; at < bytes / 8 * 8; at += 8) {
            assertEquals(
                    0, client.message().get(JAVA_LONG, at), "byte " + at + " of a region that no good batch wrote to");
        }
    }

    private interface Attack {
        void prepare(HostileClient client, int region);
    }

    /** Every field wrong in turn, under a checksum that is right. */
    @Test
    void aMalformedBatchEndsItsConnection() throws InterruptedException {
        int slot = HostileClient.SHAPE.requestSlotBytes();
        int record = HostileClient.SHAPE.recordBytes();
        Map<String, Attack> attacks = new LinkedHashMap<>();
        attacks.put("a sequence ahead", (c, r) -> c.seal(2, c.put(HEADER, BatchFormat.WRITE, r, 8, 0, 8), 1, 0));
        attacks.put("a negative sequence", (c, r) -> c.seal(-1, c.put(HEADER, BatchFormat.WRITE, r, 8, 0, 8), 1, 0));
        attacks.put("too many requests", (c, r) -> c.seal(1, HEADER + 33 * 16, 33, 0));
        attacks.put(
                "more requests than bytes", (c, r) -> c.seal(1, c.put(HEADER, BatchFormat.WRITE, r, 8, 0, 8), 2, 0));
        attacks.put(
                "fewer requests than bytes",
                (c, r) -> c.seal(1, c.put(HEADER, BatchFormat.WRITE, r, 8, 0, 8) + 16, 1, 0));
        attacks.put("a length beyond the slot", (c, r) -> c.seal(1, slot + 8, 1, 0));
        attacks.put("a negative length", (c, r) -> c.seal(1, -8, 1, 0));
        attacks.put("a length below the header", (c, r) -> c.seal(1, 16, 0, 0));
        attacks.put("an unknown flag", (c, r) -> c.seal(1, c.put(HEADER, BatchFormat.WRITE, r, 8, 0, 8), 1, 2));
        attacks.put("no operation", (c, r) -> c.seal(1, c.put(HEADER, 0, r, 8, 0, 0), 1, 0));
        attacks.put("an unknown operation", (c, r) -> c.seal(1, c.put(HEADER, 255, r, 8, 0, 8), 1, 0));
        attacks.put("a write of nothing", (c, r) -> c.seal(1, c.put(HEADER, BatchFormat.WRITE, r, 0, 0, 0), 1, 0));
        attacks.put(
                "a record too long",
                (c, r) -> c.seal(1, c.put(HEADER, BatchFormat.WRITE, r, record + 1, 0, record + 8), 1, 0));
        attacks.put(
                "the longest record", (c, r) -> c.seal(1, c.put(HEADER, BatchFormat.READ, r, 0xFFFFFF, 0, 0), 1, 0));
        attacks.put(
                "an offset beyond the region",
                (c, r) -> c.seal(1, c.put(HEADER, BatchFormat.WRITE, r, 8, REGION - 7, 8), 1, 0));
        attacks.put(
                "an offset of another region",
                (c, r) -> c.seal(1, c.put(HEADER, BatchFormat.WRITE, r, 8, REGION, 8), 1, 0));
        attacks.put("a negative offset", (c, r) -> c.seal(1, c.put(HEADER, BatchFormat.WRITE, r, 8, -8, 8), 1, 0));
        attacks.put(
                "the largest offset",
                (c, r) -> c.seal(1, c.put(HEADER, BatchFormat.WRITE, r, 8, Long.MAX_VALUE, 8), 1, 0));
        attacks.put("a payload longer than the batch", (c, r) -> {
            c.put(HEADER, BatchFormat.WRITE, r, 64, 0, 64);
            c.seal(1, HEADER + 16 + 56, 1, 0);
        });
        attacks.put(
                "a good write before a bad one",
                (c, r) -> c.seal(
                        1, c.put(c.put(HEADER, BatchFormat.WRITE, r, 8, 0, 8), BatchFormat.WRITE, r, 8, -8, 8), 2, 0));
        attacks.put("a wrong checksum", (c, r) -> {
            c.seal(1, c.put(HEADER, BatchFormat.WRITE, r, 8, 0, 8), 1, 0);
            c.message().set(JAVA_LONG, 16, c.message().get(JAVA_LONG, 16) ^ 1);
        });
        SplittableRandom random = new SplittableRandom();
        // All attacks run at the same time, because the server gives each a second to become whole.
        Map<String, HostileClient> clients = new LinkedHashMap<>();
        try (HostileClient first = new HostileClient(server)) {
            RegionGrant region = server.allocate(first.lease.id(), 1).getFirst();
            attacks.forEach((name, attack) -> {
                HostileClient client = new HostileClient(first);
                clients.put(name, client);
                attack.prepare(client, region.regionId());
                assertEquals(WcStatus.SUCCESS, client.send(), name);
            });
            for (Map.Entry<String, HostileClient> client : clients.entrySet()) {
                assertGoodIsWell(random);
                client.getValue().awaitEnd();
                assertFalse(client.getValue().answered(), client.getKey());
            }
            assertUntouched(first, region);
            assertGoodIsWell(random);
            // The same batch without errors is served, so each attack failed because of its error.
            first.seal(1, first.put(HEADER, BatchFormat.WRITE, region.regionId(), 8, 0, 8), 1, 0);
            assertEquals(WcStatus.SUCCESS, first.send());
            awaitAnswer(first);
            assertEquals(WcStatus.SUCCESS, first.read(region, 8));
            assertEquals(0x5555555555555555L, first.message().get(JAVA_LONG, 0));
        } finally {
            clients.values().forEach(HostileClient::close);
        }
    }

    private static void awaitAnswer(HostileClient client) throws InterruptedException {
        for (int i = 0; i < 6_000 && !client.answered(); i++) {
            Thread.sleep(10);
        }
        assertTrue(client.answered());
    }

    /**
     * Random bytes, and good batches with random bytes changed, written over and over while the server looks at them.
     */
    @Test
    void randomBytesAreNeverExecuted() throws InterruptedException {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        try (HostileClient first = new HostileClient(server)) {
            RegionGrant region = server.allocate(first.lease.id(), 1).getFirst();
            for (int round = 0; round < Effort.either(1, 3); round++) {
                try (HostileClient client = new HostileClient(first)) {
                    int written = 0;
                    while (client.send() == WcStatus.SUCCESS) {
                        assertFalse(client.answered(), "a batch that is not good was answered; seed " + seed);
                        scramble(client, region.regionId(), random);
                        if (++written % 64 == 0) {
                            assertGoodIsWell(random);
                        }
                    }
                    assertTrue(written > 0 && !client.answered(), "seed " + seed);
                }
                assertUntouched(first, region);
                assertGoodIsWell(random);
            }
        }
    }

    private static void scramble(HostileClient client, int region, SplittableRandom random) {
        int count = 1 + random.nextInt(32);
        int bytes = HEADER;
        for (int i = 0; i < count; i++) {
            int length = 1 + random.nextInt(HostileClient.SHAPE.recordBytes());
            boolean write = random.nextInt(4) > 0;
            bytes = client.put(
                    bytes,
                    write ? BatchFormat.WRITE : BatchFormat.READ,
                    region,
                    length,
                    random.nextInt(REGION),
                    write ? BatchFormat.padded(length) : 0);
        }
        client.seal(1, bytes, count, 0);
        long good = client.message().get(JAVA_LONG, CHECKSUM);
        int from = random.nextBoolean() ? 0 : 8;
        int changed = random.nextInt(4) == 0 ? bytes - from : 1;
        for (int i = 0; i < changed; i++) {
            int at = from + random.nextInt(changed == 1 && random.nextBoolean() ? HEADER - from : bytes - from);
            client.message().set(JAVA_BYTE, at, (byte) (client.message().get(JAVA_BYTE, at) + 1 + random.nextInt(255)));
        }
        // The next message overwrites this one word by word: the two must not make up a good batch together.
        client.message().set(JAVA_LONG, CHECKSUM, good ^ (random.nextLong() | 1));
    }

    /** A client chooses the address of its answers; a server that cannot write there gives up that connection. */
    @Test
    void anAddressThatCannotBeWrittenEndsTheConnection() throws InterruptedException {
        SplittableRandom random = new SplittableRandom();
        try (HostileClient client = new HostileClient(server)) {
            int region = server.allocate(client.lease.id(), 1).getFirst().regionId();
            client.connect(1L << 40);
            client.seal(1, client.put(HEADER, BatchFormat.READ, region, 8, 0, 0), 1, 0);
            client.send();
            client.awaitEnd();
            assertGoodIsWell(random);
        }
    }

    @Test
    void ringsOutOfBoundsAreRefused() {
        try (HostileClient client = new HostileClient(server)) {
            for (int[] wrong : new int[][] {
                {0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {-1, 1, 1}, {1, -1, 1}, {1, 1, -1}, {1 << 20, 1, 1}, {1, 1 << 20, 1}
            }) {
                RingRequest request = new RingRequest(good.batches.endpoint(), wrong[0], wrong[1], wrong[2], 0, 0);
                assertEquals(
                        Code.INVALID_ARGUMENT,
                        assertThrows(ControlException.class, () -> server.connectRing(client.lease.id(), request))
                                .code());
            }
            RingRequest large = new RingRequest(good.batches.endpoint(), 1024, 1024, 1, 0, 0);
            ControlException refused = assertThrows(ControlException.class, () -> {
                for (int i = 0; i < 1000; i++) {
                    server.connectRing(client.lease.id(), large);
                }
            });
            assertTrue(refused.getMessage().contains("use fewer sessions"), refused.getMessage());
        }
    }
}
