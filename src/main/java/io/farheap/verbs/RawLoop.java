package io.farheap.verbs;

import io.farheap.verbs.binding.farheap_raw_plan;
import io.farheap.verbs.binding.ibverbs;
import org.bytedeco.javacpp.Loader;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The same operation over and over from C: what benchmarks compare Java with, on the same queue pair, in the same process and thread.
 * Nothing else may use the queue pair and the completion queue meanwhile.
 */
public final class RawLoop implements AutoCloseable {

    private final QueuePair queuePair;
    private final CompletionQueue completions;
    private final SendRequests requests;
    private final Arena arena = Arena.ofConfined();
    private final farheap_raw_plan plan;

    /**
     * @param depth operations in flight; the queue pair has room for them
     * @param list  operations that are posted as one list, of which the last is signaled; a divisor of {@code depth}
     */
    public RawLoop(QueuePair queuePair, CompletionQueue completions, int depth, int list) {
        if (depth < 1 || depth > queuePair.depth() || list < 1 || depth % list != 0) {
            arena.close();
            throw new IllegalArgumentException("lists of " + list + " at queue depth " + depth + "; the depth must be from 1 to "
                + queuePair.depth() + " and a multiple of the list's length");
        }
        this.queuePair = queuePair;
        this.completions = completions;
        try {
            this.plan = new farheap_raw_plan(Native.allocate(arena, Loader.sizeof(farheap_raw_plan.class)));
            this.requests = new SendRequests(depth);
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
        for (int i = 0; i < depth; i++) {
            if ((i + 1) % list != 0) {
                requests.link(i, i + 1);
            }
        }
        plan.requests(requests.address(0)).stride(requests.stride()).depth(depth).list(list);
    }

    /**
     * Sets what each operation is.
     *
     * @param opcode one of {@link SendRequests}'
     * @param flags  of {@link SendRequests}, without {@link SendRequests#SIGNALED}
     */
    public void aim(int opcode, int flags, long localAddress, int bytes, int localKey, long remoteAddress, int remoteKey) {
        plan.opcode(opcode).flags(flags).bytes(bytes).local(localAddress).lkey(localKey).remote(remoteAddress).rkey(remoteKey);
    }

    /** @return the time that so many operations took, in ns @throws VerbsException where one fails */
    public long run(int operations) {
        return check(ibverbs.farheap_raw_loop(queuePair.handle(), completions.handle(), plan, operations));
    }

    /** Times single operations, one after the other, one in {@code every}. @param nanos receives the times */
    public void sample(int every, long[] nanos) {
        try (Arena samples = Arena.ofConfined()) {
            MemorySegment times = samples.allocate(JAVA_LONG, nanos.length);
            check(ibverbs.farheap_raw_samples(queuePair.handle(), completions.handle(), plan, every, nanos.length, times.address()));
            MemorySegment.copy(times, JAVA_LONG, 0, nanos, 0, nanos.length);
        }
    }

    private static long check(long result) {
        if (result < 0) {
            throw new VerbsException("the C loop failed", (int) -result);
        }
        return result;
    }

    @Override
    public void close() {
        requests.close();
        arena.close();
    }
}
