package io.farheap.cache.order;

import io.farheap.migration.region.RegionTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * How often each region is used, by samples: sessions' tables keep where their latest requests went, and whoever wants
 * to know looks at them, without a word to the sessions. The looks race with the sessions' stores, which are of one
 * word each; an address that is old, or mixed with another request's token, counts as one sample of many. So a request
 * pays nothing. One thread; used once.
 */
public final class RegionHeat {

    private static final int LOOKS = 16;
    private static final long BETWEEN_LOOKS_NANOS = 200_000;

    private final RegionTable regions;
    private final int[] counts;
    /** What was in each place of a table at the last look. */
    private final IdentityHashMap<Request[], long[]> seen = new IdentityHashMap<>();

    private RegionHeat(RegionTable regions) {
        this.regions = regions;
        this.counts = new int[regions.size()];
    }

    /**
     * Regions in the order of their use, the hottest first; of those that are alike, as they were. Takes some ms.
     *
     * @param look shows where the requests of all sessions go
     */
    public static List<Integer> hottestFirst(List<Integer> some, RegionTable table, Consumer<RegionHeat> look) {
        if (some.size() < 2) {
            return some;
        }
        RegionHeat heat = new RegionHeat(table);
        for (int i = 0; i < LOOKS; i++) {
            if (i > 0) {
                LockSupport.parkNanos(BETWEEN_LOOKS_NANOS);
            }
            look.accept(heat);
        }
        List<Integer> ordered = new ArrayList<>(some);
        ordered.sort(Comparator.comparingInt(region -> -heat.counts[region]));
        return ordered;
    }

    /** Counts the requests that have come into a table since it was last seen here; at first, all that were. */
    void add(Request[] table) {
        long[] last = seen(table);
        for (int place = 0; place < last.length; place++) {
            // Empty until its first request.
            if (table[place].length > 0) {
                look(last, place, table[place].address, table[place]);
            }
        }
    }

    /** The same where each place has an address of its own, which is negative until its first request. */
    public void add(Request[] table, long[] addresses) {
        long[] last = seen(table);
        for (int place = 0; place < last.length; place++) {
            if (addresses[place] >= 0) {
                look(last, place, addresses[place], table[place]);
            }
        }
    }

    private long[] seen(Request[] table) {
        return seen.computeIfAbsent(table, known -> new long[known.length]);
    }

    private void look(long[] last, int place, long address, Request request) {
        long now = mark(address, request.token, request.issuedAt);
        if (now != last[place]) {
            last[place] = now;
            count(address);
        }
    }

    /** Not 0. */
    private static long mark(long address, long token, long issuedAt) {
        return (address * 31 + token) * 31 + issuedAt | 1;
    }

    private void count(long address) {
        int region = regions.indexOf(address);
        if (region < counts.length) {
            counts[region]++;
        }
    }
}
