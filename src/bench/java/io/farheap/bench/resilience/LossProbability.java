package io.farheap.bench.resilience;

/**
 * How likely it is that a cluster loses something where servers die at once (Hydra, sections 2.2 and 7.2.1, figures 2
 * and 15): each group of k + r slabs is on random servers, as where each slab's place is chosen by itself, and is lost
 * with more than r of them. Computed: groups are taken to be independent, as there are many more than servers that die.
 */
final class LossProbability {

    /** The paper's cluster: 1% of so many servers die, each of which has 16 slabs. */
    static final int SERVERS = 1000;

    static final int DEAD = SERVERS / 100;
    static final int SLABS = 16;

    private LossProbability() {}

    /** That any group of the paper's cluster is lost, where all are of this layout. */
    static double of(PageLayout layout) {
        double group = ofGroup(SERVERS, DEAD, layout.splits(), layout.paritySplits());
        double groups = (double) SERVERS * SLABS / layout.splits();
        // Of 1 - (1 - group)^groups, without its rounding where little is lost.
        return -Math.expm1(groups * Math.log1p(-group));
    }

    /**
     * That one group is lost.
     *
     * @param dead of the servers, at most all
     * @param size servers that it is on, at most all
     * @param survives so many of its servers' deaths
     */
    static double ofGroup(int servers, int dead, int size, int survives) {
        double lost = 0;
        for (int of = survives + 1; of <= Math.min(size, dead); of++) {
            lost += choices(dead, of) * choices(servers - dead, size - of) / choices(servers, size);
        }
        return Math.min(1, lost);
    }

    /** n over m; 0 where there are none. */
    private static double choices(int n, int m) {
        if (m > n) {
            return 0;
        }
        double choices = 1;
        for (int i = 0; i < m; i++) {
            choices *= (double) (n - i) / (m - i);
        }
        return choices;
    }
}
