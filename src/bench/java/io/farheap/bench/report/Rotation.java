package io.farheap.bench.report;

/**
 * The order in which sides take their turns. It differs from turn to turn, so that no side is always the first and none
 * always finds in the processor's caches the data of the same other side.
 *
 * <p>If the turns are a multiple of the sides, each side has each place equally often; over a {@linkplain #round()
 * round} of turns it also runs directly after each other side equally often (E. J. Williams, 1949). If there are other
 * even numbers of turns, such as 6 of 38 sides, every second turn has the order of the one before reversed: all sides
 * have the same mean place, so that a machine that becomes slower or faster favours none.
 */
public final class Rotation {

    private final int sides;
    private final boolean reverses;
    /** By how many places the order moves on from one pair of reversed turns to the next. */
    private final int stride;

    /** Makes a rotation of whole rounds, or of a number of turns that is not known yet. */
    public Rotation(int sides) {
        this(sides, sides);
    }

    /**
     * Makes a rotation for a number of turns.
     *
     * @param turns that count, such as {@link #turns(int, int)} returns
     */
    public Rotation(int sides, int turns) {
        if (sides < 1) {
            throw new IllegalArgumentException("a rotation of " + sides + " sides; there must be at least 1");
        }
        this.sides = sides;
        reverses = turns % sides != 0 && turns % 2 == 0;
        stride = reverses ? Math.max(1, 2 * sides / turns) : 1;
    }

    /**
     * Returns how many turns to take if at least so many are wanted, so that the order favours no side: a multiple of
     * the number of sides if at least as many are wanted as there are sides, else an even number. One turn, which only
     * shows that a benchmark works, remains one.
     */
    public static int turns(int sides, int wanted) {
        int unit = wanted >= sides ? sides : 2;
        return wanted <= 1 ? wanted : Math.ceilDiv(wanted, unit) * unit;
    }

    /**
     * Returns how many turns to take if at least so many are wanted, so that each side has each place equally often: a
     * multiple of the number of sides. One turn remains one.
     */
    public static int whole(int sides, int wanted) {
        return wanted <= 1 ? wanted : turns(sides, Math.max(sides, wanted));
    }

    /** Returns the number of turns after which the orders repeat, if these are a multiple of the sides. */
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
        if (reverses) {
            mirrored = Math.floorMod(turn, 2) == 1;
            number = Math.floorMod(Math.floorDiv(turn, 2) * stride, sides);
        }
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
