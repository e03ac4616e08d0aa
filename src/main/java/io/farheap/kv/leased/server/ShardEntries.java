package io.farheap.kv.leased.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.farheap.kv.leased.format.ShardShape;
import java.lang.foreign.MemorySegment;

/**
 * The entries of a shard, and its table: chains of entries by hash. An entry belongs to one block, and says what the
 * shard knows of it beside the block's bytes. Entry 0 is none. The shard's thread.
 *
 * <pre>
 *  0  u32  the low half of the hash of the key; of a piece, its object's entry
 *  4  u32  when it was used last, in 16ths of a second since the shard began; wraps after eight years
 *  8  u64  incarnation of the block
 * 16  u64  until when the block is leased, by the server's clock, in ns since the shard began
 * 24  u64  when the object's time to live ends, in ms since the shard began; 0: never
 * 32  u32  the block's unit
 * 36  u32  the next entry of the chain, or the next free one
 * 40  u32  the entry before this one in its queue
 * 44  u32  the entry behind this one in its queue
 * 48  u16  how often it was used, about
 * 50  u8   state
 * 51  u8   queue
 * 52  u8   size class of its queues: of the block, or of the first piece
 * 53  u8   whether a client has read it since it was stored
 * 54  u8   whether its value is in pieces, each of which has an entry
 * 56  u32  when it was stored, in ms since the shard began; wraps after seven weeks
 * 60  u32  for how long the key's objects live until they are replaced, about, in ms; 0: none of them was
 * </pre>
 */
final class ShardEntries {

    static final int NONE = 0;

    /** Of an entry without a block. */
    static final int FREE = 0;
    /** Of a key's object; but if the block's mark says otherwise, the key is absent. */
    static final int OBJECT = 1;
    /** Of a block that is no key's object any more, nor a piece of one, and whose lease is not over. */
    static final int MARKED = 2;
    /** Of a piece of an object's value. */
    static final int PIECE = 3;
    /** The same of a piece that was found to be an object's, while a shard is put in order. */
    static final int FOUND_PIECE = 4;

    static final int MOST_COUNT = (1 << Short.SIZE) - 1;

    private static final long HASH = 0;
    private static final long USED = 4;
    private static final long INCARNATION = 8;
    private static final long LEASED = 16;
    private static final long EXPIRY = 24;
    private static final long UNIT = 32;
    private static final long NEXT = 36;
    private static final long BEFORE = 40;
    private static final long AFTER = 44;
    private static final long COUNT = 48;
    private static final long STATE = 50;
    private static final long QUEUE = 51;
    private static final long CLASS = 52;
    private static final long READ = 53;
    private static final long IN_PIECES = 54;
    private static final long STORED = 56;
    private static final long REPLACED = 60;

    private final MemorySegment memory;
    private final long table;
    private final long entries;
    private final int mask;
    final int count;
    private int free;
    /** The last entry that was ever in use: those behind it are free, and in no list. */
    private int last;

    /** @param at offset of the shard in the memory, which is zero: all chains are empty, and all entries free */
    ShardEntries(MemorySegment memory, long at, ShardShape shape) {
        this.memory = memory;
        this.table = at + shape.table();
        this.entries = at + shape.entriesAt();
        this.mask = shape.buckets() - 1;
        this.count = shape.entries();
    }

    /** Makes all chains empty, and lists all free entries again. */
    void freeAll() {
        for (int bucket = 0; bucket <= mask; bucket++) {
            memory.set(JAVA_INT, table + (long) bucket * Integer.BYTES, NONE);
        }
        free = NONE;
        last = count;
        for (int entry = count; entry > NONE; entry--) {
            if (state(entry) == FREE) {
                give(entry);
            }
        }
    }

    private long at(int entry) {
        return entries + (long) entry * ShardShape.ENTRY_BYTES;
    }

    /** An entry that is not in use, or {@link #NONE}. Its state stays FREE until the caller sets it. */
    int take() {
        int entry = free;
        if (entry != NONE) {
            free = next(entry);
            return entry;
        }
        return last < count ? ++last : NONE;
    }

    /** An entry is in use no more. */
    void give(int entry) {
        setState(entry, FREE);
        setNext(entry, free);
        free = entry;
    }

    boolean hasFree() {
        return free != NONE || last < count;
    }

    private long bucket(int hash) {
        return table + (long) (hash & mask) * Integer.BYTES;
    }

    /** The first entry of the chain of a hash. */
    int first(int hash) {
        return memory.get(JAVA_INT, bucket(hash));
    }

    /** Puts an entry, whose hash is set, first in its chain. */
    void link(int entry) {
        long bucket = bucket(hash(entry));
        setNext(entry, memory.get(JAVA_INT, bucket));
        memory.set(JAVA_INT, bucket, entry);
    }

    /** Takes an entry out of its chain, if it is there. */
    void unlink(int entry) {
        long bucket = bucket(hash(entry));
        int before = NONE;
        for (int each = memory.get(JAVA_INT, bucket); each != NONE; each = next(each)) {
            if (each == entry) {
                if (before == NONE) {
                    memory.set(JAVA_INT, bucket, next(entry));
                } else {
                    setNext(before, next(entry));
                }
                return;
            }
            before = each;
        }
    }

    int hash(int entry) {
        return memory.get(JAVA_INT, at(entry) + HASH);
    }

    void setHash(int entry, int hash) {
        memory.set(JAVA_INT, at(entry) + HASH, hash);
    }

    /** When an object was used last, of which only differences below 2^32 count. */
    int usedAt(int entry) {
        return memory.get(JAVA_INT, at(entry) + USED);
    }

    void setUsedAt(int entry, int time) {
        memory.set(JAVA_INT, at(entry) + USED, time);
    }

    long incarnation(int entry) {
        return memory.get(JAVA_LONG, at(entry) + INCARNATION);
    }

    void setIncarnation(int entry, long incarnation) {
        memory.set(JAVA_LONG, at(entry) + INCARNATION, incarnation);
    }

    long leasedUntil(int entry) {
        return memory.get(JAVA_LONG, at(entry) + LEASED);
    }

    void setLeasedUntil(int entry, long nanos) {
        memory.set(JAVA_LONG, at(entry) + LEASED, nanos);
    }

    long expiry(int entry) {
        return memory.get(JAVA_LONG, at(entry) + EXPIRY);
    }

    void setExpiry(int entry, long millis) {
        memory.set(JAVA_LONG, at(entry) + EXPIRY, millis);
    }

    int unit(int entry) {
        return memory.get(JAVA_INT, at(entry) + UNIT);
    }

    void setUnit(int entry, int unit) {
        memory.set(JAVA_INT, at(entry) + UNIT, unit);
    }

    int next(int entry) {
        return memory.get(JAVA_INT, at(entry) + NEXT);
    }

    private void setNext(int entry, int next) {
        memory.set(JAVA_INT, at(entry) + NEXT, next);
    }

    int before(int entry) {
        return memory.get(JAVA_INT, at(entry) + BEFORE);
    }

    void setBefore(int entry, int before) {
        memory.set(JAVA_INT, at(entry) + BEFORE, before);
    }

    int after(int entry) {
        return memory.get(JAVA_INT, at(entry) + AFTER);
    }

    void setAfter(int entry, int after) {
        memory.set(JAVA_INT, at(entry) + AFTER, after);
    }

    int count(int entry) {
        return Short.toUnsignedInt(memory.get(JAVA_SHORT, at(entry) + COUNT));
    }

    /** @param uses as many as fit are kept */
    void setCount(int entry, long uses) {
        memory.set(JAVA_SHORT, at(entry) + COUNT, (short) Math.min(uses, MOST_COUNT));
    }

    int state(int entry) {
        return memory.get(JAVA_BYTE, at(entry) + STATE);
    }

    void setState(int entry, int state) {
        memory.set(JAVA_BYTE, at(entry) + STATE, (byte) state);
    }

    int queue(int entry) {
        return memory.get(JAVA_BYTE, at(entry) + QUEUE);
    }

    void setQueue(int entry, int queue) {
        memory.set(JAVA_BYTE, at(entry) + QUEUE, (byte) queue);
    }

    int sizeClass(int entry) {
        return memory.get(JAVA_BYTE, at(entry) + CLASS);
    }

    void setSizeClass(int entry, int sizeClass) {
        memory.set(JAVA_BYTE, at(entry) + CLASS, (byte) sizeClass);
    }

    boolean isRead(int entry) {
        return memory.get(JAVA_BYTE, at(entry) + READ) != 0;
    }

    void setRead(int entry, boolean read) {
        memory.set(JAVA_BYTE, at(entry) + READ, (byte) (read ? 1 : 0));
    }

    boolean isInPieces(int entry) {
        return memory.get(JAVA_BYTE, at(entry) + IN_PIECES) != 0;
    }

    void setInPieces(int entry, boolean inPieces) {
        memory.set(JAVA_BYTE, at(entry) + IN_PIECES, (byte) (inPieces ? 1 : 0));
    }

    /** The entry of the object that a piece belongs to. */
    int owner(int piece) {
        return hash(piece);
    }

    void setOwner(int piece, int entry) {
        setHash(piece, entry);
    }

    /** When an object was stored, of which only differences below 2^32 count. */
    int storedAt(int entry) {
        return memory.get(JAVA_INT, at(entry) + STORED);
    }

    void setStoredAt(int entry, int millis) {
        memory.set(JAVA_INT, at(entry) + STORED, millis);
    }

    /** For how long the key's objects live until they are replaced, about; 0 if none of them was. */
    long replacedAfter(int entry) {
        return Integer.toUnsignedLong(memory.get(JAVA_INT, at(entry) + REPLACED));
    }

    /** @param millis as many as fit are kept */
    void setReplacedAfter(int entry, long millis) {
        memory.set(JAVA_INT, at(entry) + REPLACED, (int) Math.min(millis, (1L << Integer.SIZE) - 1));
    }

    /** The last entry of the chain of a hash. */
    int lastOf(int hash) {
        int last = first(hash);
        for (int each = last; each != NONE; each = next(each)) {
            last = each;
        }
        return last;
    }
}
