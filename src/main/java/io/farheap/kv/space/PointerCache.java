package io.farheap.kv.space;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.memory.PrivateMemory;
import io.farheap.posix.PosixException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The pointers to objects that a process keeps, for all of its sessions of a map: by a key's hash the word that named
 * the object's block, the slot that had the word, the era in which that was so, and what is known of the object's
 * accesses. A get by a pointer is one READ of the block, whose mark says whether the block is the key's at that moment.
 *
 * <p>A pointer counts in its era alone: a segment that begins again gives its blocks the same incarnations once more,
 * and waits for requests in flight that began in older eras, but not for pointers.
 *
 * <p><b>Bounded staleness.</b> A cache may be made with an age: then a pointer counts for so long from the moment
 * before its slot was asked, by this process's clock, and blocks need no marks for it, as its values may be so old. It
 * gives no value that this process has replaced or deleted: a change that has ended drops what the cache has of the key
 * and is not the change's own, and from then on nothing is kept that was asked before, in its set of entries. For that
 * keeping and dropping exclude each other in such a cache, by a word in each set; finding does not. A get that asks the
 * slot drops a pointer to any other word, so gets one after the other never go back to an older value.
 *
 * <p>Off-heap and bounded; a page takes memory from its first entry on. Sets of {@link #WAYS} entries, whose heads are
 * in one cache line, so a key that is not known costs one. An entry is of a pointer, or of a key that a get has found
 * once. A new key takes the place of an entry of its set that was not used; if all were, each counts as used less, and
 * the key waits for another time.
 *
 * <p><b>Threads.</b> Any, without locks. Two that write one entry at the same time may leave words of both there. So an
 * entry has a check of its hash, word, era and slot, and is no pointer if they do not match it. The other fields are
 * hints.
 *
 * <pre>
 * head of an entry
 *  0  u64  hash of the key
 *  8  u32  1 more than how much the entry was used, up to {@link #MOST_USED}; 0: there is no entry
 * 12  u32  of the set, if pointers count for a time: in the first two entries the time before which nothing is kept, in
 *          the third 1 while a thread changes the set
 * rest of it; of a key that was found once the check does not match
 *  0  u64  check of the hash and of the words at 8 and 16
 *  8  u64  word of the slot
 * 16  u64  era above a bit that says whether the slot may have an expiry, and 4 bits of the slot's number; if pointers
 *          count for a time, 24 bits of the era and 35 of the time are above them, in units of 2^20 ns
 * 24  u64  insert time of the object } in ticks, as the slot had them, or as this
 * 32  u64  time of its last access   } process has written them since
 * 40  u32  frequency
 * 44  u16  part of a word that gets have found in the slot while its block was marked
 * 46  u16  how often they have
 * </pre>
 */
public final class PointerCache implements AutoCloseable {

    /** Bytes of an entry. */
    public static final int ENTRY_BYTES = 64;

    private static final System.Logger LOG = System.getLogger(PointerCache.class.getName());
    private static final long NONE = -1;
    private static final int WAYS = 4;
    private static final long SET_BYTES = (long) WAYS * ENTRY_BYTES;
    private static final int SLOT_BITS = 4;
    private static final int EXPIRES = 1 << SLOT_BITS;
    private static final int LOW_BITS = SLOT_BITS + 1;
    private static final int TIME_BITS = 35;
    private static final int TIME_UNIT_SHIFT = 20;
    private static final long TIME_MASK = (1L << TIME_BITS) - 1;
    private static final long ERA_MASK = (1L << Long.SIZE - TIME_BITS - LOW_BITS) - 1;
    private static final int MOST_USED = 15;
    /** How often gets may find a block marked whose slot stays as it is, before the object is stored again. */
    private static final int MOST_MARKED = 64;

    private static final int HASH = 0;
    private static final int USED = 8;
    private static final long HEAD_BYTES = 16;
    private static final long FLOOR_LOW = 12;
    private static final long FLOOR_HIGH = FLOOR_LOW + HEAD_BYTES;
    private static final long LOCK = FLOOR_HIGH + HEAD_BYTES;
    private static final VarHandle LOCKS = JAVA_INT.varHandle();
    private static final int TRIES = 64;

    private static final int CHECK = 0;
    private static final int WORD = 8;
    private static final int SEEN = 16;
    private static final int INSERTED = 24;
    private static final int ACCESSED = 32;
    private static final int FREQUENCY = 40;
    private static final int MARKED = 44;
    private static final long REST_BYTES = ENTRY_BYTES - HEAD_BYTES;
    /** The value of {@link #USED} of an entry that was not used. */
    private static final int NOT_USED = 1;

    private static final int COUNT_BITS = 16;
    private static final int COUNT_MASK = (1 << COUNT_BITS) - 1;
    private static final int PART_SHIFT = 48;

    private static final long FIRST_FACTOR = 0x9E3779B97F4A7C15L;
    private static final long SECOND_FACTOR = 0xD6E8FEB86659FD93L;
    private static final int MIX_SHIFT = 32;

    private final long sets;
    /** For how long a pointer counts; 0: as long as its block is not marked. */
    private final long mostAgeNanos;

    private final LongSupplier clock;
    private final @Nullable PrivateMemory memory;
    /** Empty if no pointers are kept. */
    private volatile MemorySegment entries;

    private volatile @Nullable LongSupplier leases;
    /** Until when they are held at least, as of the last look at them. */
    private volatile long heldUntil;

    private volatile boolean stopped;
    /** Whether nothing is kept yet, if pointers count for a time, and before which time nothing is; 0: no time. */
    private volatile boolean waiting;

    private volatile long notBefore;

    /**
     * Makes a cache; one that keeps no pointers, and a warning, if this process cannot have the memory.
     *
     * @param pointers that there is room for, rounded up to a power of two; 0: none are kept
     */
    public PointerCache(long pointers) {
        this(pointers, 0, System::nanoTime);
    }

    /**
     * Makes a cache whose pointers count for a time.
     *
     * @param mostAgeNanos the time; 0: a pointer counts until its block is marked
     * @param clock in ns
     */
    public PointerCache(long pointers, long mostAgeNanos, LongSupplier clock) {
        this(pointers, mostAgeNanos, clock, PrivateMemory::allocateSparse);
    }

    /** @param allocator of so many zeroed bytes */
    PointerCache(long pointers, long mostAgeNanos, LongSupplier clock, LongFunction<PrivateMemory> allocator) {
        this.mostAgeNanos = mostAgeNanos;
        this.clock = clock;
        sets = pointers == 0 ? 0 : Long.highestOneBit(2 * Math.ceilDiv(pointers, WAYS) - 1);
        memory = sets == 0 ? null : allocate(sets * SET_BYTES, allocator);
        entries = memory == null ? MemorySegment.NULL : memory.segment();
    }

    private static @Nullable PrivateMemory allocate(long bytes, LongFunction<PrivateMemory> allocator) {
        try {
            return allocator.apply(bytes);
        } catch (IllegalArgumentException | PosixException e) {
            LOG.log(System.Logger.Level.WARNING, "this process keeps no pointers to a map's objects", e);
            return null;
        }
    }

    /** Whether it has not been closed, and so takes memory. */
    public boolean holdsMemory() {
        return memory != null && memory.segment().scope().isAlive();
    }

    /** An empty cache like this one. */
    public PointerCache another() {
        return new PointerCache(capacity(), mostAgeNanos, clock);
    }

    /** Whether pointers count for a time, so that a word needs no {@linkplain SlotWord#withPointers bit} for them. */
    public boolean isBounded() {
        return mostAgeNanos > 0;
    }

    /** The time to keep a pointer with, before its slot is asked; 0 if none counts for a time. */
    public long time() {
        return mostAgeNanos == 0 ? 0 : clock.getAsLong();
    }

    /**
     * Another cache of this process is still used, by requests that do not know this one: until {@link #isAlone} this
     * one keeps no pointers that count for a time, as those requests may change what they lead to.
     */
    public void besideAnother() {
        waiting = true;
    }

    /** The other cache's requests execute nothing any more. What was asked before they ended is never kept. */
    public void isAlone() {
        notBefore = time() | 1;
        waiting = false;
    }

    /** How many pointers there is room for. */
    public long capacity() {
        return sets * WAYS;
    }

    /** A pointer that was found, as it was then. One thread. */
    public static final class Found {
        private long word;
        private int slot;
        private boolean expires;

        /** The word that names the block. */
        public long word() {
            return word;
        }

        /** The slot of the key's bucket that had the word. */
        public int slot() {
            return slot;
        }

        /** Whether that slot may have an expiry. */
        public boolean expires() {
            return expires;
        }
    }

    private long set(long hash) {
        // A map's table uses bits of the hash as they are.
        return ((hash ^ hash >>> MIX_SHIFT) * FIRST_FACTOR >>> MIX_SHIFT & sets - 1) * SET_BYTES;
    }

    /** The head of a key's entry, a pointer or not; {@link #NONE} if there is none. */
    private long entry(MemorySegment all, long hash) {
        if (all.byteSize() == 0) {
            return NONE;
        }
        long set = set(hash);
        for (long entry = set; entry < set + WAYS * HEAD_BYTES; entry += HEAD_BYTES) {
            if (all.get(JAVA_LONG, entry + HASH) == hash && all.get(JAVA_INT, entry + USED) != 0) {
                return entry;
            }
        }
        return NONE;
    }

    /** The rest of the entry with this head. */
    private static long rest(long entry) {
        long inSet = entry % SET_BYTES;
        return entry - inSet + WAYS * HEAD_BYTES + inSet / HEAD_BYTES * REST_BYTES;
    }

    private static long check(long hash, long word, long seen) {
        long mixed = (hash ^ word * FIRST_FACTOR) * SECOND_FACTOR;
        mixed = (mixed ^ mixed >>> MIX_SHIFT ^ seen) * FIRST_FACTOR;
        mixed = (mixed ^ mixed >>> MIX_SHIFT) * SECOND_FACTOR;
        return mixed ^ mixed >>> MIX_SHIFT | 1;
    }

    /**
     * Finds the pointer of a key.
     *
     * @param era of the request that is to use it
     * @return false if there is none of that era, or it is too old
     */
    public boolean find(long hash, long era, Found found) {
        MemorySegment all = entries;
        long entry = entry(all, hash);
        if (entry == NONE) {
            return false;
        }
        long rest = rest(entry);
        long word = all.get(JAVA_LONG, rest + WORD);
        long seen = all.get(JAVA_LONG, rest + SEEN);
        if (!isOf(seen, era) || all.get(JAVA_LONG, rest + CHECK) != check(hash, word, seen)) {
            return false;
        }
        found.word = word;
        found.slot = (int) seen & (1 << SLOT_BITS) - 1;
        found.expires = (seen & EXPIRES) != 0;
        use(all, entry);
        return true;
    }

    /** Whether a pointer was seen in an era, and not too long ago. */
    private boolean isOf(long seen, long era) {
        if (mostAgeNanos == 0) {
            return seen >>> LOW_BITS == era;
        }
        long age = (clock.getAsLong() >>> TIME_UNIT_SHIFT) - seenAt(seen) & TIME_MASK;
        // It may be older by almost a unit.
        return seen >>> LOW_BITS + TIME_BITS == (era & ERA_MASK) && age + 1 << TIME_UNIT_SHIFT <= mostAgeNanos;
    }

    /** The time of a pointer, in units. */
    private static long seenAt(long seen) {
        return seen >>> LOW_BITS & TIME_MASK;
    }

    private long seen(int slot, boolean expires, long era, long asked) {
        int low = (expires ? EXPIRES : 0) | slot;
        return mostAgeNanos == 0
                ? era << LOW_BITS | low
                : (era & ERA_MASK) << TIME_BITS + LOW_BITS | (asked >>> TIME_UNIT_SHIFT & TIME_MASK) << LOW_BITS | low;
    }

    /** Whether a key's pointer is of an era and names the block that a word names: so that block is the key's. */
    public boolean names(long hash, long era, long word) {
        MemorySegment all = entries;
        long entry = entry(all, hash);
        if (entry == NONE) {
            return false;
        }
        long rest = rest(entry);
        long seen = all.get(JAVA_LONG, rest + SEEN);
        return all.get(JAVA_LONG, rest + WORD) == word
                && isOf(seen, era)
                && all.get(JAVA_LONG, rest + CHECK) == check(hash, word, seen);
    }

    private static void use(MemorySegment all, long entry) {
        int used = all.get(JAVA_INT, entry + USED);
        if (used <= MOST_USED) {
            all.set(JAVA_INT, entry + USED, used + 1);
        }
    }

    /**
     * Says which leases this process must hold for its pointers to count.
     *
     * @param until when the first of them ends, in {@link System#nanoTime}; never earlier than at an earlier look
     */
    public void onlyUnder(LongSupplier until) {
        heldUntil = until.getAsLong();
        leases = until;
    }

    /**
     * Whether the process's leases are held still, so that servers have asked it, until now, before they let a block be
     * used in another way. Called when a READ by a pointer has come back: a process that was stopped in between learns
     * only later that a lease is lost.
     */
    public boolean areHeld() {
        LongSupplier until = leases;
        if (until == null || stopped) {
            return !stopped;
        }
        if (heldUntil - System.nanoTime() > 0) {
            return true;
        }
        heldUntil = until.getAsLong();
        return heldUntil - System.nanoTime() > 0;
    }

    /** Whether a get of this process has found the key not long ago. */
    public boolean knows(long hash) {
        return entry(entries, hash) != NONE;
    }

    /**
     * Notes that a get has found a key.
     *
     * @return whether this is known already
     */
    public boolean note(long hash) {
        MemorySegment all = entries;
        if (entry(all, hash) != NONE) {
            return true;
        }
        long entry = take(all, hash);
        if (entry != NONE) {
            all.set(JAVA_LONG, entry + HASH, hash);
            all.set(JAVA_INT, entry + USED, NOT_USED);
        }
        return false;
    }

    /** The entry of its set that a new key takes; {@link #NONE} if all were used. */
    private long take(MemorySegment all, long hash) {
        if (all.byteSize() == 0) {
            return NONE;
        }
        long set = set(hash);
        // Not always the same first, so that of several keys that are new each has its turn.
        int first = (int) hash & WAYS - 1;
        for (int i = 0; i < WAYS; i++) {
            long entry = set + (first + i & WAYS - 1) * HEAD_BYTES;
            if (all.get(JAVA_INT, entry + USED) <= NOT_USED) {
                return entry;
            }
        }
        for (long entry = set; entry < set + WAYS * HEAD_BYTES; entry += HEAD_BYTES) {
            all.set(JAVA_INT, entry + USED, Math.max(NOT_USED, all.get(JAVA_INT, entry + USED) - 1));
        }
        return NONE;
    }

    /** As below, if pointers do not count for a time. */
    void keep(long hash, long word, int slot, boolean expires, long era, ObjectMetadata accesses) {
        keep(hash, word, slot, expires, era, 0, accesses);
    }

    /**
     * Keeps a pointer to an object whose word has {@linkplain SlotWord#withPointers pointers}, or any object if
     * pointers count for a time: its slot had that word at some time in the era.
     *
     * @param expires whether the slot may have an expiry
     * @param asked the {@link #time} when the slot was asked, or earlier
     */
    public void keep(long hash, long word, int slot, boolean expires, long era, long asked, ObjectMetadata accesses) {
        MemorySegment all = entries;
        if (!lock(all, hash)) {
            return;
        }
        try {
            long entry = entry(all, hash);
            if (!mayKeep(all, entry, hash, asked)) {
                return;
            }
            if (entry == NONE) {
                entry = take(all, hash);
            }
            if (entry != NONE) {
                write(all, entry, accesses);
                all.set(JAVA_INT, entry + USED, Math.max(NOT_USED + 1, all.get(JAVA_INT, entry + USED)));
                keep(all, entry, hash, word, seen(slot, expires, era, asked));
            }
        } finally {
            unlock(all, hash);
        }
    }

    /**
     * Lets no other thread keep or drop pointers of a key's set until {@link #unlock}, if pointers count for a time.
     *
     * @return false if another thread does: then nothing is kept, as the next get keeps it
     */
    private boolean lock(MemorySegment all, long hash) {
        return mostAgeNanos == 0 || all.byteSize() == 0 || LOCKS.compareAndSet(all, set(hash) + LOCK, 0, 1);
    }

    /** Whether a pointer may be kept whose slot was asked at this time. With the set's lock. */
    private boolean mayKeep(MemorySegment all, long entry, long hash, long asked) {
        if (mostAgeNanos == 0 || all.byteSize() == 0) {
            return true;
        }
        long floor = floor(all, set(hash));
        // At the same moment of a coarse clock it may have been asked before.
        boolean before = notBefore != 0 && asked - notBefore <= 0 || floor != 0 && asked - floor <= 0;
        if (waiting || before) {
            return false;
        }
        // What was asked later may be newer.
        return entry == NONE
                || !isWhole(all, entry, hash)
                || (seenAt(all.get(JAVA_LONG, rest(entry) + SEEN)) - (asked >>> TIME_UNIT_SHIFT) - 1 & TIME_MASK)
                        >= TIME_MASK / 2;
    }

    private static boolean isWhole(MemorySegment all, long entry, long hash) {
        long rest = rest(entry);
        return all.get(JAVA_LONG, rest + CHECK)
                == check(hash, all.get(JAVA_LONG, rest + WORD), all.get(JAVA_LONG, rest + SEEN));
    }

    private void unlock(MemorySegment all, long hash) {
        if (mostAgeNanos > 0 && all.byteSize() > 0) {
            LOCKS.setRelease(all, set(hash) + LOCK, 0);
        }
    }

    private static long floor(MemorySegment all, long set) {
        return (long) all.get(JAVA_INT, set + FLOOR_HIGH) << Integer.SIZE
                | Integer.toUnsignedLong(all.get(JAVA_INT, set + FLOOR_LOW));
    }

    /**
     * A request of this process that changes a key has ended, whatever it has done. If pointers count for a time, none
     * is found from now on that was seen before, but for its own.
     *
     * @param own the word that the request has stored, and may have kept a pointer for; {@link SlotWord#EMPTY}: none
     */
    public void changed(long hash, long own) {
        MemorySegment all = entries;
        if (mostAgeNanos == 0 || all.byteSize() == 0) {
            return;
        }
        long set = set(hash);
        for (int tried = 1; !LOCKS.compareAndSet(all, set + LOCK, 0, 1); tried++) {
            // The other thread needs some ns, unless it does not run.
            if (tried % TRIES == 0) {
                Thread.yield();
            } else {
                Thread.onSpinWait();
            }
        }
        try {
            long now = clock.getAsLong() | 1;
            all.set(JAVA_INT, set + FLOOR_LOW, (int) now);
            all.set(JAVA_INT, set + FLOOR_HIGH, (int) (now >>> Integer.SIZE));
            dropOthers(all, hash, own);
        } finally {
            unlock(all, hash);
        }
    }

    private void dropOthers(MemorySegment all, long hash, long own) {
        long set = set(hash);
        // Two threads that note a key at a time may give it two entries; and an entry that another key has taken may
        // still have this one's pointer, and be this one's again.
        for (long entry = set; entry < set + WAYS * HEAD_BYTES; entry += HEAD_BYTES) {
            if (isWhole(all, entry, hash) && all.get(JAVA_LONG, rest(entry) + WORD) != own) {
                all.set(JAVA_LONG, rest(entry) + CHECK, 0);
            }
        }
    }

    /**
     * A get has found this word in the key's slot. If pointers count for a time, one to another word is not found from
     * now on, as the value of that is older.
     *
     * @param word {@link SlotWord#EMPTY}: the key has no slot
     */
    public void asked(long hash, long word) {
        MemorySegment all = entries;
        if (mostAgeNanos > 0 && all.byteSize() > 0) {
            dropOthers(all, hash, word);
        }
    }

    private static void keep(MemorySegment all, long entry, long hash, long word, long seen) {
        long rest = rest(entry);
        all.set(JAVA_LONG, entry + HASH, hash);
        all.set(JAVA_LONG, rest + WORD, word);
        all.set(JAVA_LONG, rest + SEEN, seen);
        all.set(JAVA_LONG, rest + CHECK, check(hash, word, seen));
    }

    /** Notes what is known of the accesses to a key's object until a pointer to it is kept, by {@link #keepNoted}. */
    public void noteAccesses(long hash, ObjectMetadata accesses) {
        MemorySegment all = entries;
        long entry = entry(all, hash);
        if (entry != NONE) {
            write(all, entry, accesses);
        }
    }

    private static void write(MemorySegment all, long entry, ObjectMetadata accesses) {
        long rest = rest(entry);
        all.set(JAVA_LONG, rest + INSERTED, accesses.insertTime());
        all.set(JAVA_LONG, rest + ACCESSED, accesses.lastAccess());
        all.set(JAVA_INT, rest + FREQUENCY, (int) Math.min(accesses.frequency(), Slot.MOST_FREQUENCY));
    }

    /** As below, if pointers do not count for a time. */
    void keepNoted(long hash, long word, int slot, boolean expires, long era) {
        keepNoted(hash, word, slot, expires, era, 0);
    }

    /** As {@link #keep} with the accesses that were noted, if the key is still known. It counts as no use of it. */
    public void keepNoted(long hash, long word, int slot, boolean expires, long era, long asked) {
        MemorySegment all = entries;
        if (!lock(all, hash)) {
            return;
        }
        try {
            long entry = entry(all, hash);
            if (entry != NONE && mayKeep(all, entry, hash, asked)) {
                keep(all, entry, hash, word, seen(slot, expires, era, asked));
            }
        } finally {
            unlock(all, hash);
        }
    }

    private static void read(MemorySegment all, long entry, ObjectMetadata into) {
        long rest = rest(entry);
        into.insertTime(all.get(JAVA_LONG, rest + INSERTED))
                .lastAccess(all.get(JAVA_LONG, rest + ACCESSED))
                .frequency(Integer.toUnsignedLong(all.get(JAVA_INT, rest + FREQUENCY)));
    }

    /** Reads what is known of the accesses to the object of a key's pointer. @return whether the key is known */
    public boolean accesses(long hash, ObjectMetadata into) {
        MemorySegment all = entries;
        long entry = entry(all, hash);
        if (entry == NONE) {
            return false;
        }
        read(all, entry, into);
        return true;
    }

    /** A pointer has led to no current object, or is about to lead to none. The key is still known. */
    public void drop(long hash, long word) {
        MemorySegment all = entries;
        long entry = entry(all, hash);
        if (entry != NONE && all.get(JAVA_LONG, rest(entry) + WORD) == word) {
            all.set(JAVA_LONG, rest(entry) + CHECK, 0);
        }
    }

    /** The key was deleted. */
    public void forget(long hash) {
        MemorySegment all = entries;
        long entry = entry(all, hash);
        if (entry != NONE) {
            all.set(JAVA_LONG, rest(entry) + CHECK, 0);
            all.set(JAVA_INT, entry + USED, NOT_USED);
        }
    }

    /**
     * A get has found a key by its slot, and the block marked. The client that marked it changes the slot soon, or has
     * died. A key that is not known is noted.
     *
     * @return whether the slot has stayed as it is for so many gets that the object should be stored again
     */
    public boolean meetsMarked(long hash, long word) {
        if (!note(hash)) {
            return false;
        }
        MemorySegment all = entries;
        long entry = entry(all, hash);
        if (entry == NONE) {
            return false;
        }
        // Otherwise the next new key takes the entry, and this one stays marked.
        use(all, entry);
        int before = all.get(JAVA_INT, rest(entry) + MARKED);
        int part = (int) (word * FIRST_FACTOR >>> PART_SHIFT);
        int count = (before & COUNT_MASK) == part ? (before >>> COUNT_BITS) + 1 : 1;
        boolean enough = count >= MOST_MARKED;
        all.set(JAVA_INT, rest(entry) + MARKED, part | (enough ? 0 : count << COUNT_BITS));
        return enough;
    }

    /**
     * Keeps and finds no pointers from now on, and none counts any more: a lease of the process is over, or about to be
     * given up.
     */
    public void stop() {
        stopped = true;
        entries = MemorySegment.NULL;
    }

    /** No session uses it any more. */
    @Override
    public synchronized void close() {
        stop();
        if (memory != null) {
            memory.close();
        }
    }
}
