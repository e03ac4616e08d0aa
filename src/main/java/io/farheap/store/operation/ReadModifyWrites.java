package io.farheap.store.operation;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.store.format.NativeWords;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.index.HashIndex;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogAddresses;
import io.farheap.store.log.PageFrames;
import io.farheap.store.log.ReadCache;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Read-modify-writes, for one session (FASTER, section 5.3); each call is inside an epoch.
 *
 * <p>A value of 8 bytes is changed in place by a compare-and-set. For a longer one, the session makes the record's
 * stamp odd, so that one session at a time changes it, and leaves a sealed record alone. If a mutable record cannot be
 * changed in place, since its length changes, the session seals it while the stamp is odd, copies it to the tail and
 * publishes the copy. A session that waited for the stamp sees the seal, and begins again at the index.
 */
public final class ReadModifyWrites {

    private final HashIndex index;
    private final HybridLog log;
    private final LogAddresses marks;
    private final PageFrames frames;
    private final RecordLayout layout;
    private final SessionVersion version;
    private final InMemoryOperations records;
    private final @Nullable ReadCache cache;

    private final MemorySegment values;
    private final long valuesAddress;
    /** Holds a value of 8 bytes for the update, and behind it the new value that the update makes of it. */
    private final MemorySegment scratch = Arena.ofAuto().allocate(2 * Long.BYTES, Long.BYTES);

    public ReadModifyWrites(StoreContext parts, SessionVersion version, InMemoryOperations records) {
        this.index = parts.index();
        this.log = parts.log();
        this.marks = log.marks;
        this.frames = log.frames;
        this.layout = log.layout;
        this.version = version;
        this.records = records;
        this.cache = parts.cache();
        this.values = frames.segment();
        this.valuesAddress = values.address();
    }

    /** Updates the value of the key in {@link InMemoryOperations#key}. */
    public int update(Update update, long argument) {
        if (version.holds()) {
            return InMemoryOperations.AGAIN;
        }
        long entry = index.find(records.key.hash, records.chains);
        if (entry == 0) {
            // An update that makes no value of an absent key must not leave an entry for it.
            int length = update.initialBytes(argument);
            if (length < 0) {
                return StoreStatus.NOT_FOUND;
            }
            checkLength(length);
            entry = index.findOrInsert(records.key.hash, records.chains);
        }
        while (true) {
            long word = NativeWords.getAcquire(entry);
            if (HashIndex.moved(word)) {
                entry = index.findOrInsert(records.key.hash, records.chains);
                continue;
            }
            long copy = records.copyOf(word);
            int outcome;
            if (copy != 0) {
                outcome = ofCopy(copy, entry, word, update, argument);
            } else {
                long record = records.inMemory(records.chain(word), marks.head());
                if (record == 0 && records.address >= marks.begin()) {
                    return InMemoryOperations.ON_DEVICE;
                }
                outcome = record == 0
                        ? initial(entry, word, update, argument)
                        : of(record, entry, word, update, argument);
            }
            if (outcome != REPEAT) {
                return told(outcome);
            }
        }
    }

    /** Begin again at the entry. */
    private static final int REPEAT = 102;
    /** The update has left the value as it is. */
    private static final int KEPT = 103;

    private int of(long record, long entry, long word, Update update, long argument) {
        long header = NativeWords.getAcquire(record);
        if (version.waits(header)) {
            return InMemoryOperations.AGAIN;
        }
        if (StoreRecord.deleted(header)) {
            return initial(entry, word, update, argument);
        }
        boolean own = version.changesInPlace(header);
        if (records.address >= marks.readOnly() && own) {
            version.claim(record, header);
            return mutable(record, entry, word, update, argument);
        }
        if (records.address >= marks.safeReadOnly() && own) {
            return InMemoryOperations.AGAIN;
        }
        long at = records.valueAt(record) - valuesAddress;
        return copied(entry, word, values, at, records.valueBytes(record), update, argument);
    }

    private int ofCopy(long copy, long entry, long word, Update update, long argument) {
        MemorySegment copies = Objects.requireNonNull(cache).segment();
        long at = records.valueAt(copy) - copies.address();
        return copied(entry, word, copies, at, records.valueBytes(copy), update, argument);
    }

    private int mutable(long record, long entry, long word, Update update, long argument) {
        if (layout == RecordLayout.COMPACT) {
            return exchanged(record, update, argument);
        }
        long lengths = RecordLayout.lock(record);
        int outcome = REPEAT;
        try {
            long header = NativeWords.getAcquire(record);
            if (!StoreRecord.sealed(header) && !StoreRecord.deleted(header)) {
                long at = InMemoryOperations.value(record, lengths) - valuesAddress;
                int bytes = RecordLayout.valueBytes(lengths);
                if (update.inPlace(values, at, bytes, argument)) {
                    outcome = StoreStatus.DONE;
                } else if (NativeWords.compareAndSet(record, header, header | StoreRecord.SEALED)) {
                    try {
                        outcome = copied(entry, word, values, at, bytes, update, argument);
                    } finally {
                        if (outcome != StoreStatus.DONE) {
                            unseal(record);
                        }
                        outcome = told(outcome);
                    }
                }
            }
        } finally {
            RecordLayout.unlock(record, lengths);
        }
        return outcome;
    }

    private static void unseal(long record) {
        long header = NativeWords.getAcquire(record);
        while (!NativeWords.compareAndSet(record, header, header & ~StoreRecord.SEALED)) {
            header = NativeWords.getAcquire(record);
        }
    }

    /** Changes a value of 8 bytes. */
    private int exchanged(long record, Update update, long argument) {
        while (true) {
            long old = NativeWords.getAcquire(record + 16);
            long made = 0;
            scratch.set(JAVA_LONG, 0, old);
            if (!update.inPlace(scratch, 0, Long.BYTES, argument)) {
                scratch.set(JAVA_LONG, 0, old);
                int length = update.copyBytes(scratch, 0, Long.BYTES, argument);
                if (length == Update.KEEP) {
                    return StoreStatus.DONE;
                }
                checkLength(length);
                // As for a record that is copied to the tail, the old and the new value are two places.
                made = Long.BYTES;
                update.copy(scratch, 0, Long.BYTES, scratch, made, Long.BYTES, argument);
            }
            if (NativeWords.compareAndSet(record + 16, old, scratch.get(JAVA_LONG, made))) {
                return StoreStatus.DONE;
            }
        }
    }

    /**
     * Continues an update after the chain was read from the device.
     *
     * @param from the address at which the read began: the chain's first address on the device at that time
     * @param oldBytes bytes of the value that was found, or negative if the device has no value of the key
     * @return ON_DEVICE if the chain now begins elsewhere on the device: read again
     */
    public int updateWith(long from, MemorySegment old, long oldOffset, int oldBytes, Update update, long argument) {
        if (version.holds()) {
            return InMemoryOperations.AGAIN;
        }
        long entry = index.findOrInsert(records.key.hash, records.chains);
        while (true) {
            long word = NativeWords.getAcquire(entry);
            if (HashIndex.moved(word)) {
                entry = index.findOrInsert(records.key.hash, records.chains);
                continue;
            }
            long record = records.inMemory(records.chain(word), marks.head());
            int outcome;
            if (record != 0) {
                outcome = of(record, entry, word, update, argument);
            } else if (records.address != from && records.address >= marks.begin()) {
                return InMemoryOperations.ON_DEVICE;
            } else if (oldBytes < 0 || records.address != from) {
                outcome = initial(entry, word, update, argument);
            } else {
                outcome = copied(entry, word, old, oldOffset, oldBytes, update, argument);
            }
            if (outcome != REPEAT) {
                return told(outcome);
            }
        }
    }

    /** The outcome for the caller, without the distinctions that only this class makes. */
    private static int told(int outcome) {
        return outcome == KEPT ? StoreStatus.DONE : outcome;
    }

    /** ON_DEVICE if the key's newest record may be on the device, NOT_FOUND if it is not. */
    public int onDevice() {
        long word = records.found();
        long record = word == 0 ? 0 : records.inMemory(records.chain(word), marks.head());
        return word == 0 || record != 0 || records.address < marks.begin()
                ? StoreStatus.NOT_FOUND
                : InMemoryOperations.ON_DEVICE;
    }

    /**
     * Copies a record to the tail, if it is the newest of its key.
     *
     * @param record a copy of it, in {@code page}
     * @param address its address in the log
     * @return ON_DEVICE if the device has another record that may be the newest
     */
    public int move(MemorySegment page, long record, long address) {
        int outcome = onDevice();
        if (outcome == InMemoryOperations.ON_DEVICE && records.address == address) {
            long value = records.valueAt(record) - page.address();
            outcome = updateWith(address, page, value, records.valueBytes(record), CompactionUpdate.UPDATE, 0);
        }
        return outcome == InMemoryOperations.AGAIN ? StoreStatus.FULL : outcome;
    }

    private int initial(long entry, long word, Update update, long argument) {
        int length = update.initialBytes(argument);
        if (length < 0) {
            return StoreStatus.NOT_FOUND;
        }
        checkLength(length);
        long appended = records.append(word, length, false);
        if (appended < 0) {
            return InMemoryOperations.NO_ROOM;
        }
        update.initial(values, records.valueOf(frames.memoryOf(appended)) - valuesAddress, length, argument);
        return records.publish(entry, word, appended, 0) ? StoreStatus.DONE : REPEAT;
    }

    private int copied(
            long entry, long word, MemorySegment old, long oldOffset, int oldBytes, Update update, long argument) {
        int length = update.copyBytes(old, oldOffset, oldBytes, argument);
        if (length == Update.KEEP) {
            return KEPT;
        }
        // A value of 8 bytes is changed in place by a compare-and-set of the value alone, which does not see a deletion
        // of the record: so no update deletes there, wherever the record is.
        if (length >= 0 || layout == RecordLayout.COMPACT) {
            checkLength(length);
        }
        long appended = records.append(word, length < 0 ? layout.leastValue() : length, length < 0);
        if (appended < 0) {
            return InMemoryOperations.NO_ROOM;
        }
        if (length >= 0) {
            long at = records.valueOf(frames.memoryOf(appended)) - valuesAddress;
            update.copy(old, oldOffset, oldBytes, values, at, length, argument);
        }
        if (!records.publish(entry, word, appended, length < 0 ? StoreRecord.DELETED : 0)) {
            return REPEAT;
        }
        if (length < 0) {
            log.deleted();
        }
        return StoreStatus.DONE;
    }

    private void checkLength(int bytes) {
        records.checkValue(bytes);
    }
}
