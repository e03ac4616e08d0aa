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
 * What operations do to records in memory (FASTER, sections 4 to 6), for one session; each call is inside an epoch. An
 * operation that meets a record which is on the device alone says {@link #ON_DEVICE}, with its address, and nothing has
 * happened.
 *
 * <p>A record is published by a compare-and-set of its entry in the index, which orders what was stored in it before
 * all that others load behind an acquire load of the entry. So of two sessions that append a record for one key one
 * goes first and the other begins again.
 */
public final class InMemoryOperations {

    /** Beside those of {@link StoreStatus}: the record at {@link #address} is to be read first. */
    public static final int ON_DEVICE = 100;
    /** Another session may still change in place what is to be copied: again, when it has left its epoch. */
    public static final int AGAIN = 101;

    public final OperationKey key;
    /** Where the device has what was asked for. */
    public long address;
    /** Bytes of the value that was read. */
    public int bytes;

    private final HashIndex index;
    private final HybridLog log;
    private final LogAddresses marks;
    private final PageFrames frames;
    private final RecordLayout layout;
    private final SessionVersion version;
    private final @Nullable ReadCache cache;
    private final boolean spare;
    final RecordChains chains;
    /** Reads that copies have served. */
    long cached;
    /** For values that are stored from mapped files, the longest of them so far. */
    private MemorySegment unmapped = MemorySegment.ofArray(new byte[0]);

    /** @param spare whether what they append may be in the pages that compactions have to themselves */
    public InMemoryOperations(StoreContext parts, SessionVersion version, boolean spare) {
        this.index = parts.index();
        this.log = parts.log();
        this.marks = log.marks;
        this.frames = log.frames;
        this.layout = log.layout;
        this.version = version;
        this.spare = spare;
        this.cache = parts.cache();
        this.chains = new MemoryChains(log, parts.cache());
        this.key = new OperationKey(layout);
    }

    /**
     * The newest record of the key from {@code lowest} on.
     *
     * @return its address in memory; 0 where there is none, and {@link #address} is the first of the chain below
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

    /** The entry of the key, as it is at this moment; 0 where there is none. */
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

    /** Where the chain of an entry begins in the log. */
    public long chain(long word) {
        long first = HashIndex.address(word);
        return cache != null && RecordCopies.marks(first) ? cache.behind(first) : first;
    }

    /** The copy of the key's record that the entry points to; 0 where it points to none. */
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
     * Keeps a copy of a record of the key that was read, unless its chain has changed since it began with
     * {@code first}.
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

    /** Where the first record of an entry's chain is in memory; 0 where it is not. */
    public long firstOf(long word) {
        long first = HashIndex.address(word);
        if (cache != null && RecordCopies.marks(first)) {
            return cache.memoryOf(first);
        }
        return first >= marks.head() ? frames.memoryOf(first) : 0;
    }

    /** @param first of the entry's chain, as {@link #firstOf} said in this epoch */
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

    /** @param word of the key's entry, as it was {@link #found} in this epoch */
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

    /** The value of a record, as it was at one moment. */
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

    /** Inside an epoch, where a change goes on that was begun before. */
    public void lookAtVersion() {
        version.look();
    }

    public int upsert(MemorySegment from, long offset, int length) {
        return from.isMapped() ? store(copyOf(from, offset, length), 0, length) : store(from, offset, length);
    }

    /**
     * Before anything is changed: what a mapped file has where it has been cut would be half a value.
     *
     * @throws InternalError if it has been cut
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
            long appended = append(word, length);
            if (appended < 0) {
                return StoreStatus.FULL;
            }
            long made = frames.memoryOf(appended);
            NativeWords.copyIn(from, offset, valueOf(made), length);
            if (publish(entry, word, appended, 0)) {
                return StoreStatus.DONE;
            }
        }
    }

    /** @return FULL where the record has not the room, AGAIN where it has been replaced by a copy */
    private int replace(long record, MemorySegment from, long offset, int length) {
        if (layout == RecordLayout.COMPACT) {
            NativeWords.setOpaque(record + 16, from.get(JAVA_LONG_UNALIGNED, offset));
            return StoreStatus.DONE;
        }
        if (RecordLayout.valueBytes(NativeWords.getOpaque(record + RecordLayout.LENGTHS)) != length) {
            return StoreStatus.FULL;
        }
        // The bounds of the source are checked before readers have to wait.
        Objects.checkFromIndexSize(offset, length, from.byteSize());
        long lengths = RecordLayout.lock(record);
        boolean sealed = StoreRecord.sealed(NativeWords.getAcquire(record));
        if (!sealed) {
            NativeWords.copyIn(from, offset, value(record, lengths), length);
        }
        RecordLayout.unlock(record, lengths);
        return sealed ? AGAIN : StoreStatus.DONE;
    }

    /** Room for a record of the key, which has its key and its lengths; nobody sees it yet. @return -1 where full */
    long append(long word, int valueBytes) {
        long made = log.allocate(layout.recordBytes(key.bytes, valueBytes), spare);
        if (made >= 0) {
            long record = frames.memoryOf(made);
            if (layout == RecordLayout.GENERAL) {
                NativeWords.set(record + RecordLayout.LENGTHS, RecordLayout.lengths(key.bytes, valueBytes));
            }
            key.into(record);
            // It is passed over unless it is published.
            NativeWords.set(record, StoreRecord.header(chain(word), version.own()) | StoreRecord.INVALID);
        }
        return made;
    }

    /** The key of a record that nobody changes is the one to work on. */
    public void useKeyOf(long record) {
        key.useOf(record);
    }

    /** Where the value of a record is. */
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

    /** Of the record that {@link #append} made. */
    long valueOf(long record) {
        return layout == RecordLayout.COMPACT ? record + 16 : record + 16 + RecordLayout.padded(key.bytes);
    }

    /** @return false where the entry has changed: the record stays as one that is passed over */
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
                        return StoreStatus.DONE;
                    }
                    continue;
                }
            }
            long appended = append(word, layout.leastValue());
            if (appended < 0) {
                return StoreStatus.FULL;
            }
            if (publish(entry, word, appended, StoreRecord.DELETED)) {
                return StoreStatus.DONE;
            }
        }
        return StoreStatus.NOT_FOUND;
    }
}
