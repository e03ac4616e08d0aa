package io.farheap.store.index;

import io.farheap.store.format.NativeWords;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Two threads insert the same key into a bucket, and one of them inserts another key, too: each key is in the bucket
 * once, and both threads get the same entry for it. The bucket has one free place before it overflows.
 */
@JCStressTest
@Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "one entry of either key, and all have theirs")
@Outcome(expect = Expect.FORBIDDEN, desc = "a key is there twice, or not, or has another's entry")
@State
public class SameKeyInsertionStress {

    private static final int BUCKETS = 1 << 18;
    private static final int TAG_SHIFT = 49;
    private static final long KEY = 7L << TAG_SHIFT;
    private static final long OTHER = 8L << TAG_SHIFT;
    /** The number of entries in the bucket before. */
    private static final int OTHERS = IndexTable.ENTRIES - 1;

    /** Shared by all tests: each has a bucket of its own, which it leaves empty. */
    private static final HashIndex INDEX = new HashIndex(BUCKETS);

    private static final AtomicLong LAST = new AtomicLong();
    private static final RecordChains NONE = (address, bit, set) -> {
        throw new AssertionError("the index does not grow");
    };

    private final long bucket = LAST.incrementAndGet() & BUCKETS - 1;
    private final long[] filled = new long[OTHERS];
    private long first;
    private long second;
    private long third;

    public SameKeyInsertionStress() {
        for (int i = 0; i < OTHERS; i++) {
            filled[i] = INDEX.findOrInsert(bucket | (long) (i + 1) << TAG_SHIFT, NONE);
        }
    }

    @Actor
    public void one() {
        first = INDEX.findOrInsert(bucket | KEY, NONE);
    }

    @Actor
    public void another() {
        third = INDEX.findOrInsert(bucket | OTHER, NONE);
        second = INDEX.findOrInsert(bucket | KEY, NONE);
    }

    @Arbiter
    public void look(III_Result result) {
        result.r1 = first == second && first == INDEX.find(bucket | KEY, NONE) ? 1 : 0;
        result.r2 = third != first && third == INDEX.find(bucket | OTHER, NONE) ? 1 : 0;
        result.r3 = (int) NativeWords.get(first) == 0 && count(KEY) == 1 && count(OTHER) == 1 ? 1 : 0;
        for (long place : filled) {
            NativeWords.set(place, 0);
        }
        NativeWords.set(first, 0);
        NativeWords.set(second, 0);
        NativeWords.set(third, 0);
    }

    /** Entries of a key in the bucket's chain, tentative ones too. */
    private int count(long key) {
        int count = 0;
        IndexTable table = INDEX.quiet();
        for (long at = table.bucket(bucket); at != 0; at = IndexTable.next(at)) {
            for (int i = 0; i < IndexTable.ENTRIES; i++) {
                long word = NativeWords.get(at + (long) i * Long.BYTES);
                count += (word & Long.MAX_VALUE) >>> 48 == key >>> TAG_SHIFT ? 1 : 0;
            }
        }
        return count;
    }
}
