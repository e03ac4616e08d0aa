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

    /** A batch that waits is not served in that pass, and the thread does not sleep meanwhile. */
    @Test
    void aBatchThatWaitsIsServedInAnotherPass() throws IllegalAccessException {
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
            long waiting = rounds.keySet().iterator().next();
            Fields.field(thread, "work").set(thread, new ServerWork[] {
                new ServerWork() {
                    private boolean otherWaits;

                    @Override
                    public boolean run(boolean busy) {
                        return false;
                    }

                    @Override
                    public boolean waits(HeldRegions client) {
                        boolean isFirst = client.lease() == waiting;
                        return isFirst != otherWaits;
                    }

                    @Override
                    public boolean passEnds() {
                        otherWaits = !otherWaits;
                        return true;
                    }
                }
            });
            rounds.clear();
            callEach(queues, servers, buffers, 200);
            assertEquals(2, rounds.size());
        }
        Iterator<Set<Integer>> each = rounds.values().iterator();
        assertTrue(Collections.disjoint(each.next(), each.next()), "a round has served both");
    }

    /** In a pass each ring is looked at once, also if all of their batches wait. */
    @Test
    void allRingsAreLookedAtInAPass() throws IllegalAccessException {
        List<Long> served = Collections.synchronizedList(new ArrayList<>());
        List<List<Long>> passes = Collections.synchronizedList(new ArrayList<>());
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
                    private final List<Long> asked = new ArrayList<>();
                    private int whole;

                    @Override
                    public boolean run(boolean busy) {
                        return false;
                    }

                    @Override
                    public boolean waits(HeldRegions client) {
                        asked.add(client.lease());
                        return whole < 3;
                    }

                    @Override
                    public boolean passEnds() {
                        if (whole < 3 && !asked.isEmpty()) {
                            passes.add(List.copyOf(asked));
                            whole += asked.size() >= 3 ? 1 : 0;
                        }
                        asked.clear();
                        return true;
                    }
                }
            });
            callEach(queues, servers, buffers, 2);
        }
        assertEquals(6, served.size());
        for (List<Long> pass : passes) {
            assertEquals(pass.size(), new HashSet<>(pass).size(), () -> "leases asked for: " + passes);
        }
        assertEquals(3, passes.stream().filter(pass -> pass.size() == 3).count());
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
