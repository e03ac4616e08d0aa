package io.farheap.store.operation;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.memory.MappedFaults;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.format.NativeWords;
import io.farheap.store.format.OperationKey;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.format.SpinWait;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.index.HashIndex;
import io.farheap.store.index.RecordChains;
import io.farheap.store.index.RecordCopies;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogAddresses;
import io.farheap.store.log.MemoryChains;
import io.farheap.store.log.PageFrames;
import io.farheap.store.log.ReadCache;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Operations on records in memory (FASTER, sections 4 to 6), for one session; each call is inside an epoch. If an
 * operation meets a record that is on the device alone, it returns {@link #ON_DEVICE}, sets {@link #address}, and has
 * changed nothing.
 *
 * <p>A session stores a whole record and then publishes it by a compare-and-set of its entry in the index. The
 * compare-and-set pairs with the acquire load of the entry: a session that finds the record sees all that was stored in
 * it. If two sessions append a record for one key at once, one compare-and-set succeeds and the other session begins
 * again.
 */
public final class InMemoryOperations {

    /**
     * A status beside those of {@link StoreStatus}: the record at {@link #address} is to be read from the device first.
     */
    public static final int ON_DEVICE = 100;
    /**
     * Another session may still change the record in place that is to be copied: try again once it has left its epoch.
     */
    public static final int AGAIN = 101;
    /** The log has no room for a record at this moment; nothing has changed. */
    public static final int NO_ROOM = 104;

    public final OperationKey key;
    /** The address of the first record of the chain that is not in memory, or of the record that was found. */
    public long address;
    /** Bytes of the value that was read. */
    public int bytes;
    /** The kind of work, of {@link HybridLog}, that last found no room. */
    public int lacked;

    private final HashIndex index;
    private final HybridLog log;
    private final LogAddresses marks;
    private final PageFrames frames;
    private final RecordLayout layout;
    private final SessionVersion version;
    private final @Nullable ReadCache cache;
    /** The kind of work that the session's records are, but for those that delete. */
    private final int kind;

    final RecordChains chains;
    /** How many reads the read cache has served. */
    long cached;
    /** A buffer for values that come from mapped files, as long as the longest of them so far. */
    private MemorySegment unmapped = MemorySegment.ofArray(new byte[0]);

    /** @param kind the work that the records are for, of {@link HybridLog} */
    public InMemoryOperations(StoreContext parts, SessionVersion version, int kind) {
        this.index = parts.index();
        this.log = parts.log();
        this.marks = log.marks;
        this.frames = log.frames;
        this.layout = log.layout;
        this.version = version;
        this.kind = kind;
        this.cache = parts.cache();
        this.chains = new MemoryChains(log, parts.cache());
        this.key = new OperationKey(layout);
    }

    /**
     * The newest record of the key from {@code lowest} on.
     *
     * @return its address in memory; 0 if there is none, and {@link #address} is then the chain's first address below
     *     {@code lowest}
     */
    public long inMemory(long first, long lowest) {
        long at = first;
        while (at >= lowest) {
            long record = frames.memoryOf(at);
            long header = NativeWords.getAcquire(record);
            if (key.of(record)) {
                address = at;
                return record;
            }
            at = StoreRecord.previous(header);
        }
        address = at;
        return 0;
    }

    /** The word of the key's entry at this moment; 0 if the key has no entry. */
    public long found() {
        while (true) {
            long entry = index.find(key.hash, chains);
            if (entry == 0) {
                return 0;
            }
            long word = NativeWords.getAcquire(entry);
            if (!HashIndex.moved(word)) {
                return word;
            }
        }
    }

    /** The address in the log at which the chain of an entry begins. */
    public long chain(long word) {
        long first = HashIndex.address(word);
        return cache != null && RecordCopies.marks(first) ? cache.behind(first) : first;
    }

    /** The copy of the key's record in the read cache, if the entry points to it; otherwise 0. */
    long copyOf(long word) {
        if (cache != null && RecordCopies.marks(word)) {
            long copy = cache.memoryOf(HashIndex.address(word));
            if (key.of(copy)) {
                ReadCache.wasRead(copy);
                return copy;
            }
        }
        return 0;
    }

    /**
     * Adds a copy of the key's record, which was read from the device, to the read cache, unless the chain no longer
     * begins on the device at {@code first}.
     */
    public void keep(long record, long first) {
        long entry = cache == null ? 0 : index.find(key.hash, chains);
        if (cache == null || entry == 0) {
            return;
        }
        long word = NativeWords.getAcquire(entry);
        if (!HashIndex.moved(word)
                && copyOf(word) == 0
                && inMemory(chain(word), marks.head()) == 0
                && address == first) {
            cache.add(entry, word, chain(word), record);
        }
    }

    /** The address in memory of the first record of an entry's chain, or of its copy; 0 if it is on the device. */
    public long firstOf(long word) {
        long first = HashIndex.address(word);
        if (cache != null && RecordCopies.marks(first)) {
            return cache.memoryOf(first);
        }
        return first >= marks.head() ? frames.memoryOf(first) : 0;
    }

    /** @param first the chain's first record, as {@link #firstOf} returned it inside this epoch */
    public int read(long word, long first, MemorySegment into, long offset, int room) {
        if (first == 0 || cache != null && RecordCopies.marks(word) || !key.of(first)) {
            return read(word, into, offset, room);
        }
        return copyLive(first, into, offset, room);
    }

    private int copyLive(long record, MemorySegment into, long offset, int room) {
        return StoreRecord.deleted(NativeWords.getAcquire(record))
                ? StoreStatus.NOT_FOUND
                : copy(record, into, offset, room);
    }

    /** @param word of the key's entry, as {@link #found} returned it inside this epoch */
    public int read(long word, MemorySegment into, long offset, int room) {
        if (word == 0) {
            return StoreStatus.NOT_FOUND;
        }
        long copy = copyOf(word);
        if (copy != 0) {
            cached++;
            return copy(copy, into, offset, room);
        }
        long record = inMemory(chain(word), marks.head());
        if (record == 0) {
            return address < marks.begin() ? StoreStatus.NOT_FOUND : ON_DEVICE;
        }
        return copyLive(record, into, offset, room);
    }

    /** Copies the value of a record as it was at one moment. */
    public int copy(long record, MemorySegment into, long offset, int room) {
        if (layout == RecordLayout.COMPACT) {
            bytes = Long.BYTES;
            if (room < Long.BYTES) {
                return StoreStatus.TOO_LONG;
            }
            NativeWords.copyOut(record + 16, into, offset, Long.BYTES);
            return StoreStatus.DONE;
        }
        for (int rounds = 0; ; rounds = SpinWait.wait(rounds)) {
            long lengths = NativeWords.getAcquire(record + RecordLayout.LENGTHS);
            if (!RecordLayout.beingChanged(lengths)) {
                bytes = RecordLayout.valueBytes(lengths);
                if (bytes > room) {
                    return StoreStatus.TOO_LONG;
                }
                NativeWords.copyOut(value(record, lengths), into, offset, bytes);
                VarHandle.acquireFence();
                if (NativeWords.getOpaque(record + RecordLayout.LENGTHS) == lengths) {
                    return StoreStatus.DONE;
                }
            }
        }
    }

    static long value(long record, long lengths) {
        return record + 16 + RecordLayout.padded(RecordLayout.keyBytes(lengths));
    }

    /** Looks at the store's version, inside an epoch, before a change continues that began in an earlier epoch. */
    public void lookAtVersion() {
        version.look();
    }

    /** Whether the last operation lacked room that only a compaction makes, and a checkpoint waits for the session. */
    public boolean isInTheWay() {
        return version.draining() && log.atCapacity(lacked);
    }

    public int upsert(MemorySegment from, long offset, int length) {
        return from.isMapped() ? store(copyOf(from, offset, length), 0, length) : store(from, offset, length);
    }

    /**
     * Copies a value out of a mapped file before anything is changed: if the file was truncated, half a value could be
     * stored.
     *
     * @throws InternalError if the file has been truncated
     */
    private MemorySegment copyOf(MemorySegment mapped, long offset, int length) {
        if (unmapped.byteSize() < length) {
            unmapped = MemorySegment.ofArray(new byte[length]);
        }
        MemorySegment.copy(mapped, offset, unmapped, 0, length);
        MappedFaults.raise(mapped);
        return unmapped;
    }

    private int store(MemorySegment from, long offset, int length) {
        if (version.holds()) {
            return AGAIN;
        }
        long entry = index.findOrInsert(key.hash, chains);
        while (true) {
            long word = NativeWords.getAcquire(entry);
            if (HashIndex.moved(word)) {
                entry = index.findOrInsert(key.hash, chains);
                continue;
            }
            long record = inMemory(chain(word), marks.readOnly());
            if (record != 0) {
                long header = NativeWords.getAcquire(record);
                if (version.waits(header)) {
                    return AGAIN;
                }
                if (version.changesInPlace(header) && !StoreRecord.deleted(header)) {
                    version.claim(record, header);
                    int replaced = replace(record, from, offset, length);
                    if (replaced == StoreStatus.DONE) {
                        return replaced;
                    }
                    if (replaced == AGAIN) {
                        continue;
                    }
                }
            }
            long appended = append(word, length, false);
            if (appended < 0) {
                return NO_ROOM;
            }
            long made = frames.memoryOf(appended);
            NativeWords.copyIn(from, offset, valueOf(made), length);
            if (publish(entry, word, appended, 0)) {
                return StoreStatus.DONE;
            }
        }
    }

    /** @return FULL if the value has another length than the record's, AGAIN if a copy has replaced the record */
    private int replace(long record, MemorySegment from, long offset, int length) {
        if (layout == RecordLayout.COMPACT) {
            NativeWords.setOpaque(record + 16, from.get(JAVA_LONG_UNALIGNED, offset));
            return StoreStatus.DONE;
        }
        if (RecordLayout.valueBytes(NativeWords.getOpaque(record + RecordLayout.LENGTHS)) != length) {
            return StoreStatus.FULL;
        }
        // Check the bounds of the source before the lock makes readers wait.
        Objects.checkFromIndexSize(offset, length, from.byteSize());
        long lengths = RecordLayout.lock(record);
        boolean sealed = StoreRecord.sealed(NativeWords.getAcquire(record));
        if (!sealed) {
            NativeWords.copyIn(from, offset, value(record, lengths), length);
        }
        RecordLayout.unlock(record, lengths);
        return sealed ? AGAIN : StoreStatus.DONE;
    }

    /**
     * Allocates a record and stores its key and lengths; no other thread sees it yet.
     *
     * @param deletes whether the record deletes its key
     * @return its address, or -1 if there is no room
     */
    long append(long word, int valueBytes, boolean deletes) {
        int what = deletes ? Math.max(kind, HybridLog.DELETE) : kind;
        long made = log.allocate(layout.recordBytes(key.bytes, valueBytes), what);
        if (made < 0) {
            lacked = what;
        } else {
            long record = frames.memoryOf(made);
            if (layout == RecordLayout.GENERAL) {
                NativeWords.set(record + RecordLayout.LENGTHS, RecordLayout.lengths(key.bytes, valueBytes));
            }
            key.into(record);
            // Scans pass over the record until it is published.
            NativeWords.set(record, StoreRecord.header(chain(word), version.own()) | StoreRecord.INVALID);
        }
        return made;
    }

    /** Makes the key of a record, which no session changes, the key of the operation. */
    public void useKeyOf(long record) {
        key.useOf(record);
    }

    /** The address of a record's value. */
    public long valueAt(long record) {
        return layout == RecordLayout.COMPACT
                ? record + 16
                : value(record, NativeWords.getOpaque(record + RecordLayout.LENGTHS));
    }

    public int valueBytes(long record) {
        return layout == RecordLayout.COMPACT
                ? Long.BYTES
                : RecordLayout.valueBytes(NativeWords.getOpaque(record + RecordLayout.LENGTHS));
    }

    public void checkValue(int length) {
        if (layout == RecordLayout.COMPACT && length != Long.BYTES) {
            throw new IllegalArgumentException("a value of " + length + " bytes; this store has values of 8 bytes, and"
                    + " no update that deletes: create it for values of other lengths");
        }
        if (length < 0
                || length > RecordLayout.MAX_VALUE_BYTES
                || layout.recordBytes(key.bytes, length) > log.pageBytes() - HybridLog.FIRST) {
            throw new IllegalArgumentException("a value of " + length + " bytes with a key of " + key.bytes
                    + "; a record has to fit into a page of " + log.pageBytes() + " bytes: use larger pages");
        }
    }

    /** The address of the value in a record that {@link #append} returned. */
    long valueOf(long record) {
        return layout == RecordLayout.COMPACT ? record + 16 : record + 16 + RecordLayout.padded(key.bytes);
    }

    /** @return false if the entry has changed; the record stays in the log as an invalid one */
    boolean publish(long entry, long word, long appended, long flags) {
        long record = frames.memoryOf(appended);
        NativeWords.set(record, StoreRecord.header(chain(word), version.own()) | flags);
        if (NativeWords.compareAndSet(entry, word, HashIndex.pointing(word, appended))) {
            return true;
        }
        NativeWords.setOpaque(record, NativeWords.get(record) | StoreRecord.INVALID);
        return false;
    }

    public int delete() {
        if (version.holds()) {
            return AGAIN;
        }
        long entry = index.find(key.hash, chains);
        while (entry != 0) {
            long word = NativeWords.getAcquire(entry);
            if (HashIndex.moved(word)) {
                entry = index.find(key.hash, chains);
                continue;
            }
            long record = inMemory(chain(word), marks.head());
            if (record == 0 && address < marks.begin()) {
                return StoreStatus.NOT_FOUND;
            }
            if (record != 0) {
                long header = NativeWords.getAcquire(record);
                if (version.waits(header)) {
                    return AGAIN;
                }
                if (StoreRecord.deleted(header)) {
                    return StoreStatus.NOT_FOUND;
                }
                if (address >= marks.readOnly() && version.changesInPlace(header) && !StoreRecord.sealed(header)) {
                    if (NativeWords.compareAndSet(
                            record, header, StoreRecord.ofVersion(header, version.own()) | StoreRecord.DELETED)) {
                        log.deleted();
                        return StoreStatus.DONE;
                    }
                    continue;
                }
            }
            long appended = append(word, layout.leastValue(), true);
            if (appended < 0) {
                return NO_ROOM;
            }
            if (publish(entry, word, appended, StoreRecord.DELETED)) {
                log.deleted();
                return StoreStatus.DONE;
            }
        }
        return StoreStatus.NOT_FOUND;
    }
}
