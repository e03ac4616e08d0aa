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
        int capacity = (int) answer.byteSize();
        Arguments arguments = new Arguments(message);
        arguments.set(0, (int) message.byteSize(), capacity);
        Reply reply = new Reply(new PendingCalls(new RingShape(1, 1, capacity, true), () -> {}), answer);
        reply.set(0, 0, capacity);
        handler.touch(held, arguments);
        return handler.execute(held, arguments, reply);
    }

    public boolean answered() {
        return all.nextAnswer() != null;
    }
}
