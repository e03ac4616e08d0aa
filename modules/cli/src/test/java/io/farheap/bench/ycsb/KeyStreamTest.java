package io.farheap.bench.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeyStreamTest {

    private static final int RECORDS = 1000;
    private static final int GROUPS = 2000;
    private static final int MANY = 5_000_000;

    private static long[] counts(KeyDistribution distribution) {
        KeyStream stream = new KeyStream(distribution, RECORDS, 0, 1);
        OperationGroup group = new OperationGroup();
        long[] counts = new long[RECORDS];
        for (int i = 0; i < GROUPS; i++) {
            stream.fill(group, YcsbWorkload.C);
            assertTrue(group.readsOnly());
            for (long key : group.keys) {
                counts[(int) key]++;
            }
        }
        return counts;
    }

    @Test
    void uniformKeysAreAllDrawnAboutAsOften() {
        long mean = GROUPS * (long) OperationGroup.SIZE / RECORDS;
        for (long count : counts(KeyDistribution.UNIFORM)) {
            assertTrue(count > mean / 3 && count < mean * 3, count + " of " + mean);
        }
    }

    /** With 1,000 keys and a skew of 0.99, the hottest key has an eighth of the requests, 1 / zeta. */
    @Test
    void zipfianKeysAreSkewedAndSpread() {
        long[] counts = counts(KeyDistribution.ZIPFIAN);
        long[] sorted = counts.clone();
        Arrays.sort(sorted);
        long all = Arrays.stream(counts).sum();
        assertEquals(1 / 7.5, (double) sorted[RECORDS - 1] / all, 0.05);
        assertTrue(Arrays.stream(sorted, RECORDS - 100, RECORDS).sum() > all / 2);
        // The two hottest keys are not neighbours.
        int first = indexOf(counts, sorted[RECORDS - 1]);
        int second = indexOf(counts, sorted[RECORDS - 2]);
        assertTrue(Math.abs(first - second) > 1, first + " and " + second);
    }

    private static int indexOf(long[] values, long value) {
        for (int i = 0; i < values.length; i++) {
            if (values[i] == value) {
                return i;
            }
        }
        throw new AssertionError(value);
    }

    @Test
    void theLatestKeysAreReadMost() {
        long[] counts = counts(KeyDistribution.LATEST);
        long all = Arrays.stream(counts).sum();
        assertTrue(counts[RECORDS - 1] > all / 12);
        assertTrue(Arrays.stream(counts, RECORDS - 100, RECORDS).sum() > all / 2);
    }

    @Test
    void threadsInsertKeysOfTheirOwnAndReadWhatIsThere() {
        Set<Long> there = new HashSet<>();
        for (long key = 0; key < RECORDS; key++) {
            there.add(key);
        }
        long inserts = 0;
        for (int thread = 0; thread < 2; thread++) {
            Set<Long> own = new HashSet<>();
            KeyStream stream = new KeyStream(KeyDistribution.LATEST, RECORDS, thread, 2);
            OperationGroup group = new OperationGroup();
            for (int i = 0; i < GROUPS; i++) {
                stream.fill(group, YcsbWorkload.D);
                for (int at = 0; at < OperationGroup.SIZE; at++) {
                    long key = group.keys[at];
                    if (group.kinds[at] == OperationGroup.INSERT) {
                        assertTrue(there.add(key) && own.add(key), "inserted twice: " + key);
                        inserts++;
                    } else {
                        assertTrue(key < RECORDS ? there.contains(key) : own.contains(key), "read: " + key);
                    }
                }
            }
        }
        assertEquals(0.05, (double) inserts / (2 * GROUPS * OperationGroup.SIZE), 0.01);
    }

    /** Otherwise a cache answers two threads with the keys that one thread has just read. */
    @Test
    void streamsOfOneThreadAndOfTwoHaveNoKeysInCommonButByChance() {
        for (KeyDistribution distribution : List.of(KeyDistribution.UNIFORM, KeyDistribution.ZIPFIAN)) {
            List<KeyStream> streams = List.of(
                    new KeyStream(distribution, RECORDS, 0, 1),
                    new KeyStream(distribution, RECORDS, 0, 2),
                    new KeyStream(distribution, RECORDS, 1, 2));
            List<long[]> begins = new ArrayList<>();
            for (KeyStream stream : streams) {
                OperationGroup group = new OperationGroup();
                stream.shuffle();
                stream.fill(group, YcsbWorkload.C);
                begins.add(group.keys.clone());
            }
            for (int one = 0; one < begins.size(); one++) {
                for (int other = 0; other < one; other++) {
                    int same = 0;
                    for (int i = 0; i < OperationGroup.SIZE; i++) {
                        same += begins.get(one)[i] == begins.get(other)[i] ? 1 : 0;
                    }
                    assertTrue(same < OperationGroup.SIZE / 2, distribution + ": " + one + " repeats " + other);
                }
            }
        }
    }

    /** A stream that is drawn once and repeated leaves out a third of the keys, which are a smaller set to cache. */
    @Test
    void uniformKeysDoNotRepeat() {
        KeyStream stream = new KeyStream(KeyDistribution.UNIFORM, MANY, 0, 1);
        OperationGroup group = new OperationGroup();
        BitSet read = new BitSet();
        long keys = 0;
        while (keys < 4 * MANY) {
            stream.fill(group, YcsbWorkload.C);
            for (long key : group.keys) {
                read.set((int) key);
            }
            keys += OperationGroup.SIZE;
        }
        // One of e^4 keys is left out.
        assertEquals(MANY, read.cardinality(), MANY / 40.0);
    }

    @Test
    void workloadsHaveTheirParts() {
        for (YcsbWorkload workload : YcsbWorkload.values()) {
            int[] kinds = new int[4];
            KeyStream stream = new KeyStream(KeyDistribution.UNIFORM, RECORDS, 0, 1);
            OperationGroup group = new OperationGroup();
            for (int i = 0; i < GROUPS; i++) {
                stream.fill(group, workload);
                for (byte kind : group.kinds) {
                    kinds[kind]++;
                }
            }
            double all = GROUPS * (double) OperationGroup.SIZE;
            assertEquals(workload.updates, kinds[OperationGroup.UPDATE] / all, 0.02, workload.name());
            assertEquals(workload.inserts, kinds[OperationGroup.INSERT] / all, 0.02, workload.name());
            assertEquals(workload.modifications, kinds[OperationGroup.MODIFY] / all, 0.02, workload.name());
        }
    }
}
