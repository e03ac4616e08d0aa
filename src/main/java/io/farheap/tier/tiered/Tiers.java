package io.farheap.tier.tiered;

import java.util.List;

/** Which tiers a log has, and which of them is the commit point: another object each time that changes. */
public final class Tiers {

    private final List<Tier> all;
    private final int commit;

    /** @param all the fastest first */
    Tiers(List<Tier> all, int commit) {
        this.all = List.copyOf(all);
        this.commit = commit;
    }

    public List<Tier> all() {
        return all;
    }

    int commit() {
        return commit;
    }

    public Tier last() {
        return all.getLast();
    }
}
