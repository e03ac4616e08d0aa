package io.farheap.bench.ycsb;

import java.util.List;

/**
 * A contestant that is open, and its part of a contest.
 *
 * @param localShare of a store's log, which is also the budget of the other contestants
 * @param distributions of the keys with which it takes turns
 */
record Entrant(String name, double localShare, List<KeyDistribution> distributions, Contestant contestant) {

    /** Whether it takes turns with a load. A contestant with threads of its own takes part in the first load alone. */
    boolean takes(YcsbPlan plan, KeyDistribution distribution, int threads) {
        return distributions.contains(distribution)
                && ExternalContestant.takes(contestant, plan.workload(), distribution)
                && (contestant.threads(threads) == threads
                        || threads == plan.threads().getFirst());
    }
}
