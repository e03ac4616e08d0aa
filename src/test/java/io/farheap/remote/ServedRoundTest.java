package io.farheap.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.grpc.ControlServer;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.thread.ServerThread;
import io.farheap.server.thread.ServerThreads;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many batches a server thread serves before it opens its gate. */
@Timeout(60)
class ServedRoundTest {

    private static final int SPIN = 0;
    private static final int QUEUES = 12;
    /** A round ends with the ring that is served once it has taken 20 us. */
    private static final long HANDLER_NANOS = 30_000;
    /** In each 256th round the thread also looks at the completions of all rings. */
    private static final int CALLS = 4 * 2 * 256;

    private final Map<Integer, Integer> callsByRound = new HashMap<>();

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
        ServerThread thread = Fields.get(Fields.get(server, "plane", Object.class), "threads", ServerThreads.class)
                .thread(0);
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
