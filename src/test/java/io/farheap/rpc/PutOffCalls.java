package io.farheap.rpc;

import io.farheap.rpc.message.BatchFormat;

/** Calls of one message ring that were put off, for tests of services that answer later. */
public final class PutOffCalls {

    private static final int ROOM = 4096;

    private final PendingCalls calls;

    /** @param wake wakes the ring's thread when a call has been answered */
    public PutOffCalls(Runnable wake) {
        calls = new PendingCalls(new RingShape(4, 1, ROOM, true), wake);
    }

    /** Another call. */
    public PendingCall add() {
        return calls.goesOn(0, ROOM);
    }

    /** The ring's connection ends. */
    public void cancel() {
        calls.cancel();
    }

    /** Whether a call has been answered, or has failed, since the last look. */
    public boolean takeAnswer() {
        boolean there = calls.nextAnswer() != null;
        if (there) {
            calls.sent();
        }
        return there;
    }

    /** Whether the next call that has ended has failed. */
    public boolean hasFailed() {
        PendingCall next = calls.nextAnswer();
        return next != null && next.status == BatchFormat.FAILED;
    }
}
