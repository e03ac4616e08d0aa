package io.farheap.cache;

import io.farheap.latency.OperationLatency;
import org.jspecify.annotations.Nullable;

/**
 * Runs the callbacks of a session's requests: in the order of issue, but for those that a migration held, which come
 * behind what was issued before them and overlaps them. One thread at a time.
 */
final class RequestCallbacks {

    private final PostedRequests requests;
    private final RequestOrder order;
    private final HeldRequests held;
    private final @Nullable OperationLatency latency;

    /** @param latency where latencies are recorded, or null */
    RequestCallbacks(
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
    int run(long end) {
        if (held.count() == 0 && (order.isEmpty() || !isDue(order.at(order.head())))) {
            return 0;
        }
        int called = 0;
        // What a callback issues may be done at once, where a server is lost: it waits for the next poll.
        while (order.head() < end) {
            int request = order.at(order.head());
            if (!isDue(request)) {
                break;
            }
            order.passHead();
            if (request != RequestOrder.EMPTY) {
                called++;
                finish(request);
            }
        }
        if (held.count() > 0) {
            called += runHeld(end);
        }
        return called;
    }

    private boolean isDue(int request) {
        return request == RequestOrder.EMPTY || requests.done(request);
    }

    private int runHeld(long end) {
        int called = 0;
        for (int i = 0; i < held.count(); i++) {
            int request = held.get(i);
            long sequence = requests.sequence[request];
            if (sequence >= end
                    || !requests.done(request)
                    || order.head() - sequence <= 0
                    || held.overlaps(requests.address[request], requests.length[request], sequence, false)) {
                continue;
            }
            held.remove(i);
            i--;
            called++;
            finish(request);
        }
        return called;
    }

    private void finish(int request) {
        if (latency != null) {
            requests.record(request, latency);
        }
        Completion completion = requests.completion[request];
        long token = requests.token[request];
        int status = requests.status[request];
        requests.give(request);
        completion.completed(token, status);
    }
}
