package io.farheap.kv;

import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteSpace;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A map's regions, as one process sees them. Places that slots name are checked here before anything is posted to them:
 * what another process wrote there may be anything.
 *
 * <p>Any thread reads, and one adds what the map has grown by. No slot names a block in a new region before all
 * processes have added it.
 */
final class SpaceMemory {

    private final SpaceShape shape;
    /** Only ever replaced by one with more, so whoever has found a region in it finds it again. */
    private volatile RemoteRegion[] regions;

    private volatile Layout layout;
    private final int placeShift;
    private final long unitMask;

    /** @param spaces in the order of the map's servers */
    SpaceMemory(SpaceShape shape, Layout layout, List<RemoteSpace> spaces) {
        this.shape = shape;
        this.layout = layout;
        this.regions = regions(layout, spaces);
        this.placeShift = shape.placeShift();
        this.unitMask = (1L << placeShift) - 1;
    }

    private static RemoteRegion[] regions(Layout layout, List<RemoteSpace> spaces) {
        return IntStream.range(0, layout.regions())
                .mapToObj(
                        number -> spaces.get(layout.serverOf(number)).regions().get(layout.indexOf(number)))
                .toArray(RemoteRegion[]::new);
    }

    /** The map has grown, and its spaces have the regions here. */
    void grow(Layout grown, List<RemoteSpace> spaces) {
        regions = regions(grown, spaces);
        layout = grown;
    }

    Layout layout() {
        return layout;
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

    /** The number of the server that has a block; of a place that there is not the first. */
    int serverOf(long word) {
        return layout.serverOf(SlotWord.place(word) >>> placeShift);
    }

    RemoteRegion regionOf(long place) {
        return regions[(int) (place >>> placeShift)];
    }

    long offsetOf(long place) {
        return (place & unitMask) << 6;
    }
}
