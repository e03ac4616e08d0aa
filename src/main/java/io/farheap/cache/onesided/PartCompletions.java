package io.farheap.cache.onesided;

import io.farheap.cache.contract.Status;
import io.farheap.cache.order.PostedRequest;
import io.farheap.cache.order.PostedRequests;
import io.farheap.connection.OperationRing;
import io.farheap.remote.queue.QueueCompletions;
import io.farheap.verbs.WcStatus;

/**
 * Takes what has ended of a session's work requests, and notes at requests what has become of them. A work request's
 * tag is its request's place, and above {@value #TAG_CHUNK_SHIFT} bits one more than the bounce buffer's chunk that its
 * data go through. One thread at a time.
 */
final class PartCompletions {

    private static final int TAG_CHUNK_SHIFT = 32;

    private final QueueCompletions completions;
    private final PostedRequests requests;
    private final BounceBuffers bounce;

    PartCompletions(QueueCompletions completions, PostedRequests requests, BounceBuffers bounce) {
        this.completions = completions;
        this.requests = requests;
        this.bounce = bounce;
    }

    /** Of a work request whose data go through a chunk; that of others is their request's place. */
    static long tag(PostedRequest request, int chunk) {
        return (long) (chunk + 1) << TAG_CHUNK_SHIFT | request.place;
    }

    /** Takes all that has ended. */
    void take() {
        if (completions.hasMore()) {
            endNoted();
            while (completions.noteStashed()) {
                endNoted();
            }
        }
        int end;
        do {
            end = completions.poll();
            for (int next = completions.first(); next < end; next++) {
                OperationRing ring = completions.takeNext(next);
                if (ring == null) {
                    endNoted();
                } else {
                    end(ring.takeFirst(), 1, WcStatus.SUCCESS);
                }
            }
            // A session that goes to sleep must leave none behind: only a later one raises an event.
        } while (end == completions.batch());
        while (completions.hasMore() && completions.noteRefused(false)) {
            endNoted();
        }
    }

    /** Most of a list are of one request. */
    private void endNoted() {
        while (completions.left() > 0) {
            int status = completions.status();
            long tag = completions.tag();
            end(tag, completions.takeSame(tag), status);
        }
    }

    private void end(long tag, int count, int status) {
        PostedRequest request = requests.get((int) tag);
        request.outstanding -= count;
        if (tag >>> TAG_CHUNK_SHIFT != 0 || status != WcStatus.SUCCESS) {
            endUnusual(request, (int) (tag >>> TAG_CHUNK_SHIFT) - 1, status);
        }
    }

    /** @param chunk that the work request's data went through; -1 for none */
    // Data go through a chunk from a segment, or to one.
    @SuppressWarnings("NullAway")
    private void endUnusual(PostedRequest request, int chunk, int status) {
        if (status != WcStatus.SUCCESS) {
            request.status = Status.LOST;
        }
        if (chunk >= 0) {
            if (status == WcStatus.SUCCESS && !request.write && !bounce.copyOut(chunk, request.segment)) {
                request.status = Status.SEGMENT_GONE;
            }
            bounce.give(chunk);
        }
    }

    /** Whether a drain is under way: then completions come that are no operation's. */
    boolean draining() {
        return completions.draining();
    }

    /** Makes later completions raise an event on the queue's channel. */
    void requestNotification() {
        completions.requestNotification();
    }
}
