package io.farheap.resilience.table;

import io.farheap.resilience.contract.Health;
import java.util.ArrayList;
import java.util.List;

/** What the sessions of a space have counted, those that are closed together. Any thread. */
public final class AllCounts {

    private final SessionCounts ended = new SessionCounts();
    private final List<SessionCounts> open = new ArrayList<>();

    public synchronized void add(SessionCounts counts) {
        open.add(counts);
    }

    /** A session is closed, and counts no more. */
    public synchronized void ended(SessionCounts counts) {
        if (open.remove(counts)) {
            ended.add(counts);
        }
    }

    public synchronized Health.Counts sum() {
        SessionCounts sum = new SessionCounts();
        sum.add(ended);
        open.forEach(sum::add);
        return sum.snapshot();
    }
}
