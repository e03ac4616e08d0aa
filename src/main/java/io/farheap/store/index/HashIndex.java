package io.farheap.store.index;

import io.farheap.store.format.NativeWords;
import io.farheap.store.format.SpinWait;
import io.farheap.store.format.StoreRecord;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The index of a store: it maps a key's hash to the address of the newest record in that key's chain (FASTER, section
 * 3). Any thread may call it inside an epoch, if a method does not say otherwise.
 *
 * <p><b>The idea.</b> A bucket is one cache line of words that threads change by compare-and-set, and no entry holds a
 * key. The low bits of the hash choose a bucket, and 15 of its upper bits, the tag, choose an entry in the bucket. Keys
 * that share a bucket and a tag share that entry, and their records form one chain, newest first, linked by the
 * addresses in the records' headers; the caller compares the keys. So an entry takes 8 bytes however long the keys are,
 * and one compare-and-set of the entry publishes a record.
 *
 * <p>A bucket has 64 bytes: seven entries, and in the last word the address of the next bucket of its chain, or 0, with
 * two flags that are used when the chain is divided ({@link IndexTable}). An entry:
 *
 * <pre>
 * bit 63     tentative: a session is inserting it (its address is 0), or it has moved to the next table
 * 48 to 62   tag: upper bits of the hash, which did not choose the bucket; never 0
 * 0 to 47    address of the chain's first record, or 0 if there is no record yet; bit 47: it is in the read cache
 * </pre>
 *
 * <p><b>States of a place, and which thread writes them.</b>
 *
 * <pre>
 * state       word                      changed by
 * free        0                         a session that inserts: CAS to tentative; the dividing thread: CAS to frozen
 * tentative   bit 63, tag, address 0    the session that inserted it alone: release store to in use, or to free
 * in use      tag, address              a session or the log's thread: CAS to another address, to publish a record, to
 *                                       add a copy to the read cache, or to drop one;
 *                                       the dividing thread: CAS to moved, or to frozen if the address is 0
 * moved       bit 63, tag, an address   nothing: it stays so until the table is freed
 * frozen      -1                        nothing
 * </pre>
 *
 * <p>Two threads can only meet at a free place or at an entry in use, and both use a compare-and-set from the word that
 * they have read: one succeeds, the other looks again. That compare-and-set comes after the stores of the record's
 * contents and pairs with the acquire load of the entry, so a thread that finds the address sees the whole record.
 *
 * <p><b>No tag is in a bucket twice.</b> An insert stores a tentative entry into a free place by compare-and-set. It
 * then looks for another entry with the same tag, tentative or not. If there is one, it frees its own place and begins
 * again; if not, it clears the tentative bit. If two threads insert the same tag at once, each has stored before it
 * looks, so at least one of them sees the other. {@link #find} does not see tentative entries.
 *
 * <p><b>The index doubles while it is used</b> ({@code IndexGrowth}). The growing thread sets {@code next} to a table
 * of twice as many buckets. The chain of each bucket is then divided between two buckets of that table, either by the
 * growing thread or by the first session that needs the bucket; the thread that sets the {@code CLOSED} flag of the
 * chain's first bucket does it, and the other threads wait:
 *
 * <ol>
 *   <li>It sets {@code CLOSED} in the later buckets of the chain by compare-and-set, so that no bucket is added.
 *   <li>It takes every place out of use by compare-and-set. A session that has read an entry before fails to change it,
 *       sees that it has {@linkplain #moved moved}, and looks it up again. If a place is tentative, the dividing thread
 *       waits for the session that is inserting, which needs a few instructions.
 *   <li>It fills the two new buckets by plain stores, since no other thread reads them yet.
 *   <li>It sets {@code DIVIDED} in the chain's first bucket by a release store. This pairs with the acquire load in
 *       {@code IndexTable.divided}: a thread reads the new buckets only after it has seen the flag.
 * </ol>
 *
 * <p>After all buckets are divided, the growing thread sets {@code table} to the new table, waits until each session
 * that was inside an epoch has left it, and frees the old one.
 */
public final class HashIndex implements AutoCloseable {

    private static final int ENTRIES_END = IndexTable.OVERFLOW;
    private static final long TENTATIVE = 1L << 63;
    private static final int TAG_SHIFT = 48;
    /** A place that held no record and has been taken out of use. */
    private static final long FROZEN = -1;

    // A thread reads table first, then next. So it sees the old table twice, the old and the new, or the new one twice,
    // but never the new one and then the old. The old table is freed when all threads that were inside an epoch have
    // left it.
    private volatile IndexTable table;
    /** The table that this index grows into; equal to {@link #table} if the index does not grow. */
    private volatile IndexTable next;

    /** Allocates tables; tests set one that fails. */
    public LongFunction<IndexTable> tables = IndexTable::new;

    /** @param buckets how many buckets of 64 bytes; a power of two */
    public HashIndex(long buckets) {
        table = new IndexTable(buckets);
        next = table;
    }

    /** Bytes of memory that the index has, including the next table while it grows. Any thread. */
    public long bytes() {
        IndexTable now = table;
        IndexTable then = next;
        return now == then ? now.bytes() : now.bytes() + then.bytes();
    }

    /**
     * Whether the index is to be doubled: more than a quarter as many overflow buckets as buckets, and it does not grow
     * yet.
     */
    public boolean crowded() {
        IndexTable now = table;
        return now.overflowing() > now.buckets / 4 && next == now && now.buckets < 1L << 36;
    }

    /** Buckets of the newest table: of the one that the index grows into, if it grows. */
    public long buckets() {
        return next.buckets;
    }

    /** The table, or null while the index grows. */
    public @Nullable IndexTable quiet() {
        IndexTable now = table;
        return next == now ? now : null;
    }

    /**
     * Passes the entries of a bucket's chain that point to a record to {@code entries}, inside an epoch.
     *
     * @param of the table that {@link #quiet} returned
     * @return false if the index has begun to grow since; the entries that were passed are not to be used then
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
        // Growth stores next before it freezes an entry: if next is unchanged, no entry that was read above was frozen.
        return next == of;
    }

    /**
     * Puts an entry back that {@link #show} passed, into an index with the same number of buckets that no other thread
     * uses.
     */
    public void put(long hash, long word) {
        move(table, hash, word, address(word), 0);
    }

    /**
     * The newest table, whose memory may be touched inside an epoch. Entries are found by {@link #find}, not in this
     * table.
     */
    public IndexTable newest() {
        return next;
    }

    /**
     * Loads the bucket's cache line into the processor's cache.
     *
     * @return a word of it, so that the load is not removed
     */
    public long touch(long hash) {
        return NativeWords.getOpaque(newest().bucket(hash));
    }

    private static long tag(long hash) {
        long tag = hash >>> 49;
        return tag == 0 ? 1 : tag;
    }

    /** Whether an entry's word says that its bucket was divided: the caller looks the entry up again. */
    public static boolean moved(long word) {
        return word < 0;
    }

    /** The first bucket of the hash's chain in {@code then}. If the table grows, the old chain is divided first. */
    private long bucket(IndexTable now, IndexTable then, long hash, RecordChains chains) {
        if (now != then) {
            divide(now, then, hash, chains);
        }
        return then.bucket(hash);
    }

    /** @return the address of the entry in memory, or 0 if the hash has no entry */
    public long find(long hash, RecordChains chains) {
        while (true) {
            IndexTable now = table;
            IndexTable then = next;
            long place = place(bucket(now, then, hash, chains), tag(hash));
            // If growth has begun since, the entry may exist but be frozen: look again.
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

    /** @return the address of the entry in memory; it is inserted if the hash has none */
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
     * As {@link #findOrInsert}, for an index that is being built: it does not grow, and no other thread uses the
     * bucket.
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

    /** @return the address of the entry, or 0 if the caller is to begin again */
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

    /**
     * Whether another entry, tentative or not, has the tag. The caller's own tentative entry is stored before this
     * looks.
     */
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
     * Begins to double. One thread calls this, {@linkplain #divide divides} all buckets, and then calls {@link #grown}.
     * If there is no memory for the next table, this throws and the index stays as it is. The exception is an
     * IllegalArgumentException if the machine or a control group has too little room, and a PosixException if the
     * kernel refuses the memory.
     */
    public void grow() {
        next = tables.apply(2 * table.buckets);
    }

    /** How many buckets are to be divided. Each number below this is a hash that chooses one of them. */
    public long toDivide() {
        return table.buckets;
    }

    /**
     * Divides the chain of the bucket that the hash chooses, or returns at once if it is divided. If there is no memory
     * for its overflow buckets, the chain stays as it is and this throws.
     */
    public void divide(long hash, RecordChains chains) {
        divide(table, next, hash, chains);
    }

    /**
     * Ends growth, after all buckets were divided.
     *
     * @return the old table, which the caller frees once no thread can be using it
     */
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
        // Each of the two new chains may need as many overflow buckets. Take them now: once a place is frozen, nothing
        // may fail, since other threads wait.
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

    /**
     * Opens a chain that was closed. Its first bucket comes last: after that, another thread may close the chain again.
     */
    private static void reopen(long first) {
        for (long bucket = IndexTable.next(first); bucket != 0; bucket = IndexTable.next(bucket)) {
            open(bucket);
        }
        open(first);
    }

    private static void open(long bucket) {
        NativeWords.setRelease(bucket + ENTRIES_END, NativeWords.get(bucket + ENTRIES_END) & ~IndexTable.CLOSED);
    }

    /** Takes a place out of use. @return the entry that was there, or 0 if it pointed to no record */
    private static long frozen(long place) {
        for (int rounds = 0; ; rounds = SpinWait.wait(rounds)) {
            long word = NativeWords.getAcquire(place);
            if (word >= 0) {
                boolean points = address(word) != 0;
                if (NativeWords.compareAndSet(place, word, points ? word | TENTATIVE : FROZEN)) {
                    return points ? word : 0;
                }
            }
            // Otherwise a session is inserting here, and will store the place's next state whatever it finds.
        }
    }

    /** @return the bucket after {@code bucket}, after it was closed, so that no bucket can be added behind it */
    private static long closed(long bucket) {
        long word = NativeWords.getAcquire(bucket + ENTRIES_END);
        while (!NativeWords.compareAndSet(bucket + ENTRIES_END, word, word | IndexTable.CLOSED)) {
            word = NativeWords.getAcquire(bucket + ENTRIES_END);
        }
        return IndexTable.next(bucket);
    }

    /**
     * Puts an entry into a bucket that no other thread reads yet.
     *
     * @param spare a bucket to append if the chain is full, or 0 to let the table allocate one
     * @return the spare bucket to use next
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

    /** The address that an entry points to, or 0. */
    public static long address(long word) {
        return word & StoreRecord.ADDRESS;
    }

    /** The entry with another address. */
    public static long pointing(long word, long address) {
        return word & ~StoreRecord.ADDRESS | address;
    }

    /** Frees the tables. All sessions are closed, and no thread grows the index. */
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
