package io.farheap.bench.resilience;

/**
 * The probability that a cluster loses data if servers die at once (Hydra, sections 5 and 7.2.1, figures 2 and 15):
 * each group of k + r slabs is on as many different servers, chosen at random as by EC-Cache, and is lost if more than
 * r of them die. It is computed: groups are taken to be independent, as there are many more of them than servers that
 * die.
 */
final class LossProbability {

    /** The paper's cluster: 1% of its servers die at once, and each server has 16 slabs. */
    static final int SERVERS = 1000;

    static final int DEAD = SERVERS / 100;
    static final int SLABS = 16;

    private LossProbability() {}

    /**
     * Returns the probability that any group of the paper's cluster is lost, if all memory is of this kind: 0 if the
     * clients have all of it on disks of their own, since servers alone die.
     */
    static double of(MemoryKind kind) {
        return kind.name().equals(MemoryKind.SSD_BACKUP) ? 0 : of(kind.layout());
    }

    /** Returns the probability that any group of the paper's cluster is lost, if all have this layout. */
    static double of(PageLayout layout) {
        double group = ofGroup(SERVERS, DEAD, layout.splits(), layout.paritySplits());
        double groups = (double) SERVERS * SLABS / layout.splits();
        // 1 - (1 - group)^groups, without the rounding errors of small probabilities.
        return -Math.expm1(groups * Math.log1p(-group));
    }

    /**
     * Returns the probability that one group is lost.
     *
     * @param dead how many of the servers die, at most all
     * @param size servers of the group, at most all
     * @param survives how many deaths of its servers the group survives
     */
    static double ofGroup(int servers, int dead, int size, int survives) {
        double lost = 0;
        for (int of = survives + 1; of <= Math.min(size, dead); of++) {
            lost += choices(dead, of) * choices(servers - dead, size - of) / choices(servers, size);
        }
        return Math.min(1, lost);
    }

    /** Returns n over m; 0 if there are no such choices. */
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
