package io.farheap.resilience;

import java.util.ArrayList;
import java.util.List;

/** What the sessions of a space have counted, those that are closed together. Any thread. */
final class AllCounts {

    private final SessionCounts ended = new SessionCounts();
    private final List<SessionCounts> open = new ArrayList<>();

    synchronized void add(SessionCounts counts) {
        open.add(counts);
    }

    /** A session is closed, and counts no more. */
    synchronized void ended(SessionCounts counts) {
        if (open.remove(counts)) {
            ended.add(counts);
        }
    }

    synchronized Health.Counts sum() {
        SessionCounts sum = new SessionCounts();
        sum.add(ended);
        open.forEach(sum::add);
        return sum.snapshot();
    }
}
