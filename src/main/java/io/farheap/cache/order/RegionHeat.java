package io.farheap.cache.order;

import io.farheap.migration.region.RegionTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Estimates how often each region is used, by sampling: the sessions' request tables keep the addresses of their latest
 * requests, and the migrating thread reads these tables without stopping the sessions, so that sampling costs a request
 * nothing. The reads race with the sessions' stores of one word each: an address that is stale, or that is combined
 * with another request's token, is one wrong sample among many. One thread; used once.
 */
public final class RegionHeat {

    private static final int LOOKS = 16;
    private static final long BETWEEN_LOOKS_NANOS = 200_000;

    private final RegionTable regions;
    private final int[] counts;
    /** A mark of the request that was in each place of a table at the last look. */
    private final IdentityHashMap<Request[], long[]> seen = new IdentityHashMap<>();

    private RegionHeat(RegionTable regions) {
        this.regions = regions;
        this.counts = new int[regions.size()];
    }

    /**
     * Sorts regions by their use, the hottest first; regions of equal use keep their order. Takes some ms.
     *
     * @param look calls {@code add} for the tables of all sessions
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

    /**
     * Counts the requests that have entered a table since the last look at it; the first look counts all that there
     * are.
     */
    void add(Request[] table) {
        long[] last = seen(table);
        for (int place = 0; place < last.length; place++) {
            // Empty until its first request.
            if (table[place].length > 0) {
                look(last, place, table[place].address, table[place]);
            }
        }
    }

    /**
     * The same for a table that keeps each place's address apart, which is negative until the place's first request.
     */
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
