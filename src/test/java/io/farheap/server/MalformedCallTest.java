package io.farheap.server;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.rpc.PendingCall;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.RpcHandler;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clients send invalid calls: no handler receives one, and the clients lose their connection. */
class MalformedCallTest {

    private static final int HEADER = BatchFormat.HEADER_BYTES;
    private static final int REGION = 64 << 10;
    private static final RingShape SHAPE = new RingShape(2, 4, 64, true);
    private static final int COUNT = 0;
    private static final int LATER = 1;
    /** Words at the start of the ring that a client writes beside batches. */
    private static final int WANTED = (int) RingShape.WANTED;

    private final ServerPlane server = ServerPlane.open(new ServerOptions(
            REGION,
            REGION,
            TestDevice.patience(60_000_000_000L),
            TestDevice.server(),
            "test",
            1,
            false,
            Idle.BACK_OFF));
    private final AtomicInteger executed = new AtomicInteger();
    private final Queue<PendingCall> pending = new ConcurrentLinkedQueue<>();

    MalformedCallTest() {
        server.register(COUNT, (held, arguments, reply) -> {
            executed.incrementAndGet();
            return 0;
        });
        server.register(LATER, (held, arguments, reply) -> {
            pending.add(reply.later());
            return RpcHandler.LATER;
        });
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private interface Attack {
        void prepare(HostileClient client);
    }

    private static int call(HostileClient client, int at, int operation, int bytes, long replyBytes) {
        return client.put(at, BatchFormat.CALL, operation, bytes, replyBytes, BatchFormat.padded(bytes));
    }

    private void endsAll(Map<String, Attack> attacks, RingShape shape) throws InterruptedException {
        Map<String, HostileClient> clients = new LinkedHashMap<>();
        try (HostileClient first = new HostileClient(server, shape)) {
            attacks.forEach((name, attack) -> {
                HostileClient client = new HostileClient(first);
                clients.put(name, client);
                attack.prepare(client);
                assertEquals(WcStatus.SUCCESS, client.send(), name);
            });
            for (Map.Entry<String, HostileClient> client : clients.entrySet()) {
                client.getValue().awaitEnd();
                assertFalse(client.getValue().answered(), client.getKey());
            }
            clients.values().forEach(HostileClient::close);
        }
        assertEquals(0, executed.get());
    }

    @Test
    void aMalformedCallEndsItsConnection() throws InterruptedException {
        Map<String, Attack> attacks = new LinkedHashMap<>();
        attacks.put("arguments too long", c -> c.seal(1, call(c, HEADER, COUNT, 65, 8), 1, 0));
        attacks.put(
                "the longest arguments", c -> c.seal(1, c.put(HEADER, BatchFormat.CALL, COUNT, 0xFFFFFF, 8, 0), 1, 0));
        attacks.put("arguments longer than the batch", c -> {
            call(c, HEADER, COUNT, 64, 8);
            c.seal(1, HEADER + 16 + 56, 1, 0);
        });
        attacks.put("a reply too long", c -> c.seal(1, call(c, HEADER, COUNT, 8, 65), 1, 0));
        attacks.put("a reply of less than nothing", c -> c.seal(1, call(c, HEADER, COUNT, 8, -1), 1, 0));
        attacks.put("the longest reply", c -> c.seal(1, call(c, HEADER, COUNT, 8, Long.MAX_VALUE), 1, 0));
        attacks.put(
                "a good call before a bad one",
                c -> c.seal(1, call(c, call(c, HEADER, COUNT, 8, 8), COUNT, 8, -1), 2, 0));
        attacks.put("a wrong checksum", c -> {
            c.seal(1, call(c, HEADER, COUNT, 8, 8), 1, 0);
            c.message().set(JAVA_LONG, 16, c.message().get(JAVA_LONG, 16) ^ 1);
        });
        endsAll(attacks, SHAPE);
    }

    @Test
    void whoConnectedForReadsAndWritesMakesNoCalls() throws InterruptedException {
        endsAll(Map.of("a call", c -> c.seal(1, call(c, HEADER, COUNT, 8, 8), 1, 0)), HostileClient.SHAPE);
    }

    private static void await(HostileClient client, long sequence) throws InterruptedException {
        for (int i = 0; !client.answered(sequence); i++) {
            assertTrue(i < TestDevice.patience(30_000), "batch " + sequence + " is not answered");
            Thread.sleep(1);
        }
    }

    /** A client uses the places of pending calls for new ones: the server keeps no more calls than there are places. */
    @Test
    void whoDoesNotWaitForAnswersLosesItsConnection() throws InterruptedException {
        try (HostileClient client = new HostileClient(server, SHAPE)) {
            int most = SHAPE.slots() * SHAPE.batch();
            int sent = 0;
            for (long sequence = 1; sent <= most; sequence++) {
                int at = HEADER;
                for (int i = 0; i < SHAPE.batch(); i++) {
                    at = call(client, at, LATER, 8, 8);
                }
                client.seal(sequence, at, SHAPE.batch(), 0);
                assertEquals(WcStatus.SUCCESS, client.send(sequence));
                sent += SHAPE.batch();
                if (sent <= most) {
                    await(client, sequence);
                }
            }
            client.awaitEnd();
            assertTrue(pending.size() <= most + SHAPE.batch());
            for (PendingCall call : pending) {
                assertTrue(call.cancelled());
                assertFalse(call.answer(MemorySegment.ofArray(new byte[8])));
            }
        }
    }

    /** The words beside the batches are only hints, so a client may write any value there. */
    @Test
    void anythingMayBeWanted() throws InterruptedException {
        long seed = System.nanoTime();
        System.out.println("wanted words of seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        try (HostileClient client = new HostileClient(server, SHAPE)) {
            for (long sequence = 1; sequence <= 200; sequence++) {
                // This client has posted no receive for a wake-up message, so it writes the wanted word only at last.
                client.message().set(JAVA_LONG, 0, random.nextLong());
                client.seal(sequence, call(client, HEADER, COUNT, 8, 8), 1, 0);
                assertEquals(WcStatus.SUCCESS, client.send(sequence));
                await(client, sequence);
            }
            client.message().set(JAVA_LONG, 0, random.nextLong());
            assertEquals(WcStatus.SUCCESS, client.write(WANTED, 8));
        }
        assertEquals(200, executed.get());
        try (HostileClient other = new HostileClient(server, SHAPE)) {
            other.seal(1, call(other, HEADER, COUNT, 8, 8), 1, 0);
            assertEquals(WcStatus.SUCCESS, other.send());
            await(other, 1);
        }
    }
}
