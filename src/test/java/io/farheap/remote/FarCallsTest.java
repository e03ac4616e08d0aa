package io.farheap.remote;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.rpc.Arguments;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.Reply;
import io.farheap.rpc.RpcHandler;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** An application with an operation of its own, which follows a chain of pointers at the server in one call. */
class FarCallsTest {

    private static final int FOLLOW = 16;
    private static final int NODES = 512;

    /**
     * Arguments: region, offset of the first node, steps. A node is the offset of the next. The reply is the last
     * node's offset.
     */
    private static final class Follow implements RpcHandler {

        @Override
        public long touch(HeldRegions held, Arguments arguments) {
            return held.place((int) arguments.getLong(0), arguments.getLong(8));
        }

        @Override
        public int execute(HeldRegions held, Arguments arguments, Reply reply) {
            MemorySegment region = held.region((int) arguments.getLong(0));
            long at = arguments.getLong(8);
            for (long steps = arguments.getLong(16); steps > 0; steps--) {
                at = region.get(JAVA_LONG, at);
            }
            reply.setLong(0, at);
            return Long.BYTES;
        }
    }

    private long answer;

    private void await(OwnedQueue queue, int posting, Runnable poll) {
        assertEquals(PostResult.OK, posting, () -> PostResult.describe(posting));
        answer = -1;
        while (answer < 0) {
            poll.run();
            if (answer < 0) {
                queue.await(1_000_000);
            }
        }
    }

    @Test
    void aCallGoesWhereReadsWouldGoOneByOne() {
        long seed = System.nanoTime();
        System.out.println("chain of seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        try (TestServers servers = new TestServers(1, 1);
                RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "chains")) {
            servers.register(FOLLOW, new Follow());
            RegisteredBuffer page = memory.register(2 * NODES * Long.BYTES);
            MemorySegment words = page.segment();
            for (int i = 0; i < servers.count(); i++) {
                RemoteServer server = memory.attach(servers.address(i));
                RemoteRegion region = memory.allocate(server, 1).getFirst();
                try (RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT);
                        RpcQueue calls = memory.openRpcQueue(RpcOptions.DEFAULT)) {
                    for (int node = 0; node < NODES; node++) {
                        words.setAtIndex(JAVA_LONG, node, Long.BYTES * random.nextLong(NODES));
                    }
                    await(
                            queue,
                            queue.write(region, 0, page, 0, NODES * Long.BYTES, 0),
                            () -> queue.poll((tag, outcome) -> answer = outcome));
                    assertEquals(Outcome.DONE, answer);
                    for (int round = 0; round < 50; round++) {
                        long first = Long.BYTES * random.nextLong(NODES);
                        int steps = random.nextInt(20);
                        long expected = first;
                        for (int step = 0; step < steps; step++) {
                            long at = expected;
                            await(
                                    queue,
                                    queue.read(region, at, page, 0, Long.BYTES, 0),
                                    () -> queue.poll((tag, outcome) -> answer = outcome));
                            expected = words.get(JAVA_LONG, 0);
                        }
                        words.setAtIndex(JAVA_LONG, 0, region.regionId());
                        words.setAtIndex(JAVA_LONG, 1, first);
                        words.setAtIndex(JAVA_LONG, 2, steps);
                        await(
                                calls,
                                calls.call(server, FOLLOW, page, 0, 24, 64, 8, 0),
                                () -> calls.poll((tag, outcome, bytes) -> {
                                    assertEquals(Outcome.DONE, outcome, () -> Outcome.describe(outcome));
                                    answer = bytes;
                                }));
                        assertEquals(8, answer);
                        assertEquals(expected, words.get(JAVA_LONG, 64), "from " + first + ", " + steps + " steps");
                    }
                }
            }
        }
    }
}
