package io.farheap.rpc;

/** A call that is put off and came over no ring. */
public final class RinglessCall {

    private static final int CAPACITY = 64;

    private final PendingCalls all = new PendingCalls(new RingShape(1, 1, CAPACITY, true), () -> {});
    private final PendingCall call = all.later(0, CAPACITY);

    public PendingCall call() {
        return call;
    }

    public boolean answered() {
        return all.nextAnswer() != null;
    }
}
