package io.farheap.rpc;

import java.lang.foreign.MemorySegment;

/** A call that came over no ring: one that is put off, or one that a handler executes. */
public final class RinglessCall {

    private static final int CAPACITY = 64;

    private final PendingCalls all = new PendingCalls(new RingShape(1, 1, CAPACITY, true), () -> {});
    private final PendingCall call = all.later(0, CAPACITY);

    public PendingCall call() {
        return call;
    }

    /** Has a handler begin and execute a call with these arguments, whose reply is dropped. */
    public static int execute(RpcHandler handler, HeldRegions held, MemorySegment message, MemorySegment answer) {
        return execute(handler, held, message, answer, 1)[0];
    }

    /** Has a handler begin and execute so many calls as one batch; returns what it returned for each. */
    public static int[] execute(
            RpcHandler handler, HeldRegions held, MemorySegment message, MemorySegment answer, int calls) {
        int capacity = (int) answer.byteSize();
        Arguments arguments = new Arguments(message);
        Reply reply = new Reply(new PendingCalls(new RingShape(1, calls, capacity, true), () -> {}), answer);
        int[] lengths = new int[calls];
        for (int i = 0; i < calls; i++) {
            arguments.set(0, (int) message.byteSize(), capacity);
            handler.touch(held, arguments);
        }
        for (int i = 0; i < calls; i++) {
            arguments.set(0, (int) message.byteSize(), capacity);
            reply.set(i, 0, capacity);
            lengths[i] = handler.execute(held, arguments, reply);
        }
        handler.executed();
        return lengths;
    }

    public boolean answered() {
        return all.nextAnswer() != null;
    }
}
