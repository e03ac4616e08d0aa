package io.farheap.rpc.batch;

import io.farheap.rpc.RingShape;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What the client's end of message rings knows of requests, by entry: written as they are added to a batch, read as
 * their answers come. One thread at a time; nothing here allocates later.
 */
final class BatchEntries {

    /** {@link #readBytes} of a call, less what its reply may have. */
    static final int CALL = -1;

    /** A read's bytes, 0 for a write, below that {@link #CALL} less what its reply may have. */
    final int[] readBytes;
    /** Where what is read goes: an address, or minus the place in the response. */
    final long[] locals;

    final byte[] statuses;
    /** Null where there are no calls. */
    final @Nullable AwaitedReplies replies;

    BatchEntries(RingShape shape) {
        int most = shape.slots() * shape.batch();
        readBytes = new int[most];
        locals = new long[most];
        statuses = new byte[most];
        replies = shape.calls() ? new AwaitedReplies(shape) : null;
    }

    /** So many entries will not be answered. */
    void lose(int first, int count) {
        Arrays.fill(statuses, first, first + count, BatchConnection.LOST);
    }

    /** Nor will the calls whose batches are. */
    void loseAwaited() {
        while (replies != null && replies.awaited() > 0) {
            int last = replies.awaited() - 1;
            statuses[replies.entry(last)] = BatchConnection.LOST;
            replies.arrive(last);
        }
    }
}
