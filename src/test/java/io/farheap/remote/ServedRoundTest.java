package io.farheap.remote;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.grpc.ControlServer;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.queue.RpcLane;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.MessageRing;
import io.farheap.rpc.RegionHolders;
import io.farheap.rpc.RpcHandler;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.service.ServerWork;
import io.farheap.server.thread.ServerThread;
import io.farheap.server.thread.ServerThreads;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many batches a server thread serves before it opens its gate. */
@Timeout(60)
class ServedRoundTest {

    private static final int SPIN = 0;
    private static final int ECHO = 1;
    private static final int LOSE = 2;
    private static final int QUEUES = 12;
    /** A round ends with the ring that is served once it has taken 20 us. */
    private static final long HANDLER_NANOS = 30_000;
    /** In each 256th round the thread also looks at the completions of all rings. */
    private static final int CALLS = 4 * 2 * 256;

    private final Map<Integer, Integer> callsByRound = new HashMap<>();

    private static ServerThread thread(MemoryServer server) {
        return Fields.get(Fields.get(server, "plane", Object.class), "threads", ServerThreads.class)
                .thread(0);
    }

    private MemoryServer open() {
        MemoryServer server = MemoryServer.open(new ServerOptions(
                TestServers.REGION_BYTES,
                TestServers.REGION_BYTES,
                TestDevice.patience(30_000_000_000L),
                TestDevice.server(),
                "test",
                1,
                false,
                Idle.BACK_OFF));
        ServerThread thread = thread(server);
        server.register(SPIN, (held, arguments, reply) -> {
            callsByRound.merge(Fields.get(thread, "rounds", Integer.class), 1, Integer::sum);
            long began = System.nanoTime();
            while (System.nanoTime() - began < HANDLER_NANOS) {
                Thread.onSpinWait();
            }
            return 0;
        });
        return server;
    }

    /** A batch is as long as its client likes. Its calls end or are answered later, each with its own answer. */
    @Test
    void aRoundExecutesAPartOfALargeBatch() {
        int calls = 250;
        try (MemoryServer server = open();
                ControlServer control = ControlServer.start("127.0.0.1:0", Planes.of(server));
                RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "rounds")) {
            ServerThread thread = thread(server);
            server.register(ECHO, (held, arguments, reply) -> {
                callsByRound.merge(Fields.get(thread, "rounds", Integer.class), 1, Integer::sum);
                if (arguments.getLong(0) % 3 == 0) {
                    reply.later().answer(arguments.segment().asSlice(0, 8));
                    return RpcHandler.LATER;
                }
                reply.setLong(0, arguments.getLong(0));
                return 8;
            });
            RemoteServer attached = memory.attach(control.address());
            RegisteredBuffer buffer = memory.register(calls * 16L);
            RpcQueue queue =
                    memory.openRpcQueue(RpcOptions.DEFAULT.with(2, calls).withRecordBytes(8));
            for (int turn = 0; turn < 3; turn++) {
                for (long i = 0; i < calls; i++) {
                    buffer.segment().set(JAVA_LONG, i * 16, 1_000 * turn + i);
                    assertEquals(PostResult.OK, queue.call(attached, ECHO, buffer, i * 16, 8, i * 16 + 8, 8, i));
                }
                queue.send();
                int[] ended = new int[1];
                while (ended[0] < calls) {
                    queue.poll((tag, outcome, bytes) -> {
                        assertEquals(Outcome.DONE, outcome);
                        assertEquals(8, bytes);
                        ended[0]++;
                    });
                }
                for (long i = 0; i < calls; i++) {
                    assertEquals(1_000 * turn + i, buffer.segment().get(JAVA_LONG, i * 16 + 8));
                }
            }
        }
        assertEquals(MessageRing.MOST_AT_ONCE, Collections.max(callsByRound.values()), "calls in a round");
    }

    /** Between two parts of a batch its client may lose a region, which goes to another client. */
    @Test
    void theRestOfABatchReachesNoRegionThatItsClientHasLost() {
        try (MemoryServer server = open();
                ControlServer control = ControlServer.start("127.0.0.1:0", Planes.of(server));
                RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "rounds")) {
            server.register(LOSE, (held, arguments, reply) -> {
                Fields.get(held, "holders", RegionHolders.class).clear(arguments.getInt(0));
                return 0;
            });
            RemoteServer attached = memory.attach(control.address());
            int region = memory.allocate(attached, 1).getFirst().regionId();
            RegisteredBuffer buffer = memory.register(64);
            buffer.segment().set(JAVA_INT, 0, region);
            RpcQueue queue = memory.openRpcQueue(RpcOptions.DEFAULT.with(1, 64).withRecordBytes(8));
            int[] ended = new int[1];
            int calls = MessageRing.MOST_AT_ONCE;
            for (int i = 0; i < calls - 1; i++) {
                assertEquals(PostResult.OK, queue.call(attached, LOSE, buffer, 0, 4, 8, 0, i));
            }
            BatchConnection connection = Fields.get(queue, "byServer", RpcLane[].class)[0].connection;
            int before = connection.addRead(region, 0, 8, buffer.segment().address() + 16);
            int after = connection.addRead(region, 0, 8, buffer.segment().address() + 24);
            queue.send();
            while (ended[0] < calls - 1) {
                queue.poll((tag, outcome, bytes) -> ended[0]++);
            }
            assertEquals(BatchFormat.DONE, connection.status(before));
            assertEquals(BatchFormat.NOT_HELD, connection.status(after));
        }
    }

    /** A batch that is to wait is served in a round in which no other batch is. */
    @Test
    void aBatchWaitsForThoseOfOthersAlone() throws IllegalAccessException {
        Map<Long, Set<Integer>> rounds = new ConcurrentHashMap<>();
        try (MemoryServer server = open();
                ControlServer control = ControlServer.start("127.0.0.1:0", Planes.of(server));
                RemoteMemory first = RemoteMemory.open(TestDevice.client(), "first");
                RemoteMemory second = RemoteMemory.open(TestDevice.client(), "second")) {
            ServerThread thread = thread(server);
            server.register(ECHO, (held, arguments, reply) -> {
                rounds.computeIfAbsent(held.lease(), _ -> ConcurrentHashMap.newKeySet())
                        .add(Fields.get(thread, "rounds", Integer.class));
                return 0;
            });
            List<RpcQueue> queues = new ArrayList<>();
            List<RemoteServer> servers = new ArrayList<>();
            for (RemoteMemory memory : List.of(first, second)) {
                servers.add(memory.attach(control.address()));
                queues.add(memory.openRpcQueue(RpcOptions.DEFAULT.with(2, 1).withRecordBytes(8)));
            }
            RegisteredBuffer[] buffers = {first.register(64), second.register(64)};
            callEach(queues, servers, buffers, 1);
            AtomicLong waiting = new AtomicLong();
            Fields.field(thread, "work").set(thread, new ServerWork[] {
                new ServerWork() {
                    @Override
                    public boolean run(boolean busy) {
                        return false;
                    }

                    @Override
                    public boolean waits(HeldRegions client, int passes) {
                        return client.lease() == waiting.get();
                    }
                }
            });
            callEach(queues, servers, buffers, 1);
            waiting.set(rounds.keySet().iterator().next());
            rounds.clear();
            callEach(queues, servers, buffers, 200);
            assertEquals(2, rounds.size());
        }
        Iterator<Set<Integer>> each = rounds.values().iterator();
        assertTrue(Collections.disjoint(each.next(), each.next()), "a round has served both");
    }

    /** If all batches are to wait, none is kept waiting by the others. */
    @Test
    void batchesThatAllWaitAreServedInTurns() throws IllegalAccessException {
        List<Long> served = Collections.synchronizedList(new ArrayList<>());
        Map<Long, Integer> asked = new ConcurrentHashMap<>();
        AtomicInteger begun = new AtomicInteger();
        AtomicBoolean holds = new AtomicBoolean(true);
        try (MemoryServer server = open();
                ControlServer control = ControlServer.start("127.0.0.1:0", Planes.of(server));
                RemoteMemory first = RemoteMemory.open(TestDevice.client(), "first");
                RemoteMemory second = RemoteMemory.open(TestDevice.client(), "second");
                RemoteMemory third = RemoteMemory.open(TestDevice.client(), "third")) {
            server.register(ECHO, (held, arguments, reply) -> {
                served.add(held.lease());
                return 0;
            });
            List<RpcQueue> queues = new ArrayList<>();
            List<RemoteServer> servers = new ArrayList<>();
            for (RemoteMemory memory : List.of(first, second, third)) {
                servers.add(memory.attach(control.address()));
                queues.add(memory.openRpcQueue(RpcOptions.DEFAULT.with(2, 1).withRecordBytes(8)));
            }
            RegisteredBuffer[] buffers = {first.register(64), second.register(64), third.register(64)};
            callEach(queues, servers, buffers, 1);
            served.clear();
            ServerThread thread = thread(server);
            Fields.field(thread, "work").set(thread, new ServerWork[] {
                new ServerWork() {
                    @Override
                    public boolean run(boolean busy) {
                        return holds.get();
                    }

                    @Override
                    public void passBegins() {
                        begun.incrementAndGet();
                    }

                    @Override
                    public boolean waits(HeldRegions client, int passes) {
                        asked.merge(client.lease(), passes, Math::max);
                        // While none is served, a batch of each ring comes to have waited in a few passes.
                        if (asked.size() == 3 && Collections.min(asked.values()) >= 3) {
                            holds.set(false);
                        }
                        return true;
                    }

                    @Override
                    public boolean hasCalls() {
                        return holds.get();
                    }
                }
            });
            callEach(queues, servers, buffers, 2);
        }
        assertEquals(6, served.size());
        assertEquals(3, new HashSet<>(served.subList(0, 3)).size(), () -> "leases served: " + served);
        assertTrue(begun.get() >= 3, () -> begun + " passes");
    }

    /** Has so many calls of each queue executed, two of each at a time. */
    private static void callEach(
            List<RpcQueue> queues, List<RemoteServer> servers, RegisteredBuffer[] buffers, int calls) {
        int[] made = new int[queues.size()];
        int[] ended = new int[1];
        while (ended[0] < calls * made.length) {
            for (int i = 0; i < made.length; i++) {
                while (made[i] < calls
                        && queues.get(i).call(servers.get(i), ECHO, buffers[i], 0, 8, 8, 8, 0) == PostResult.OK) {
                    queues.get(i).send();
                    made[i]++;
                }
                queues.get(i).poll((tag, outcome, bytes) -> {
                    assertEquals(Outcome.DONE, outcome);
                    ended[0]++;
                });
            }
        }
    }

    /** All of many rings have batches all the time, each of which takes longer than a round may. */
    @Test
    void eachRoundEndsSoonHoweverManyRingsHaveBatches() {
        try (MemoryServer server = open();
                ControlServer control = ControlServer.start("127.0.0.1:0", Planes.of(server));
                RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "rounds")) {
            RemoteServer attached = memory.attach(control.address());
            RegisteredBuffer buffer = memory.register(4096);
            List<RpcQueue> queues = new ArrayList<>();
            int[] ended = new int[1];
            for (int i = 0; i < QUEUES; i++) {
                queues.add(memory.openRpcQueue(RpcOptions.DEFAULT.with(2, 1).withRecordBytes(64)));
            }
            while (ended[0] < CALLS) {
                for (RpcQueue queue : queues) {
                    while (queue.call(attached, SPIN, buffer, 0, 8, 64, 8, 0) == PostResult.OK) {
                        queue.send();
                    }
                    queue.poll((tag, outcome, bytes) -> {
                        assertEquals(Outcome.DONE, outcome);
                        ended[0]++;
                    });
                }
            }
        }
        assertTrue(Collections.max(callsByRound.values()) <= 2, () -> "batches by round: " + callsByRound);
    }
}
