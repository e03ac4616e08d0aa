package io.farheap.kv.leased.server;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.function.IntToLongFunction;

/** Some of a shard's entries in a heap, by a number that each has and keeps while it is there. The shard's thread. */
final class EntryHeap {

    private final MemorySegment memory;
    private final long at;
    private final IntToLongFunction numbers;
    private int size;

    /**
     * @param at where its memory begins: a u32 for each entry that the shard has
     * @param numbers the number of an entry
     */
    EntryHeap(MemorySegment memory, long at, IntToLongFunction numbers) {
        this.memory = memory;
        this.at = at;
        this.numbers = numbers;
    }

    int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    void add(int entry) {
        int place = size++;
        long number = numbers.applyAsLong(entry);
        while (place > 0 && number((place - 1) / 2) > number) {
            set(place, get((place - 1) / 2));
            place = (place - 1) / 2;
        }
        set(place, entry);
    }

    /**
     * Takes out the entry of the lowest number if that is no more than {@code most}; else {@link ShardEntries#NONE}.
     */
    int take(long most) {
        if (size == 0 || number(0) > most) {
            return ShardEntries.NONE;
        }
        int taken = get(0);
        int last = get(--size);
        long number = numbers.applyAsLong(last);
        int place = 0;
        for (int child = 1; child < size; child = 2 * place + 1) {
            if (child + 1 < size && number(child + 1) < number(child)) {
                child++;
            }
            if (number(child) >= number) {
                break;
            }
            set(place, get(child));
            place = child;
        }
        if (size > 0) {
            set(place, last);
        }
        return taken;
    }

    private long number(int place) {
        return numbers.applyAsLong(get(place));
    }

    private int get(int place) {
        return memory.get(JAVA_INT, at + (long) place * Integer.BYTES);
    }

    private void set(int place, int entry) {
        memory.set(JAVA_INT, at + (long) place * Integer.BYTES, entry);
    }
}
