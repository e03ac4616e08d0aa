package io.farheap.remote;

import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import java.util.ArrayList;
import java.util.List;

/** The tags that a queue has returned, in order, with their outcomes. */
final class Tags implements CompletionHandler {

    private static final long TIMEOUT_NANOS = 60_000_000_000L;

    record Tag(long tag, int outcome) {}

    final List<Tag> all = new ArrayList<>();

    static Tag done(long tag) {
        return new Tag(tag, Outcome.DONE);
    }

    @Override
    public void completed(long tag, int outcome) {
        all.add(new Tag(tag, outcome));
    }

    /** Polls until the queue has returned {@code count} tags in all. */
    List<Tag> await(RemoteQueue queue, int count) {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (all.size() < count) {
            if (queue.poll(this) == 0) {
                queue.await(1_000_000);
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("only " + all + " of " + count + " tags came back");
            }
        }
        return all;
    }
}
