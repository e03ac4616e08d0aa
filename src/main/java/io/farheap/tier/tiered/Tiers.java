package io.farheap.tier.tiered;

import java.util.List;

/** The tiers of a log, and which of them is the commit point. Immutable: each change makes a new object. */
public final class Tiers {

    private final List<Tier> all;
    private final int commit;

    /** @param all the tiers, the fastest first */
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
