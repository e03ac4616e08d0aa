package io.farheap.resilience;

import java.util.ArrayList;
import java.util.List;

/** What the sessions of a space have counted, those that are closed together. Any thread. */
final class AllCounts {

    private final List<SessionCounts> all = new ArrayList<>(List.of(new SessionCounts()));

    synchronized void add(SessionCounts counts) {
        all.add(counts);
    }

    /** A session is closed, and counts no more. */
    synchronized void ended(SessionCounts counts) {
        if (all.remove(counts)) {
            all.getFirst().add(counts);
        }
    }

    synchronized Health.Counts sum() {
        return Health.Counts.sum(all);
    }
}
