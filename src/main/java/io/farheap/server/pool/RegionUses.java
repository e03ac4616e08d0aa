package io.farheap.server.pool;

import io.farheap.control.plane.RegionUse;
import io.farheap.rpc.RegionHolders;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * The reported use of regions that clients could give up, and the regions that the server asks back: batch eviction,
 * after Hydra (Lee et al., FAST '22, section 4.2). To get E regions back it compares E + E' random ones, and asks for
 * the E that are least used. A region is asked for until it is given back, it is not needed any more, or its client has
 * not complied for long: then another one may be asked for in its place. Thread-safe.
 */
final class RegionUses {

    /** A region that has not been reported for so many periods is dropped: the client cannot give it any more. */
    private static final int KNOWN_PERIODS = 10;
    /** Periods that a client has for giving a region back before another one is asked for in its place. */
    private static final int PATIENT_PERIODS = 30;

    private static final class Use {
        final long lease;
        final int region;
        long heat;
        long reportedAt;
        boolean asked;
        long askedAt;

        Use(long lease, int region) {
            this.lease = lease;
            this.region = region;
        }
    }

    private final RegionHolders holders;
    private final long periodNanos;
    private final int extra;
    private final RandomGenerator random;
    private final Map<Integer, Use> uses = new HashMap<>();
    private long evicted;

    /** @param extra E' */
    RegionUses(RegionHolders holders, long periodNanos, int extra, RandomGenerator random) {
        this.holders = holders;
        this.periodNanos = periodNanos;
        this.extra = extra;
        this.random = random;
    }

    /**
     * Stores a report.
     *
     * @return regions of the lease that are asked for
     */
    synchronized List<Integer> report(long lease, List<RegionUse> reported, long now) {
        for (RegionUse report : reported) {
            if (!holders.holds(lease, report.regionId())) {
                continue;
            }
            Use known = uses.get(report.regionId());
            if (known == null || known.lease != lease) {
                known = new Use(lease, report.regionId());
                known.heat = report.accesses();
                uses.put(report.regionId(), known);
            }
            // Half of it comes from the last period.
            known.heat = known.heat / 2 + report.accesses() / 2;
            known.reportedAt = now;
        }
        return uses.values().stream()
                .filter(use -> use.asked && use.lease == lease)
                .map(use -> use.region)
                .toList();
    }

    /**
     * Asks for so many regions, including those that were asked for before, or for as many as there are.
     *
     * @return how many are asked for
     */
    synchronized int ask(int regions, long now) {
        List<Use> others = new ArrayList<>();
        int asked = 0;
        for (Use use : List.copyOf(uses.values())) {
            if (!holders.holds(use.lease, use.region)) {
                evicted += use.asked ? 1 : 0;
                uses.remove(use.region);
            } else if (now - use.reportedAt > KNOWN_PERIODS * periodNanos) {
                uses.remove(use.region);
            } else if (use.asked && now - use.askedAt <= PATIENT_PERIODS * periodNanos) {
                asked++;
            } else {
                // A region that was asked for in vain is as good as any other: its client may be able to give it back
                // by now.
                use.asked = false;
                others.add(use);
            }
        }
        int batch = Math.min(regions - asked, others.size());
        if (batch <= 0) {
            return asked;
        }
        Collections.shuffle(others, random);
        List<Use> compared = others.subList(0, Math.min(others.size(), batch + Math.min(extra, batch)));
        compared.sort(Comparator.comparingLong(use -> use.heat));
        for (Use use : compared.subList(0, batch)) {
            use.asked = true;
            use.askedAt = now;
        }
        return asked + batch;
    }

    /** Nothing is asked for any more. */
    synchronized void askNothing(long now) {
        ask(0, now);
        uses.values().forEach(use -> use.asked = false);
    }

    synchronized int asked() {
        return (int) uses.values().stream()
                .filter(use -> use.asked && holders.holds(use.lease, use.region))
                .count();
    }

    /** How many were given back that were asked for. */
    synchronized long evicted() {
        return evicted
                + uses.values().stream()
                        .filter(use -> use.asked && !holders.holds(use.lease, use.region))
                        .count();
    }
}
