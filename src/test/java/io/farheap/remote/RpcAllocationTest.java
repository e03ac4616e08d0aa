package io.farheap.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls allocate nothing, at either end. */
@Tag("optimised")
@Needs(Need.HOST)
class RpcAllocationTest {

    private static final int MOST_ROUNDS = 400;
    private static final int SILENT_ROUNDS = 5;
    private static final int CALLS = Effort.count(20_000);

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private int ended;
    private final ReplyHandler count = (tag, outcome, bytes) -> {
        assertDone(outcome);
        ended++;
    };

    private static void assertDone(int outcome) {
        if (outcome != Outcome.DONE) {
            throw new AssertionError(Outcome.describe(outcome));
        }
    }

    @Test
    void callsAllocateNothing() {
        try (TestServers servers = new TestServers(1);
                RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "garbage")) {
            servers.register(3, (held, arguments, reply) -> {
                reply.setLong(0, arguments.getLong(0) + 1);
                return Long.BYTES;
            });
            RemoteServer server = memory.attach(servers.address(0));
            RegisteredBuffer page = memory.register(4096);
            RpcQueue queue = memory.openRpcQueue(RpcOptions.DEFAULT);
            long[] serving = serving();
            assertTrue(serving.length > 0);
            // A deoptimisation may allocate now and then; a call that allocates does so in all rounds.
            int silent = 0;
            long last = 0;
            for (int round = 0; round < MOST_ROUNDS && silent < SILENT_ROUNDS; round++) {
                long before = allocated(serving);
                run(queue, server, page);
                long bytes = allocated(serving) - before;
                silent = bytes == 0 ? silent + 1 : 0;
                last = bytes == 0 ? last : bytes;
            }
            assertEquals(
                    SILENT_ROUNDS,
                    silent,
                    "last rounds of " + CALLS + " calls that allocated nothing; before, one allocated " + last
                            + " bytes");
        }
    }

    private void run(RpcQueue queue, RemoteServer server, RegisteredBuffer page) {
        ended = 0;
        for (int i = 0; i < CALLS; i++) {
            while (queue.call(server, 3, page, 0, 8, 64, 8, i) != PostResult.OK) {
                queue.poll(count);
            }
        }
        while (ended < CALLS) {
            queue.poll(count);
        }
    }

    /** The bytes that this thread and the serving threads have allocated. */
    private long allocated(long[] serving) {
        long bytes = threads.getCurrentThreadAllocatedBytes();
        for (long thread : serving) {
            bytes += threads.getThreadAllocatedBytes(thread);
        }
        return bytes;
    }

    private static long[] serving() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("farheap-srv-"))
                .mapToLong(Thread::threadId)
                .toArray();
    }
}
