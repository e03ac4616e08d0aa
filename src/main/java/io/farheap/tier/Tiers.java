package io.farheap.tier;

import java.util.List;

/** Which tiers a log has, and which of them is the commit point: another object each time that changes. */
final class Tiers {

    private final List<Tier> all;
    private final int commit;

    /** @param all the fastest first */
    Tiers(List<Tier> all, int commit) {
        this.all = List.copyOf(all);
        this.commit = commit;
    }

    List<Tier> all() {
        return all;
    }

    int commit() {
        return commit;
    }

    Tier last() {
        return all.getLast();
    }
}
