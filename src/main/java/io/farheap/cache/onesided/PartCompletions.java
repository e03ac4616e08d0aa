package io.farheap.cache.onesided;

import io.farheap.cache.contract.Status;
import io.farheap.cache.order.PostedRequest;
import io.farheap.cache.order.PostedRequests;
import io.farheap.connection.Connection;
import io.farheap.connection.OperationRing;
import io.farheap.remote.queue.QueueCompletions;
import io.farheap.verbs.WcStatus;

/**
 * Takes the completions of a session's work requests, and records each at its request: one work request less is
 * outstanding, or the request's status is that of a failure. A work request's tag is its request's place; if its data
 * pass through a bounce buffer, the bits from bit {@value #TAG_CHUNK_SHIFT} on are the chunk's index plus one, else 0.
 * Inside the session's gate.
 */
final class PartCompletions {

    private static final int TAG_CHUNK_SHIFT = 32;

    private final QueueCompletions completions;
    private final PostedRequests requests;
    private final BounceBuffers bounce;
    private final RequestRecovery recovery;
    private final Runnable failed;

    /** @param failed runs when a work request has failed */
    PartCompletions(
            QueueCompletions completions,
            PostedRequests requests,
            BounceBuffers bounce,
            RequestRecovery recovery,
            Runnable failed) {
        this.completions = completions;
        this.requests = requests;
        this.bounce = bounce;
        this.recovery = recovery;
        this.failed = failed;
    }

    /** The tag of a work request whose data pass through a chunk; the tag of any other is its request's place. */
    static long tag(PostedRequest request, int chunk) {
        return (long) (chunk + 1) << TAG_CHUNK_SHIFT | request.place;
    }

    /** Takes all completions that there are. */
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
                    end(ring.takeFirst(), 1);
                }
            }
            // A full batch may have left completions in the queue. A session that is about to sleep must take them all:
            // those that are there when notification is requested raise no event.
        } while (end == completions.batch());
        while (completions.hasMore() && completions.noteRefused(false)) {
            endNoted();
        }
    }

    /** Takes the operations that are noted as ended, all of one request at a time: most of a list belong to one. */
    private void endNoted() {
        while (completions.left() > 0) {
            int status = completions.status();
            if (status == WcStatus.SUCCESS) {
                long tag = completions.tag();
                end(tag, completions.takeSame(tag));
            } else {
                fail(status);
            }
        }
    }

    private void end(long tag, int count) {
        PostedRequest request = requests.get((int) tag);
        request.outstanding -= count;
        if (tag >>> TAG_CHUNK_SHIFT != 0) {
            endBounced(request, (int) (tag >>> TAG_CHUNK_SHIFT) - 1);
        }
    }

    // A request whose data pass through a chunk has a segment.
    @SuppressWarnings("NullAway")
    private void endBounced(PostedRequest request, int chunk) {
        if (!request.write && !bounce.copyOut(chunk, request.segment)) {
            request.status = Status.worse(request.status, Status.SEGMENT_GONE);
        }
        bounce.give(chunk);
    }

    /** Takes the next noted operation, which has failed. */
    private void fail(int status) {
        Connection connection = completions.connection();
        int bytes = completions.bytes();
        long tag = completions.take();
        PostedRequest request = requests.get((int) tag);
        request.outstanding--;
        if (tag >>> TAG_CHUNK_SHIFT != 0) {
            bounce.give((int) (tag >>> TAG_CHUNK_SHIFT) - 1);
        }
        recovery.fails(request, connection, status, bytes == 0 || bytes == request.length);
        failed.run();
    }

    /**
     * Whether a drain is under way. Then the queue also delivers the completions of the READs that flush connections,
     * which belong to no request.
     */
    boolean draining() {
        return completions.draining();
    }

    /** Makes later completions raise an event on the queue's channel. */
    void requestNotification() {
        completions.requestNotification();
    }
}
