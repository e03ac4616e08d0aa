package io.farheap.store.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.memory.MappedFaults;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * The key of a session's current operation: a key of 8 bytes as a word, any other in memory, padded with zeros to whole
 * words. One thread's; it is used again for each operation, so that no operation allocates.
 */
public final class OperationKey {

    private final RecordLayout layout;

    /** The key, if it has 8 bytes; otherwise without meaning. */
    public long word;

    public int bytes;
    /** Address of the key, if it does not have 8 bytes. */
    public long memory;

    public long hash;

    public OperationKey(RecordLayout layout) {
        this.layout = layout;
    }

    public void use(long key) {
        use(key, Long.BYTES, Hashes.of(key));
    }

    /** @param there the key itself if it has 8 bytes, else the address of the padded key */
    public void use(long there, int length, long hashed) {
        if (length == Long.BYTES) {
            word = there;
        } else {
            memory = there;
        }
        bytes = length;
        hash = hashed;
    }

    /**
     * @param scratch address of memory for the padded key, which holds it until the operation has ended
     * @throws InternalError if the key is in a mapped file that has been truncated
     */
    public void use(MemorySegment key, long offset, int length, long scratch) {
        if (length == Long.BYTES) {
            long there = key.get(JAVA_LONG_UNALIGNED, offset);
            MappedFaults.raise(key);
            use(there);
            return;
        }
        long last = RecordLayout.padded(length) - Long.BYTES;
        NativeWords.set(scratch + last, 0);
        MemorySegment.copy(key, offset, NativeMemory.ALL, scratch, length);
        MappedFaults.raise(key);
        use(scratch, length);
    }

    /** Uses a key that is in memory already, padded. */
    public void use(long address, int length) {
        if (length == Long.BYTES) {
            use(NativeWords.get(address));
            return;
        }
        long mixed = length;
        for (long at = address; at < address + length; at += Long.BYTES) {
            mixed = Hashes.of(mixed * 31 ^ NativeWords.get(at));
        }
        use(address, length, mixed);
    }

    /** Uses the key of a record. */
    public void useOf(long record) {
        if (layout == RecordLayout.COMPACT) {
            use(NativeWords.get(record + layout.keyOffset()));
        } else {
            use(record + layout.keyOffset(), RecordLayout.keyBytes(NativeWords.get(record + RecordLayout.LENGTHS)));
        }
    }

    /** Whether a record has this key. */
    public boolean of(long record) {
        if (layout == RecordLayout.COMPACT) {
            return NativeWords.get(record + 8) == word;
        }
        if (RecordLayout.keyBytes(NativeWords.getOpaque(record + RecordLayout.LENGTHS)) != bytes) {
            return false;
        }
        long there = record + layout.keyOffset();
        if (bytes == Long.BYTES) {
            return NativeWords.get(there) == word;
        }
        for (long at = 0; at < bytes; at += Long.BYTES) {
            if (NativeWords.get(there + at) != NativeWords.get(memory + at)) {
                return false;
            }
        }
        return true;
    }

    /** Stores the key in a record that has room for it and that no other thread sees yet. */
    public void into(long record) {
        long there = record + layout.keyOffset();
        if (bytes == Long.BYTES) {
            NativeWords.set(there, word);
        } else {
            MemorySegment.copy(NativeMemory.ALL, memory, NativeMemory.ALL, there, RecordLayout.padded(bytes));
        }
    }
}
