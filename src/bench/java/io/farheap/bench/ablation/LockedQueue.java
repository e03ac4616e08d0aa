package io.farheap.bench.ablation;

/** A queue whose two ends share one lock: the baseline. */
final class LockedQueue implements LongQueue {

    private final long[] numbers;
    private int head;
    private int count;

    /** @param capacity the most numbers in it */
    LockedQueue(int capacity) {
        numbers = new long[capacity];
    }

    @Override
    public synchronized void put(long number) {
        if (count == numbers.length) {
            throw new IllegalStateException("the queue is full");
        }
        numbers[(head + count++) % numbers.length] = number;
    }

    @Override
    public synchronized long poll() {
        if (count == 0) {
            return NOTHING;
        }
        long number = numbers[head];
        head = (head + 1) % numbers.length;
        count--;
        return number;
    }
}
