package io.farheap.cache;

import io.farheap.procedure.builtin.Append;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The content that the sessions of a {@link CallHistoryTest} share: in each region words with a history, a counter that
 * calls add to, a counter that calls compare and set, and a log. Thread-safe.
 */
final class CallHistory {

    static final int REGIONS = 3;

    private static final long R = Cluster.REGION_BYTES;
    private static final long ADDED = 256;
    private static final long SET = 264;
    private static final long LOG = 1024;
    private static final int LOG_BYTES = 24 * 1024;
    /** The offset of the words that each have one session as their only writer. */
    private static final long OWN = 512;
    /** The offset of the ranges that each have one session as their only user. */
    private static final long RANGES = 40 * 1024;

    static final int RANGE_BYTES = 128;

    final Procedure load;
    final Procedure store;
    final Procedure add;
    final Procedure set;
    final Procedure append;
    final Procedure sum;
    final Procedure addToPiece;
    final Procedure sumOfPiece;
    /** The words that requests and calls write, with values that are all different. */
    private final Histories words;
    /** The values that additions have found, by region. */
    private final BitSet[] found = new BitSet[REGIONS];

    private final long[] sets = new long[REGIONS];
    /** The records of each region's log, by their places in the log. */
    private final List<Map<Long, Long>> appended = new ArrayList<>();

    private final List<String> problems = new ArrayList<>();

    CallHistory(Cache cache) {
        Procedures procedures = cache.procedures();
        load = procedures.register(TestProcedures.Load.class, Procedures.READS);
        store = procedures.register(TestProcedures.Store.class, Procedures.WRITES);
        add = procedures.register(TestProcedures.Add.class, Procedures.WRITES);
        set = procedures.register(TestProcedures.Set.class, Procedures.WRITES);
        append = procedures.register(Append.class, Procedures.WRITES | Procedures.STOP);
        sum = procedures.register(TestProcedures.Sum.class, Procedures.READS);
        addToPiece = procedures.register(TestProcedures.AddToPiece.class, Procedures.WRITES);
        sumOfPiece = procedures.register(TestProcedures.SumOfPiece.class, Procedures.READS);
        long[] windows = new long[REGIONS];
        try (Caller caller = new Caller(cache)) {
            for (int region = 0; region < REGIONS; region++) {
                windows[region] = region * R;
                found[region] = new BitSet();
                appended.add(new HashMap<>());
                caller.write(log(region) + 8, LOG_BYTES);
            }
        }
        words = new Histories(windows);
    }

    Histories words() {
        return words;
    }

    static long added(int region) {
        return region * R + ADDED;
    }

    static long set(int region) {
        return region * R + SET;
    }

    static long log(int region) {
        return region * R + LOG;
    }

    static long own(int region, int session) {
        return region * R + OWN + 8L * session;
    }

    static long range(int region, int session) {
        return region * R + RANGES + (long) RANGE_BYTES * session;
    }

    synchronized void added(int region, long before) {
        if (before < 0 || before > Integer.MAX_VALUE || found[region].get((int) before)) {
            problems.add("two additions to region " + region + " found " + before);
        } else {
            found[region].set((int) before);
        }
    }

    synchronized void set(int region, int code) {
        sets[region]++;
    }

    synchronized void appended(int region, long at, long record) {
        Long other = appended.get(region).put(at, record);
        if (other != null) {
            problems.add("two records of the log of region " + region + " are at " + at);
        }
    }

    /** @return all violations; called when all sessions are closed */
    synchronized List<String> violations(Cache cache) {
        List<String> all = new ArrayList<>(problems);
        all.addAll(words.violations());
        try (Caller caller = new Caller(cache)) {
            for (int region = 0; region < REGIONS; region++) {
                compare(all, "additions to region " + region, found[region].cardinality(), caller.read(added(region)));
                compare(
                        all,
                        "values that were added to region " + region,
                        found[region].length(),
                        found[region].cardinality());
                compare(all, "sets in region " + region, sets[region], caller.read(set(region)));
                log(all, caller, region);
            }
        }
        return all;
    }

    private void log(List<String> all, Caller caller, int region) {
        long taken = caller.read(log(region));
        Map<Long, Long> expected = appended.get(region);
        compare(all, "bytes of the log of region " + region, 16L * expected.size(), taken);
        for (long at = 0; at < taken; at += 16) {
            long place = log(region) + 16 + at;
            compare(all, "length word of a record at " + at, 9, caller.read(place));
            compare(all, "record at " + at, expected.getOrDefault(at, -1L), caller.read(place + 8));
        }
    }

    private static void compare(List<String> all, String what, long expected, long is) {
        if (expected != is) {
            all.add(what + ": " + expected + " are right, " + is + " found");
        }
    }
}
