package io.farheap.kv.session;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.memory.MappedFaults;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a batch, with the values that are stored or found, and the status of each. The session that has the batch
 * issues the keys one after another. The session's thread.
 */
public final class KeyBatch {

    private static final int FIRST_BYTES = 1024;
    private static final int FIRST_KEYS = 16;

    private final Bytes keys = new Bytes();
    private final Bytes values = new Bytes();
    private int[] status = new int[FIRST_KEYS];
    private long[] version = new long[FIRST_KEYS];
    /** Whether the batch stores: then the values are there from the beginning. */
    private boolean stores;

    private boolean running;
    private int count;

    // The tag, while a session has the batch.
    long tag;
    long lifeMillis;
    int issued;
    int ended;
    int worst;

    /** A batch that gets these keys. */
    static KeyBatch of(List<byte[]> keys) {
        KeyBatch batch = new KeyBatch();
        keys.forEach(key -> batch.add(MemorySegment.ofArray(key)));
        return batch;
    }

    /** A batch that sets these keys to these values. */
    public static KeyBatch of(List<byte[]> keys, List<byte[]> values) {
        if (keys.size() != values.size()) {
            throw new IllegalArgumentException(
                    keys.size() + " keys with " + values.size() + " values; say one value for each key");
        }
        KeyBatch batch = new KeyBatch();
        for (int i = 0; i < keys.size(); i++) {
            batch.add(MemorySegment.ofArray(keys.get(i)), MemorySegment.ofArray(values.get(i)));
        }
        return batch;
    }

    /** Copies of the values that were found; null for a key without one. */
    List<byte @Nullable []> found() {
        List<byte @Nullable []> found = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            found.add(status(i) == KvStatus.DONE ? value(i) : null);
        }
        return found;
    }

    public void clear() {
        checkIdle();
        count = 0;
    }

    public void add(MemorySegment key) {
        checkNext(key, false);
        keys.put(count, key, 0, (int) key.byteSize());
        count++;
    }

    public void add(MemorySegment key, MemorySegment value) {
        checkNext(key, true);
        values.put(count, value, 0, Math.toIntExact(value.byteSize()));
        keys.put(count, key, 0, (int) key.byteSize());
        count++;
    }

    private void checkNext(MemorySegment key, boolean store) {
        checkIdle();
        PaddedKeys.check(key.byteSize());
        if (count > 0 && stores != store) {
            throw new IllegalArgumentException("key " + count + " of a batch comes " + (store ? "with" : "without")
                    + " a value, unlike those before it; make one batch to get and another to set");
        }
        stores = store;
        if (count == status.length) {
            status = Arrays.copyOf(status, 2 * count);
            version = Arrays.copyOf(version, 2 * count);
        }
    }

    public int size() {
        return count;
    }

    public int status(int number) {
        check(number);
        return status[number];
    }

    public long version(int number) {
        check(number);
        return version[number];
    }

    public MemorySegment values() {
        return values.memory;
    }

    public int valueAt(int number) {
        check(number);
        return values.at(number);
    }

    public byte[] value(int number) {
        byte[] copy = new byte[valueBytes(number)];
        MemorySegment.copy(values.memory, values.at(number), MemorySegment.ofArray(copy), 0, copy.length);
        return copy;
    }

    public int keyBytes(int number) {
        check(number);
        return keys.bytes(number);
    }

    public int valueBytes(int number) {
        check(number);
        return values.bytes(number);
    }

    private void check(int number) {
        checkIdle();
        Objects.checkIndex(number, count);
    }

    private void checkIdle() {
        if (running) {
            throw new IllegalStateException("the batch is under way; wait for its callback");
        }
    }

    /** The batch is under way. @throws IllegalStateException if it was already */
    public void begin(boolean set, long requestTag, long life) {
        checkIdle();
        if (count == 0 || stores != set) {
            throw new IllegalArgumentException("a batch of " + count + " keys " + (stores ? "with" : "without")
                    + " values; add at least one key, with a value to set it and without to get it");
        }
        running = true;
        tag = requestTag;
        lifeMillis = life;
        issued = 0;
        ended = 0;
        worst = KvStatus.DONE;
    }

    public boolean stores() {
        return stores;
    }

    /** The tag of the batch's request. */
    public long tag() {
        return tag;
    }

    public long lifeMillis() {
        return lifeMillis;
    }

    /** The status of the batch: that of the last key that failed. */
    public int worst() {
        return worst;
    }

    /** The next key has been issued. */
    public void issue() {
        issued++;
    }

    public boolean issuedAll() {
        return issued == count;
    }

    // The memory of the key that is issued next.

    public MemorySegment keyMemory() {
        return keys.memory;
    }

    public int keyAt() {
        return keys.at(issued);
    }

    public int keyBytes() {
        return keys.bytes(issued);
    }

    public MemorySegment storedMemory() {
        return values.memory;
    }

    public int storedAt() {
        return values.at(issued);
    }

    public int storedBytes() {
        return values.bytes(issued);
    }

    /**
     * Receives the result of the oldest key that has not ended.
     *
     * @return whether it was the last
     */
    public boolean take(int ending, long of, MemorySegment memory, long at, int bytes) {
        status[ended] = ending;
        version[ended] = of;
        if (MapException.isOf(ending) && worst != KvStatus.LOST) {
            worst = ending;
        }
        if (!stores) {
            values.put(ended, memory, at, bytes);
        }
        ended++;
        running = ended < count;
        return !running;
    }

    /** Byte strings, one behind the other. */
    private static final class Bytes {

        private MemorySegment memory = MemorySegment.ofArray(new byte[FIRST_BYTES]);
        private int[] end = new int[FIRST_KEYS];

        /** Adds the bytes with a number, behind those of the number before, which are there. */
        void put(int number, MemorySegment from, long offset, int bytes) {
            int used = at(number);
            if (used + bytes > memory.byteSize()) {
                byte[] larger = new byte[Math.max(Math.addExact(used, bytes), 2 * used)];
                MemorySegment.copy(memory, 0, MemorySegment.ofArray(larger), 0, used);
                memory = MemorySegment.ofArray(larger);
            }
            if (number == end.length) {
                end = Arrays.copyOf(end, 2 * number);
            }
            MemorySegment.copy(from, offset, memory, used, bytes);
            MappedFaults.raise(from);
            end[number] = used + bytes;
        }

        int at(int number) {
            return number == 0 ? 0 : end[number - 1];
        }

        int bytes(int number) {
            return end[number] - at(number);
        }
    }
}
