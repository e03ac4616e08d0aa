package io.farheap.kv;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.session.KeyBatch;
import java.lang.foreign.MemorySegment;

/**
 * Many keys for one {@link MapSession#getAll getAll} or {@link MapSession#setAll setAll}, and what became of each. It
 * is made once and used again and again; it grows with what is put into it, and allocates nothing else. Its session's
 * thread.
 */
public final class MapBatch {

    final KeyBatch keys = new KeyBatch();

    /** An empty one. */
    public MapBatch() {}

    /** Forgets all keys and values. */
    public void clear() {
        keys.clear();
    }

    /** Adds a key, to be found. All keys of a batch come with a value, or none. */
    public void add(MemorySegment key) {
        keys.add(key);
    }

    /** Adds a key and a value, to be stored. */
    public void add(MemorySegment key, MemorySegment value) {
        keys.add(key, value);
    }

    /** How many keys there are. */
    public int size() {
        return keys.size();
    }

    /** What became of a key, by its number from 0: one of {@link KvStatus}. */
    public int status(int number) {
        return keys.status(number);
    }

    /** The version of the object that was found or stored; 0 where there is none. */
    public long version(int number) {
        return keys.version(number);
    }

    /** What has the values, until the batch is used again. */
    public MemorySegment values() {
        return keys.values();
    }

    /** Where in {@link #values} the value of a key begins. */
    public int valueAt(int number) {
        return keys.valueAt(number);
    }

    /** A copy of the value of a key. */
    public byte[] value(int number) {
        return keys.value(number);
    }

    /** The bytes of the value of a key; 0 where none was found. */
    public int valueBytes(int number) {
        return keys.valueBytes(number);
    }
}
