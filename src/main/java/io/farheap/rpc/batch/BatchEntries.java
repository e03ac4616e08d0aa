package io.farheap.rpc.batch;

import io.farheap.rpc.RingShape;
import org.jspecify.annotations.Nullable;

/**
 * State of requests at the client's end of message rings, by entry: written when a request is added to a batch, read
 * when its answer arrives. One thread at a time; nothing here allocates after construction.
 */
final class BatchEntries {

    /** {@link #readBytes} of a call is this, minus the most bytes of its reply. */
    static final int CALL = -1;

    /** Of a read its length, of a write 0, of a call {@link #CALL} minus the most bytes of its reply. */
    final int[] readBytes;
    /** Destination of the bytes that are read: an address, or minus their offset in the response ring. */
    final long[] locals;

    final byte[] statuses;
    /**
     * Whether the slot's batch leaves the entry out, since a call of an earlier batch keeps it for its late answer: the
     * batch has a call of no operation in its place, and the other fields of the entry are the earlier call's.
     */
    final boolean[] leftOut;
    /** Null if the connection has no calls. */
    final @Nullable AwaitedReplies replies;

    BatchEntries(RingShape shape) {
        int most = shape.slots() * shape.batch();
        readBytes = new int[most];
        locals = new long[most];
        statuses = new byte[most];
        leftOut = new boolean[most];
        replies = shape.calls() ? new AwaitedReplies(shape) : null;
    }

    /** Marks entries whose batch will not be answered. */
    void lose(int first, int count, byte status) {
        for (int entry = first; entry < first + count; entry++) {
            if (!leftOut[entry]) {
                statuses[entry] = status;
            }
        }
    }

    /** Marks the calls of answered batches whose late answers will not arrive. */
    void loseAwaited() {
        while (replies != null && replies.awaited() > 0) {
            int last = replies.awaited() - 1;
            statuses[replies.entry(last)] = BatchConnection.LOST;
            replies.arrive(last);
        }
    }
}
