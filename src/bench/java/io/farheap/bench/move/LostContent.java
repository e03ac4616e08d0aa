package io.farheap.bench.move;

/**
 * What a cache has lost.
 *
 * @param bytes that differ from the last write, or cannot be read
 * @param regions in which there are such bytes
 */
public record LostContent(long bytes, int regions) {

    /** The result if nothing is lost. */
    public static final LostContent NONE = new LostContent(0, 0);

    /** The sum of this loss and another one. */
    public LostContent plus(LostContent other) {
        return new LostContent(bytes + other.bytes, regions + other.regions);
    }
}
