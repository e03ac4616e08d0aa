package io.farheap.soak;

import java.util.concurrent.atomic.AtomicLong;

/** How long somebody waited. Any thread. */
final class WaitTimes {

    private final long mostNanos;
    private final Problems problems;
    private final AtomicLong longestRequest = new AtomicLong();
    private final AtomicLong longestCall = new AtomicLong();

    /** @param mostNanos who waits longer is a problem */
    WaitTimes(long mostNanos, Problems problems) {
        this.mostNanos = mostNanos;
        this.problems = problems;
    }

    /** The most that anybody may wait. */
    long mostNanos() {
        return mostNanos;
    }

    /** From issue to callback. */
    void request(String who, long nanos) {
        longestRequest.accumulateAndGet(nanos, Math::max);
        check(who, "a request", nanos);
    }

    /** For a session or a cache to be opened or closed. */
    void call(String who, long nanos) {
        longestCall.accumulateAndGet(nanos, Math::max);
        check(who, "a call", nanos);
    }

    private void check(String who, String what, long nanos) {
        if (nanos > mostNanos) {
            problems.add("%s waited %.1f s for %s; a lease and 5 s should be enough, and this is more than %.1f s"
                    .formatted(who, nanos / 1e9, what, mostNanos / 1e9));
        }
    }

    long longestRequestNanos() {
        return longestRequest.get();
    }

    long longestCallNanos() {
        return longestCall.get();
    }
}
