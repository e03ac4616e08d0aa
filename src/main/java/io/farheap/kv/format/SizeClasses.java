package io.farheap.kv.format;

/**
 * The sizes of blocks, in units of 64 bytes: each size up to 16 units, then eight sizes between a power of two and the
 * next, so that a block is at most an eighth larger than its content.
 */
public final class SizeClasses {

    private static final int EXACT = 16;
    private static final int STEPS = 8;
    private static final int STEPS_SHIFT = 3;

    /** How many classes there are. */
    public static final int COUNT = of(SlotWord.MOST_UNITS) + 1;

    private SizeClasses() {}

    /** The smallest class whose blocks have at least so many units. @param units 1 to {@link SlotWord#MOST_UNITS} */
    public static int of(int units) {
        if (units <= EXACT) {
            return units - 1;
        }
        int log = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(units - 1);
        int step = units - 1 - (1 << log) >>> log - STEPS_SHIFT;
        return EXACT + (log - 4) * STEPS + step;
    }

    /**
     * The largest class whose blocks serve a request for a smaller class while a better block may still be found: half
     * as large again.
     */
    public static int near(int sizeClass) {
        int units = units(sizeClass);
        return of(Math.min(SlotWord.MOST_UNITS, units + units / 2));
    }

    /** How many units a block of a class has. */
    public static int units(int sizeClass) {
        if (sizeClass < EXACT) {
            return sizeClass + 1;
        }
        int log = 4 + (sizeClass - EXACT) / STEPS;
        int step = (sizeClass - EXACT) % STEPS;
        return Math.min(SlotWord.MOST_UNITS, (1 << log) + (step + 1 << log - STEPS_SHIFT));
    }
}
