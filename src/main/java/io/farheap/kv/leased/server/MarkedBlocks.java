package io.farheap.kv.leased.server;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.farheap.kv.leased.format.ShardShape;
import java.lang.foreign.MemorySegment;

/**
 * The blocks of a shard that are no key's object any more and whose leases are not over: a heap of their entries by the
 * ends of the leases. The shard's thread.
 */
final class MarkedBlocks {

    private final ShardEntries entries;
    private final MemorySegment memory;
    private final long heap;
    private int size;

    /** @param at offset of the shard in the memory */
    MarkedBlocks(ShardEntries entries, MemorySegment memory, long at, ShardShape shape) {
        this.entries = entries;
        this.memory = memory;
        this.heap = at + shape.heap();
    }

    int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    void add(int entry) {
        int place = size++;
        long end = entries.leasedUntil(entry);
        while (place > 0 && entries.leasedUntil(get((place - 1) / 2)) > end) {
            set(place, get((place - 1) / 2));
            place = (place - 1) / 2;
        }
        set(place, entry);
    }

    /** Takes out an entry whose lease is over, or returns {@link ShardEntries#NONE}. */
    int takeOver(long now) {
        if (size == 0 || entries.leasedUntil(get(0)) > now) {
            return ShardEntries.NONE;
        }
        int over = get(0);
        int last = get(--size);
        long end = entries.leasedUntil(last);
        int place = 0;
        for (int child = 1; child < size; child = 2 * place + 1) {
            if (child + 1 < size && entries.leasedUntil(get(child + 1)) < entries.leasedUntil(get(child))) {
                child++;
            }
            if (entries.leasedUntil(get(child)) >= end) {
                break;
            }
            set(place, get(child));
            place = child;
        }
        if (size > 0) {
            set(place, last);
        }
        return over;
    }

    private int get(int place) {
        return memory.get(JAVA_INT, heap + (long) place * Integer.BYTES);
    }

    private void set(int place, int entry) {
        memory.set(JAVA_INT, heap + (long) place * Integer.BYTES, entry);
    }
}
