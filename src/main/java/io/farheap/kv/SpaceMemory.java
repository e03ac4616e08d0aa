package io.farheap.kv;

import io.farheap.remote.RemoteRegion;

/**
 * A map's regions, as one process sees them. Places that slots name are checked here before anything is posted to them:
 * what another process wrote there may be anything.
 */
final class SpaceMemory {

    private final SpaceShape shape;
    private final RemoteRegion[] regions;
    private final int placeShift;
    private final long unitMask;

    SpaceMemory(SpaceShape shape, RemoteRegion[] regions) {
        this.shape = shape;
        this.regions = regions.clone();
        this.placeShift = shape.placeShift();
        this.unitMask = (1L << placeShift) - 1;
    }

    SpaceShape shape() {
        return shape;
    }

    int regions() {
        return regions.length;
    }

    RemoteRegion region(int number) {
        return regions[number];
    }

    /** Whether a place and a length in units lie in one region, behind its table. */
    boolean holds(long place, int units) {
        long number = place >>> placeShift;
        if (number >= regions.length) {
            return false;
        }
        long offset = (place & unitMask) << 6;
        return offset >= shape.segmentsAt((int) number)
                && offset + units * (long) BlockFormat.UNIT_BYTES <= shape.regionBytes();
    }

    /** Whether a word may name a block. */
    boolean holdsBlock(long word) {
        return SlotWord.units(word) > 0 && holds(SlotWord.place(word), SlotWord.units(word));
    }

    /** The number of the server that has a block, of so many. */
    int serverOf(long word, int servers) {
        return (int) ((SlotWord.place(word) >>> placeShift) % servers);
    }

    RemoteRegion regionOf(long place) {
        return regions[(int) (place >>> placeShift)];
    }

    long offsetOf(long place) {
        return (place & unitMask) << 6;
    }
}
