package io.farheap.bench.report;

/**
 * The order in which sides take their turns. It differs from turn to turn, so that no side is always the first and none
 * always finds in the processor's caches the data of the same other side. Over a {@linkplain #round() round} of turns
 * each side has each place equally often, and runs directly after each other side equally often (E. J. Williams, 1949).
 */
public final class Rotation {

    private final int sides;

    public Rotation(int sides) {
        if (sides < 1) {
            throw new IllegalArgumentException("a rotation of " + sides + " sides; there must be at least 1");
        }
        this.sides = sides;
    }

    /** Returns the number of turns after which the orders repeat. */
    public int round() {
        return sides % 2 == 0 ? sides : 2 * sides;
    }

    /**
     * Returns the sides, which are numbered from 0, in the order of a turn.
     *
     * @param turn negative for a turn of the warm-up
     */
    public int[] order(int turn) {
        int number = Math.floorMod(turn, round());
        // With an odd number of sides one order is not enough: its mirror image has the other neighbours.
        boolean mirrored = number >= sides;
        int[] order = new int[sides];
        for (int place = 0; place < sides; place++) {
            order[mirrored ? sides - 1 - place : place] = (first(place) + number) % sides;
        }
        return order;
    }

    /** Returns the first order, 0, 1, n - 1, 2, n - 2 and so on, in which neighbours differ by different numbers. */
    private int first(int place) {
        return place % 2 == 1 ? (place + 1) / 2 : (sides - place / 2) % sides;
    }
}
