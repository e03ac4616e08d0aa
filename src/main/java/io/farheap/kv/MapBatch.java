package io.farheap.kv;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.session.KeyBatch;
import java.lang.foreign.MemorySegment;

/**
 * The keys of one {@link MapSession#getAll getAll} or {@link MapSession#setAll setAll}, and the result of each. A batch
 * is made once and used repeatedly; it grows with the keys and values that are put into it, and allocates nothing else.
 * It belongs to its session's thread. From the call that begins it until its callback runs, its methods throw
 * {@link IllegalStateException}, except {@link #size} and {@link #values}. A number outside the batch throws
 * {@link IndexOutOfBoundsException}.
 */
public final class MapBatch {

    final KeyBatch keys = new KeyBatch();

    /** An empty batch. */
    public MapBatch() {}

    /** Forgets all keys and values. */
    public void clear() {
        keys.clear();
    }

    /**
     * Adds a copy of a key to get. A batch has keys alone, or keys with values.
     *
     * @throws IllegalArgumentException if the key is empty or too long, or the keys before it have values
     */
    public void add(MemorySegment key) {
        keys.add(key);
    }

    /**
     * Adds copies of a key and of its value to set.
     *
     * @throws IllegalArgumentException if the key is empty or too long, or the keys before it have no values
     */
    public void add(MemorySegment key, MemorySegment value) {
        keys.add(key, value);
    }

    /** How many keys there are. */
    public int size() {
        return keys.size();
    }

    /** The status of a key, by its number from 0: one of {@link KvStatus}. */
    public int status(int number) {
        return keys.status(number);
    }

    /** The version of the object that was found or stored; 0 if there is none. */
    public long version(int number) {
        return keys.version(number);
    }

    /** The memory with the values that were found; valid until the batch is used again. */
    public MemorySegment values() {
        return keys.values();
    }

    /** The offset in {@link #values} at which the value of a key begins. */
    public int valueAt(int number) {
        return keys.valueAt(number);
    }

    /** A copy of the value of a key. */
    public byte[] value(int number) {
        return keys.value(number);
    }

    /** The length of the value of a key in bytes; 0 if none was found. */
    public int valueBytes(int number) {
        return keys.valueBytes(number);
    }
}
