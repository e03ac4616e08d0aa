package io.farheap.slo;

import java.util.stream.IntStream;

/**
 * The values of one parameter that are measured: powers of two, and the ends of its range (Redy, section 5.2,
 * "Interpolation").
 */
final class GridLevels {

    private final int[] values;

    /** From {@code low} to {@code high}, both included. */
    GridLevels(int low, int high) {
        values = IntStream.rangeClosed(low, high)
                .filter(value -> value == low || value == high || Integer.bitCount(value) == 1)
                .toArray();
    }

    int count() {
        return values.length;
    }

    int get(int index) {
        return values[index];
    }

    /** The index of the largest level that is not above {@code value}. */
    int below(int value) {
        int index = values.length - 1;
        while (values[index] > value) {
            index--;
        }
        return index;
    }

    /** The position of {@code value} between level {@code below} and the next, from 0 to less than 1. */
    double fraction(int value, int below) {
        return values[below] == value ? 0 : (double) (value - values[below]) / (values[below + 1] - values[below]);
    }

    /** The index of the level that equals {@code value}, or -1. */
    int indexOf(int value) {
        int index = value < values[0] ? 0 : below(value);
        return values[index] == value ? index : -1;
    }
}
