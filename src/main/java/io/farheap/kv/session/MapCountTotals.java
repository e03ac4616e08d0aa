package io.farheap.kv.session;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapCounts;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.remote.contract.VerbCounts;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/** Adds up the counts of a process's sessions of one map. Thread-safe. */
public final class MapCountTotals {

    private static final VerbCounts NOTHING = new VerbCounts(0, 0, 0, 0, 0, 0, 0);

    private final List<String> experts;
    private final Map<MapSessionCounts, Supplier<VerbCounts>> open = new HashMap<>();
    private final long[] closed = new long[MapSessionCounts.SIZE];
    private VerbCounts closedPosted = NOTHING;

    /** @param experts names, in the order of their bits */
    public MapCountTotals(List<String> experts) {
        this.experts = List.copyOf(experts);
    }

    public synchronized void opened(MapSessionCounts counts, Supplier<VerbCounts> posted) {
        open.put(counts, posted);
    }

    public synchronized void closed(MapSessionCounts counts) {
        Supplier<VerbCounts> posted = open.remove(counts);
        if (posted != null) {
            addTo(closed, counts);
            closedPosted = sum(closedPosted, posted.get());
        }
    }

    private static void addTo(long[] sum, MapSessionCounts counts) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] += counts.of(i);
        }
    }

    private static VerbCounts sum(VerbCounts one, VerbCounts other) {
        return one.since(NOTHING.since(other));
    }

    public synchronized MapCounts now() {
        long[] sum = closed.clone();
        VerbCounts posted = closedPosted;
        for (Map.Entry<MapSessionCounts, Supplier<VerbCounts>> session : open.entrySet()) {
            addTo(sum, session.getKey());
            posted = sum(posted, session.getValue().get());
        }
        long stored = 0;
        long refused = 0;
        for (int kind : new int[] {
            RequestColumns.SET,
            RequestColumns.ADD,
            RequestColumns.REPLACE,
            RequestColumns.COMPARE_AND_SET,
            RequestColumns.INCREMENT
        }) {
            stored += sum[MapSessionCounts.endedAs(kind, KvStatus.DONE)];
            refused += refused(sum, kind);
        }
        return new MapCounts(
                sum[MapSessionCounts.endedAs(RequestColumns.GET, KvStatus.DONE)],
                sum[MapSessionCounts.endedAs(RequestColumns.GET, KvStatus.ABSENT)],
                stored,
                refused + refused(sum, RequestColumns.TOUCH),
                sum[MapSessionCounts.endedAs(RequestColumns.DELETE, KvStatus.DONE)],
                sum[MapSessionCounts.endedAs(RequestColumns.TOUCH, KvStatus.DONE)],
                ofAll(sum, KvStatus.NO_ROOM),
                ofAll(sum, KvStatus.LOST),
                sum[MapSessionCounts.POINTER_HITS],
                sum[MapSessionCounts.STALE_POINTERS],
                sum[MapSessionCounts.CALLS],
                sum[MapSessionCounts.RENEWALS],
                sum[MapSessionCounts.READ_AGAIN],
                sum[MapSessionCounts.SWAPS_LOST],
                sum[MapSessionCounts.EVICTED] + sum[MapSessionCounts.endedAs(RequestColumns.MAKE_ROOM, KvStatus.DONE)],
                sum[MapSessionCounts.CROWDED_OUT],
                sum[MapSessionCounts.VICTIMS_LOST],
                sum[MapSessionCounts.UNLINKED],
                sum[MapSessionCounts.CLAIMS_REMOVED],
                sum[MapSessionCounts.endedAs(RequestColumns.MOVE, KvStatus.DONE)]
                        + sum[MapSessionCounts.endedAs(RequestColumns.COMPACT, KvStatus.DONE)],
                byExpert(sum, MapSessionCounts::evictedByExpert),
                byExpert(sum, MapSessionCounts::regretsOfExpert),
                posted);
    }

    private static long refused(long[] sum, int kind) {
        return sum[MapSessionCounts.endedAs(kind, KvStatus.ABSENT)]
                + sum[MapSessionCounts.endedAs(kind, KvStatus.EXISTS)]
                + sum[MapSessionCounts.endedAs(kind, KvStatus.CHANGED)]
                + sum[MapSessionCounts.endedAs(kind, KvStatus.NOT_A_NUMBER)];
    }

    private static long ofAll(long[] sum, int status) {
        long all = 0;
        for (int kind = RequestColumns.GET; kind <= RequestColumns.TOUCH; kind++) {
            all += sum[MapSessionCounts.endedAs(kind, status)];
        }
        return all;
    }

    private Map<String, Long> byExpert(long[] sum, IntUnaryOperator at) {
        Map<String, Long> named = new LinkedHashMap<>();
        for (int expert = 0; expert < Math.min(MapSessionCounts.EXPERTS, experts.size()); expert++) {
            named.put(experts.get(expert), sum[at.applyAsInt(expert)]);
        }
        return named;
    }
}
