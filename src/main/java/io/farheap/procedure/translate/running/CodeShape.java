package io.farheap.procedure.translate.running;

/**
 * The resume points of translated code; point 0 is its start.
 *
 * @param slots by point: how many values the point keeps
 * @param lines by point; 0 if unknown
 * @param fast by point: whether {@link TranslatedCode#fast} can begin there
 * @param mask a power of two less 1, at least the last point
 */
public record CodeShape(int[] slots, int[] lines, boolean[] fast, int mask) {

    public CodeShape(int[] slots, int[] lines, boolean[] fast) {
        this(slots, lines, fast, Integer.highestOneBit(Math.max(1, slots.length - 1)) * 2 - 1);
    }

    int points() {
        return slots.length;
    }
}
