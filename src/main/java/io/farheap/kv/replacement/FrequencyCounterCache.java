package io.farheap.kv.replacement;

import java.util.Arrays;

/**
 * Counts accesses by object until one fetch-and-add sends many of them (Ditto, section 4.2.2). An object's count is
 * sent when it passes a threshold, when it has waited too long, or when there is no room and it has waited longest. One
 * thread; fixed memory.
 */
public final class FrequencyCounterCache {

    /** The paper's threshold. */
    public static final int THRESHOLD = 10;

    /** Memory of one entry: five words and its share of the index. */
    public static final int ENTRY_BYTES = 5 * Long.BYTES + 2 * Integer.BYTES;

    private static final int MOST_ENTRIES = 1 << 28;
    private static final int NONE = -1;
    /** How many entries that are too old are sent at each addition, so that they become fewer. */
    private static final int OLD_AT_ONCE = 2;

    /** Receives the counts that are sent. */
    @FunctionalInterface
    public interface Sink {

        /**
         * Adds to a slot's frequency. Must not call the cache.
         *
         * @param key of the object that was accessed
         * @param slot its address, as passed to {@link #add}
         * @param accesses 1 or more
         */
        void add(long key, long slot, int accesses);
    }

    private final Sink sink;
    private final int threshold;
    private final long mostTicks;
    private final long[] keys;
    private final long[] slots;
    private final long[] since;
    private final int[] counts;
    /** A doubly linked list by age; free entries are linked by {@code newer} alone. */
    private final int[] older;

    private final int[] newer;
    /** Entries by hash, with linear probing. */
    private final int[] index;

    private final int mask;
    private int oldest = NONE;
    private int newest = NONE;
    private int free;
    private int size;

    /**
     * @param bytes of memory that the entries may take
     * @param threshold the most accesses that are held back for an object; 0 sends each at once
     * @param mostTicks how long a count may be held back
     */
    public FrequencyCounterCache(long bytes, int threshold, long mostTicks, Sink sink) {
        if (bytes < ENTRY_BYTES || threshold < 0 || mostTicks < 0) {
            throw new IllegalArgumentException("a counter cache of " + bytes + " bytes, threshold " + threshold
                    + ", age " + mostTicks + " ticks; take at least " + ENTRY_BYTES + ", 0 and 0");
        }
        this.sink = sink;
        this.threshold = threshold;
        this.mostTicks = mostTicks;
        int entries = (int) Math.min(MOST_ENTRIES, bytes / ENTRY_BYTES);
        keys = new long[entries];
        slots = new long[entries];
        since = new long[entries];
        counts = new int[entries];
        older = new int[entries];
        newer = new int[entries];
        index = new int[Integer.highestOneBit(Math.max(1, entries)) * 2];
        mask = index.length - 1;
        Arrays.fill(index, NONE);
        for (int entry = 0; entry < entries; entry++) {
            newer[entry] = entry + 1 < entries ? entry + 1 : NONE;
        }
    }

    /** How many objects have a count that is held back. */
    public int size() {
        return size;
    }

    /** How many objects it has room for. */
    public int capacity() {
        return keys.length;
    }

    /**
     * Counts an access. If a key's slot has changed it is another object, and the former object's count is sent.
     *
     * @param key of the object, well mixed
     * @param slot the address of the slot with its frequency
     * @param now in ticks
     */
    public void add(long key, long slot, long now) {
        sendOld(now, OLD_AT_ONCE);
        int entry = index[find(key)];
        if (entry != NONE && slots[entry] != slot) {
            send(entry);
            entry = NONE;
        }
        if (entry == NONE) {
            if (free == NONE) {
                send(oldest);
            }
            entry = insert(key, slot, now);
        }
        if (++counts[entry] > threshold) {
            send(entry);
        }
    }

    /** The count of an object that is held back, and that its slot does not include yet. */
    public int pending(long key, long slot) {
        int entry = index[find(key)];
        return entry != NONE && slots[entry] == slot ? counts[entry] : 0;
    }

    /** Drops the count of an object that no longer exists. */
    public void forget(long key) {
        int at = find(key);
        if (index[at] != NONE) {
            remove(index[at], at);
        }
    }

    /**
     * Sends the counts that have waited too long, the oldest first. For a session that is idle.
     *
     * @param most how many at most
     * @return how many were sent
     */
    public int sendOld(long now, int most) {
        int sent = 0;
        while (sent < most && oldest != NONE && now - since[oldest] > mostTicks) {
            send(oldest);
            sent++;
        }
        return sent;
    }

    /** Sends the oldest counts, at most so many. */
    public int sendOldest(int most) {
        int sent = 0;
        while (sent < most && oldest != NONE) {
            send(oldest);
            sent++;
        }
        return sent;
    }

    private int insert(long key, long slot, long now) {
        int entry = free;
        free = newer[entry];
        keys[entry] = key;
        slots[entry] = slot;
        since[entry] = now;
        counts[entry] = 0;
        older[entry] = newest;
        newer[entry] = NONE;
        if (newest == NONE) {
            oldest = entry;
        } else {
            newer[newest] = entry;
        }
        newest = entry;
        index[find(key)] = entry;
        size++;
        return entry;
    }

    private void send(int entry) {
        long key = keys[entry];
        long slot = slots[entry];
        int accesses = counts[entry];
        remove(entry, find(key));
        if (accesses > 0) {
            sink.add(key, slot, accesses);
        }
    }

    private void remove(int entry, int at) {
        if (older[entry] == NONE) {
            oldest = newer[entry];
        } else {
            newer[older[entry]] = newer[entry];
        }
        if (newer[entry] == NONE) {
            newest = older[entry];
        } else {
            older[newer[entry]] = older[entry];
        }
        newer[entry] = free;
        free = entry;
        size--;
        close(at);
    }

    /** The index position of a key's entry, or the one where it would be inserted. */
    private int find(long key) {
        int at = home(key);
        while (index[at] != NONE && keys[index[at]] != key) {
            at = at + 1 & mask;
        }
        return at;
    }

    private int home(long key) {
        return (int) (key ^ key >>> 32) & mask;
    }

    /** Empties an index position, and moves up the entries behind it that a probe could not find otherwise. */
    private void close(int at) {
        int hole = at;
        int next = at + 1 & mask;
        while (index[next] != NONE) {
            int home = home(keys[index[next]]);
            if ((next - home & mask) >= (next - hole & mask)) {
                index[hole] = index[next];
                hole = next;
            }
            next = next + 1 & mask;
        }
        index[hole] = NONE;
    }
}
