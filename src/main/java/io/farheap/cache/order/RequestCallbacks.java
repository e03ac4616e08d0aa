package io.farheap.cache.order;

import io.farheap.cache.contract.Completion;
import io.farheap.latency.OperationLatency;
import org.jspecify.annotations.Nullable;

/**
 * Runs the callbacks of a session's requests: in the order of issue, but for those that a migration held, which come
 * behind what was issued before them and overlaps them. One thread at a time.
 */
public final class RequestCallbacks {

    private final PostedRequests requests;
    private final RequestOrder order;
    private final HeldRequests held;
    private final @Nullable OperationLatency latency;

    /** @param latency where latencies are recorded, or null */
    public RequestCallbacks(
            PostedRequests requests, RequestOrder order, HeldRequests held, @Nullable OperationLatency latency) {
        this.requests = requests;
        this.order = order;
        this.held = held;
        this.latency = latency;
    }

    /**
     * Runs callbacks, of requests in the order of issue up to a place in it, and of those that were held.
     *
     * @return how many ran
     */
    public int run(long end) {
        int called = 0;
        // What a callback issues may be done at once, where a server is lost: it waits for the next poll.
        while (order.head() < end) {
            int place = order.at(order.head());
            if (place == RequestOrder.EMPTY) {
                order.passHead();
                continue;
            }
            PostedRequest request = requests.get(place);
            if (!request.done()) {
                break;
            }
            order.passHead();
            called++;
            finish(request);
        }
        if (held.count() > 0) {
            called += runHeld(end);
        }
        return called;
    }

    private int runHeld(long end) {
        int called = 0;
        for (int i = 0; i < held.count(); i++) {
            PostedRequest request = held.get(i);
            long sequence = request.sequence;
            if (sequence >= end
                    || !request.done()
                    || order.head() - sequence <= 0
                    || held.overlaps(request.address, request.length, sequence, false)) {
                continue;
            }
            held.remove(i);
            i--;
            called++;
            finish(request);
        }
        return called;
    }

    private void finish(PostedRequest request) {
        request.record(latency);
        Completion completion = request.completion;
        long token = request.token;
        int status = request.status;
        requests.give(request);
        completion.completed(token, status);
    }
}
