package io.farheap.cache.order;

import io.farheap.cache.contract.Completion;
import io.farheap.latency.OperationLatency;
import org.jspecify.annotations.Nullable;

/**
 * Runs the callbacks of a session's requests in the order of issue. A request that a migration held leaves that order:
 * it is called back once all requests before it in the order have been, and no earlier held request overlaps it. One
 * thread at a time.
 */
public final class RequestCallbacks {

    private final PostedRequests requests;
    private final RequestOrder order;
    private final HeldRequests held;
    private final @Nullable OperationLatency latency;

    /** @param latency records latencies, or null */
    public RequestCallbacks(
            PostedRequests requests, RequestOrder order, HeldRequests held, @Nullable OperationLatency latency) {
        this.requests = requests;
        this.order = order;
        this.held = held;
        this.latency = latency;
    }

    /**
     * Runs the callbacks of requests that are done and were issued before a sequence number, in the order of issue, and
     * of held ones that are done.
     *
     * @return how many ran
     */
    public int run(long end) {
        int called = 0;
        // Requests that a callback issues may end at once, if their server is lost: their callbacks wait for the next
        // poll, or this loop would not end.
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
            if (!request.precedes(end)
                    || !request.done()
                    || !request.precedes(order.head())
                    || held.isBehind(i, false)) {
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
