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
 * How much regions are used that clients can do without, as these report it, and which of them are asked back: batch
 * eviction, after Hydra (Lee et al., FAST '22, section 4.2). To have E regions back it looks at E + E' random ones, and
 * asks for the E that are least used. A region is asked for until it is given back, it is not needed any more, or its
 * client has not obeyed for long: then others may be asked in its place. Thread-safe.
 */
final class RegionUses {

    /** Of which no report tells for so many periods, the client has none to give any more. */
    private static final int KNOWN_PERIODS = 10;
    /** So long a client has for giving one back before another is asked in its place. */
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

    /** @return regions of the lease that are asked for */
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
            // Half of it is the last period's.
            known.heat = known.heat / 2 + report.accesses() / 2;
            known.reportedAt = now;
        }
        return uses.values().stream()
                .filter(use -> use.asked && use.lease == lease)
                .map(use -> use.region)
                .toList();
    }

    /**
     * Asks for so many regions, those that were asked for before among them, or for as many as there are.
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
                // One that was asked for in vain is as good as any: its client may be able to by now.
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
