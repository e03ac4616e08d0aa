package io.farheap.kv.session;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapCounts;
import io.farheap.kv.space.Counts;
import io.farheap.kv.space.Operations;
import io.farheap.remote.VerbCounts;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/** Adds up what a process's sessions of one map have met. Thread-safe. */
public final class Tally {

    private static final VerbCounts NOTHING = new VerbCounts(0, 0, 0, 0, 0, 0, 0);

    private final List<String> experts;
    private final Map<Counts, Supplier<VerbCounts>> open = new HashMap<>();
    private final long[] closed = new long[Counts.SIZE];
    private VerbCounts closedPosted = NOTHING;

    /** @param experts names, in the order of their bits */
    public Tally(List<String> experts) {
        this.experts = List.copyOf(experts);
    }

    synchronized void opened(Counts counts, Supplier<VerbCounts> posted) {
        open.put(counts, posted);
    }

    synchronized void closed(Counts counts) {
        Supplier<VerbCounts> posted = open.remove(counts);
        if (posted != null) {
            addTo(closed, counts);
            closedPosted = sum(closedPosted, posted.get());
        }
    }

    private static void addTo(long[] sum, Counts counts) {
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
        for (Map.Entry<Counts, Supplier<VerbCounts>> session : open.entrySet()) {
            addTo(sum, session.getKey());
            posted = sum(posted, session.getValue().get());
        }
        long stored = 0;
        long refused = 0;
        for (int kind : new int[] {
            Operations.SET, Operations.ADD, Operations.REPLACE, Operations.COMPARE_AND_SET, Operations.INCREMENT
        }) {
            stored += sum[Counts.endedAs(kind, KvStatus.DONE)];
            refused += refused(sum, kind);
        }
        return new MapCounts(
                sum[Counts.endedAs(Operations.GET, KvStatus.DONE)],
                sum[Counts.endedAs(Operations.GET, KvStatus.ABSENT)],
                stored,
                refused + refused(sum, Operations.TOUCH),
                sum[Counts.endedAs(Operations.DELETE, KvStatus.DONE)],
                sum[Counts.endedAs(Operations.TOUCH, KvStatus.DONE)],
                ofAll(sum, KvStatus.NO_ROOM),
                ofAll(sum, KvStatus.LOST),
                sum[Counts.READ_AGAIN],
                sum[Counts.SWAPS_LOST],
                sum[Counts.EVICTED] + sum[Counts.endedAs(Operations.MAKE_ROOM, KvStatus.DONE)],
                sum[Counts.CROWDED_OUT],
                sum[Counts.VICTIMS_LOST],
                sum[Counts.UNLINKED],
                sum[Counts.DUPLICATES],
                sum[Counts.endedAs(Operations.MOVE, KvStatus.DONE)]
                        + sum[Counts.endedAs(Operations.COMPACT, KvStatus.DONE)],
                byExpert(sum, Counts::evictedByExpert),
                byExpert(sum, Counts::regretsOfExpert),
                posted);
    }

    private static long refused(long[] sum, int kind) {
        return sum[Counts.endedAs(kind, KvStatus.ABSENT)]
                + sum[Counts.endedAs(kind, KvStatus.EXISTS)]
                + sum[Counts.endedAs(kind, KvStatus.CHANGED)]
                + sum[Counts.endedAs(kind, KvStatus.NOT_A_NUMBER)];
    }

    private static long ofAll(long[] sum, int status) {
        long all = 0;
        for (int kind = Operations.GET; kind <= Operations.TOUCH; kind++) {
            all += sum[Counts.endedAs(kind, status)];
        }
        return all;
    }

    private Map<String, Long> byExpert(long[] sum, IntUnaryOperator at) {
        Map<String, Long> named = new LinkedHashMap<>();
        for (int expert = 0; expert < Math.min(Counts.EXPERTS, experts.size()); expert++) {
            named.put(experts.get(expert), sum[at.applyAsInt(expert)]);
        }
        return named;
    }
}
