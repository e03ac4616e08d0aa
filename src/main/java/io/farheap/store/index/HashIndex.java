package io.farheap.store.index;

import io.farheap.store.format.NativeWords;
import io.farheap.store.format.SpinWait;
import io.farheap.store.format.StoreRecord;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * From a key's hash to the newest record of its chain (FASTER, section 3). Buckets of 64 bytes: seven entries and, in
 * the last word, the address of another bucket of the chain. An entry:
 *
 * <pre>
 * bit 63     tentative: being inserted (with address 0), or moved to the next table
 * 48 to 62   tag: bits of the hash that did not choose the bucket, never 0
 * 0 to 47    address in the log, or 0 where there is no record yet
 * </pre>
 *
 * Two keys with the same bucket and tag share an entry, and a chain of records. Any thread may call, inside an epoch.
 *
 * <p><b>No tag is in a bucket twice.</b> Who inserts stores a tentative entry into a free place by compare-and-set,
 * then looks for another entry of the tag, tentative or not; where there is one, it takes its own back and begins
 * again, else it clears the bit. Of two that insert at once each has stored before it looks, so at least one sees the
 * other.
 *
 * <p><b>It doubles while it is used</b> ({@code IndexGrowth}). {@code next} is set, then each bucket is divided in two
 * of the next table, by the thread that grows the index or by the first that needs the bucket: it closes the buckets of
 * the chain, freezes every place of theirs by compare-and-set ({@link #moved}), so that whoever has found an entry
 * there fails to change it and looks again, then fills the two new buckets, which nobody looks at before the first's
 * word says that it is divided. A place that is being inserted into is waited for; that takes the other some
 * instructions.
 */
public final class HashIndex implements AutoCloseable {

    private static final int ENTRIES_END = IndexTable.OVERFLOW;
    private static final long TENTATIVE = 1L << 63;
    private static final int TAG_SHIFT = 48;
    /** What was free is no more. */
    private static final long FROZEN = -1;

    // Who is inside an epoch reads the table first: what grows out of it is then the other, or the same, or both are
    // the next one; a table is freed when all have left that were inside.
    private volatile IndexTable table;
    /** What the table grows into, else the table. */
    private volatile IndexTable next;

    /** Makes tables. */
    public LongFunction<IndexTable> tables = IndexTable::new;

    /** @param buckets a power of two; of 64 bytes each */
    public HashIndex(long buckets) {
        table = new IndexTable(buckets);
        next = table;
    }

    public long bytes() {
        IndexTable now = table;
        IndexTable then = next;
        return now == then ? now.bytes() : now.bytes() + then.bytes();
    }

    /** Whether its chains have become long. */
    public boolean crowded() {
        IndexTable now = table;
        return now.overflowing() > now.buckets / 4 && next == now && now.buckets < 1L << 36;
    }

    /** The largest that it was: of what it grows into. */
    public long buckets() {
        return next.buckets;
    }

    /** The table, where it does not grow. */
    public @Nullable IndexTable quiet() {
        IndexTable now = table;
        return next == now ? now : null;
    }

    /**
     * Shows the entries of a bucket that point to a record, inside an epoch.
     *
     * @param of the {@link #quiet} table
     * @return false where the index grows since, and what was shown is of no use
     */
    public boolean show(IndexTable of, long hash, LongConsumer entries) {
        if (table != of) {
            return false;
        }
        for (long bucket = of.bucket(hash); bucket != 0; bucket = IndexTable.next(bucket)) {
            for (long place = bucket; place < bucket + ENTRIES_END; place += Long.BYTES) {
                long word = NativeWords.getAcquire(place);
                if (word > 0 && address(word) != 0) {
                    entries.accept(word);
                }
            }
        }
        // Entries are frozen behind the beginning of growth.
        return next == of;
    }

    /** Puts an entry back that {@link #show} has shown, into an index of as many buckets that nobody else uses. */
    public void put(long hash, long word) {
        move(table, hash, word, address(word), 0);
    }

    /** The table, or what it grows into, whose buckets may be touched inside an epoch; {@link #find} finds entries. */
    public IndexTable newest() {
        return next;
    }

    /** Brings the bucket into the processor's cache. @return of no meaning */
    public long touch(long hash) {
        return NativeWords.getOpaque(newest().bucket(hash));
    }

    private static long tag(long hash) {
        long tag = hash >>> 49;
        return tag == 0 ? 1 : tag;
    }

    /** Whether an entry is not in use any more, as its bucket was divided: look it up again. */
    public static boolean moved(long word) {
        return word < 0;
    }

    /** The first bucket of the hash's chain, which is divided first where the table grows. */
    private long bucket(IndexTable now, IndexTable then, long hash, RecordChains chains) {
        if (now != then) {
            divide(now, then, hash, chains);
        }
        return then.bucket(hash);
    }

    /** @return the address of the entry, or 0 */
    public long find(long hash, RecordChains chains) {
        while (true) {
            IndexTable now = table;
            IndexTable then = next;
            long place = place(bucket(now, then, hash, chains), tag(hash));
            // What was not found may have been frozen by who grows the table.
            if (place != 0 || then == next) {
                return place;
            }
        }
    }

    private static long place(long bucket, long tag) {
        do {
            for (long place = bucket; place < bucket + ENTRIES_END; place += Long.BYTES) {
                if (NativeWords.getAcquire(place) >>> TAG_SHIFT == tag) {
                    return place;
                }
            }
            bucket = IndexTable.next(bucket);
        } while (bucket != 0);
        return 0;
    }

    /** @return the address of the entry, which is new where there was none */
    public long findOrInsert(long hash, RecordChains chains) {
        while (true) {
            IndexTable now = table;
            IndexTable then = next;
            long bucket = bucket(now, then, hash, chains);
            long tag = tag(hash);
            long place = place(bucket, tag);
            if (place == 0) {
                place = insert(then, bucket, tag);
            }
            if (place != 0) {
                return place;
            }
        }
    }

    /**
     * As {@link #findOrInsert}, of an index that is being made: it does not grow, and no other thread has the bucket.
     */
    public long findOrInsertAlone(long hash) {
        long tag = tag(hash);
        long free = 0;
        for (long bucket = table.bucket(hash); ; ) {
            for (long place = bucket; place < bucket + ENTRIES_END; place += Long.BYTES) {
                long word = NativeWords.get(place);
                if (word >>> TAG_SHIFT == tag) {
                    return place;
                }
                if (word == 0 && free == 0) {
                    free = place;
                }
            }
            long following = IndexTable.next(bucket);
            if (following == 0) {
                free = free == 0 ? table.extend(bucket) : free;
                NativeWords.set(free, tag << TAG_SHIFT);
                return free;
            }
            bucket = following;
        }
    }

    /** @return the address of the entry, or 0 to begin again */
    private static long insert(IndexTable table, long first, long tag) {
        long free = 0;
        for (long bucket = first; free == 0; ) {
            for (long place = bucket; place < bucket + ENTRIES_END; place += Long.BYTES) {
                if (NativeWords.getAcquire(place) == 0) {
                    free = place;
                    break;
                }
            }
            long following = IndexTable.next(bucket);
            if (free == 0 && following == 0) {
                following = table.extend(bucket);
                if (following == 0) {
                    return 0;
                }
            }
            bucket = following;
        }
        if (!NativeWords.compareAndSet(free, 0, TENTATIVE | tag << TAG_SHIFT)) {
            return 0;
        }
        if (other(first, tag, free)) {
            NativeWords.setRelease(free, 0);
            Thread.onSpinWait();
            return 0;
        }
        NativeWords.setRelease(free, tag << TAG_SHIFT);
        return free;
    }

    /** Whether another entry, tentative or not, has the tag. Behind the compare-and-set of one's own. */
    private static boolean other(long bucket, long tag, long own) {
        do {
            for (long place = bucket; place < bucket + ENTRIES_END; place += Long.BYTES) {
                long word = NativeWords.getAcquire(place);
                if (place != own && word != FROZEN && (word & ~TENTATIVE) >>> TAG_SHIFT == tag) {
                    return true;
                }
            }
            bucket = IndexTable.next(bucket);
        } while (bucket != 0);
        return false;
    }

    /**
     * Begins to double; where there is no memory it stays as it is, and that is thrown. By one thread, which
     * {@linkplain #divide divides} all buckets, then {@link #grown ends} it.
     */
    public void grow() {
        next = tables.apply(2 * table.buckets);
    }

    /** The buckets that are to be divided: a hash for each is 0 to this, exclusive. */
    public long toDivide() {
        return table.buckets;
    }

    public void divide(long hash, RecordChains chains) {
        divide(table, next, hash, chains);
    }

    /** All buckets are divided. @return the old table, which is to be freed when nobody can be using it */
    public IndexTable grown() {
        IndexTable old = table;
        table = next;
        return old;
    }

    private static void divide(IndexTable now, IndexTable then, long hash, RecordChains chains) {
        long first = now.bucket(hash);
        for (int rounds = 0; !IndexTable.divided(first); ) {
            long word = NativeWords.getAcquire(first + ENTRIES_END);
            if ((word & IndexTable.CLOSED) != 0) {
                rounds = SpinWait.wait(rounds);
            } else if (NativeWords.compareAndSet(first + ENTRIES_END, word, word | IndexTable.CLOSED)) {
                moveAll(now, then, first, hash, chains);
                NativeWords.setRelease(first + ENTRIES_END, word | IndexTable.CLOSED | IndexTable.DIVIDED);
            }
        }
    }

    private static void moveAll(IndexTable now, IndexTable then, long first, long hash, RecordChains chains) {
        int more = 0;
        for (long bucket = IndexTable.next(first); bucket != 0; bucket = closed(bucket)) {
            more++;
        }
        // Each of the two may need as many. Behind the first place that is frozen nothing may fail: others wait.
        long spare;
        try {
            spare = then.take(2 * more);
        } catch (Throwable e) {
            reopen(first);
            throw e;
        }
        long end = spare + 2L * more * IndexTable.BUCKET_BYTES;
        long bit = now.buckets;
        for (long bucket = first; bucket != 0; bucket = IndexTable.next(bucket)) {
            for (long place = bucket; place < bucket + ENTRIES_END; place += Long.BYTES) {
                long word = frozen(place);
                long address = address(word);
                if (address != 0) {
                    spare = move(then, hash & ~bit, word, chains.first(address, bit, false), spare);
                    spare = move(then, hash | bit, word, chains.first(address, bit, true), spare);
                }
            }
        }
        then.giveBack(spare, (int) ((end - spare) / IndexTable.BUCKET_BYTES));
    }

    /** A closed chain is as before; its first bucket last, behind which others close it. */
    private static void reopen(long first) {
        for (long bucket = IndexTable.next(first); bucket != 0; bucket = IndexTable.next(bucket)) {
            open(bucket);
        }
        open(first);
    }

    private static void open(long bucket) {
        NativeWords.setRelease(bucket + ENTRIES_END, NativeWords.get(bucket + ENTRIES_END) & ~IndexTable.CLOSED);
    }

    /** Takes a place out of use. @return what was there, 0 where no record was */
    private static long frozen(long place) {
        for (int rounds = 0; ; rounds = SpinWait.wait(rounds)) {
            long word = NativeWords.getAcquire(place);
            if (word >= 0) {
                boolean points = address(word) != 0;
                if (NativeWords.compareAndSet(place, word, points ? word | TENTATIVE : FROZEN)) {
                    return points ? word : 0;
                }
            }
            // Else another is inserting, and ends that in any case.
        }
    }

    /** @return the bucket behind one, to which none is added any more */
    private static long closed(long bucket) {
        long word = NativeWords.getAcquire(bucket + ENTRIES_END);
        while (!NativeWords.compareAndSet(bucket + ENTRIES_END, word, word | IndexTable.CLOSED)) {
            word = NativeWords.getAcquire(bucket + ENTRIES_END);
        }
        return IndexTable.next(bucket);
    }

    /**
     * Into a bucket that nobody else looks at yet.
     *
     * @param spare a bucket for the end of its chain, or 0 for one of the table's
     * @return the next one behind that where it is in use now
     */
    private static long move(IndexTable then, long hash, long word, long address, long spare) {
        if (address == 0) {
            return spare;
        }
        for (long bucket = then.bucket(hash); ; bucket = IndexTable.next(bucket)) {
            for (long place = bucket; place < bucket + ENTRIES_END; place += Long.BYTES) {
                if (NativeWords.get(place) == 0) {
                    NativeWords.set(place, pointing(word, address));
                    return spare;
                }
            }
            if (IndexTable.next(bucket) == 0) {
                if (spare == 0) {
                    then.extend(bucket);
                } else {
                    NativeWords.set(bucket + ENTRIES_END, spare);
                    spare += IndexTable.BUCKET_BYTES;
                }
            }
        }
    }

    /** What an entry points to. */
    public static long address(long word) {
        return word & StoreRecord.ADDRESS;
    }

    /** An entry that points elsewhere. */
    public static long pointing(long word, long address) {
        return word & ~StoreRecord.ADDRESS | address;
    }

    /** The store's sessions are closed, and nobody grows it. */
    @Override
    public void close() {
        IndexTable then = next;
        IndexTable now = table;
        now.free();
        if (then != now) {
            then.free();
        }
    }
}
