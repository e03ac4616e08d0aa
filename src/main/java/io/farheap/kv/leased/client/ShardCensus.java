package io.farheap.kv.leased.client;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.ShardTotals;
import io.farheap.kv.space.KeptBuffer;
import io.farheap.lifetime.CloseStack;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.RpcOptions;
import io.farheap.remote.RpcQueue;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.time.TimeLimit;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Asks the servers of a leased map what its shards hold. One thread, which waits for the answers. */
public final class ShardCensus {

    private static final RpcOptions CALLS = RpcOptions.DEFAULT.with(2, 1);
    /** A server that has just started on a busy machine still compiles the code that answers. */
    private static final long PATIENCE_NANOS = TimeLimit.of(TimeUnit.SECONDS.toNanos(5));

    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int REPLY_BYTES = (1 + ShardTotals.WORDS) * Long.BYTES;
    private static final int REPLY = 64;

    private boolean ended;
    private int outcome;

    private ShardCensus() {}

    /**
     * The totals of all servers.
     *
     * @throws MapException if a server does not answer, or serves no leased maps
     */
    public static ShardTotals of(RemoteMemory remote, LeasedSpace space) {
        return new ShardCensus().take(remote, space.spaces());
    }

    /** The totals of one server; otherwise as {@link #of(RemoteMemory, LeasedSpace)}. */
    static ShardTotals of(RemoteMemory remote, RemoteSpace server) {
        return new ShardCensus().take(remote, List.of(server));
    }

    private ShardTotals take(RemoteMemory remote, List<RemoteSpace> servers) {
        try (CloseStack stack = new CloseStack()) {
            KeptBuffer memory = stack.add(new KeptBuffer(remote, REPLY + REPLY_BYTES));
            RpcQueue calls = stack.add(open(remote));
            ShardTotals sum = ShardTotals.of(new long[ShardTotals.WORDS]);
            for (RemoteSpace each : servers) {
                sum = sum.plus(ask(calls, memory, each));
            }
            return sum;
        }
    }

    private static RpcQueue open(RemoteMemory remote) {
        try {
            return remote.openRpcQueue(CALLS);
        } catch (ControlException e) {
            throw new MapException(
                    "a server serves no calls, which a leased map needs for all that it does: " + e.getMessage());
        }
    }

    private ShardTotals ask(RpcQueue calls, KeptBuffer memory, RemoteSpace space) {
        MemorySegment bytes = memory.buffer().segment();
        bytes.set(JAVA_LONG, 0, space.id());
        ended = false;
        outcome = Outcome.UNKNOWN;
        int posted =
                calls.call(space.server(), LeasedCalls.TOTALS, memory.buffer(), 0, Long.BYTES, REPLY, REPLY_BYTES, 0);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (posted == PostResult.OK && !ended && System.nanoTime() - deadline < 0) {
            calls.send();
            if (calls.poll((tag, how, replied) -> ended(how)) == 0) {
                calls.await(SLEEP_NANOS);
            }
        }
        if (outcome != Outcome.DONE || bytes.get(JAVA_LONG, REPLY) != 0) {
            throw ShardLines.unanswered(space);
        }
        long[] words = new long[ShardTotals.WORDS];
        for (int i = 0; i < words.length; i++) {
            words[i] = bytes.get(JAVA_LONG, REPLY + (1L + i) * Long.BYTES);
        }
        return ShardTotals.of(words);
    }

    private void ended(int how) {
        ended = true;
        outcome = how;
    }
}
