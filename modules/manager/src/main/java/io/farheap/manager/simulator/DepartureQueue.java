package io.farheap.manager.simulator;

import java.util.Arrays;

/** Numbers in the order of their times: a binary heap of primitives. One thread at a time. */
final class DepartureQueue {

    private double[] times = new double[1024];
    private int[] numbers = new int[1024];
    private int size;

    /** Returns the time of the first number; infinite if there is none. */
    double next() {
        return size == 0 ? Double.POSITIVE_INFINITY : times[0];
    }

    void add(double time, int number) {
        if (size == times.length) {
            times = Arrays.copyOf(times, 2 * size);
            numbers = Arrays.copyOf(numbers, 2 * size);
        }
        int at = size++;
        while (at > 0 && times[(at - 1) / 2] > time) {
            put(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
        times[at] = time;
        numbers[at] = number;
    }

    /** Removes the first number. There must be one. */
    int remove() {
        int first = numbers[0];
        size--;
        double time = times[size];
        int number = numbers[size];
        int at = 0;
        for (int child = 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && times[child + 1] < times[child]) {
                child++;
            }
            if (times[child] >= time) {
                break;
            }
            put(at, child);
            at = child;
        }
        times[at] = time;
        numbers[at] = number;
        return first;
    }

    private void put(int at, int from) {
        times[at] = times[from];
        numbers[at] = numbers[from];
    }
}
