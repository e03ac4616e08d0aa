package io.farheap.tier.handle;

/** A queue of slot numbers, for one thread. It has room for all slots, so it is never full. */
public final class SlotQueue {

    private final int[] slots;
    private int head;
    private int count;

    public SlotQueue(int capacity) {
        slots = new int[capacity];
    }

    public boolean isEmpty() {
        return count == 0;
    }

    public int size() {
        return count;
    }

    public void add(int slot) {
        int tail = head + count++;
        slots[tail < slots.length ? tail : tail - slots.length] = slot;
    }

    /** Removes the oldest number, of which there must be one. */
    public int remove() {
        int slot = slots[head];
        head = head + 1 == slots.length ? 0 : head + 1;
        count--;
        return slot;
    }
}
