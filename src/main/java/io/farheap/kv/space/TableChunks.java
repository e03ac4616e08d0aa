package io.farheap.kv.space;

import io.farheap.kv.format.SpaceShape;

/** A map's table as it is read from end to end: runs of buckets that one READ takes. */
public record TableChunks(int ofRegion, int regions) {

    public TableChunks(SpaceShape shape) {
        this(Math.ceilDiv(shape.bucketsPerRegion(), TableReader.MOST_BUCKETS), shape.tableRegions());
    }

    public int count() {
        return ofRegion * regions;
    }

    public int region(int chunk) {
        return chunk / ofRegion;
    }

    /** The first. */
    public int bucket(int chunk) {
        return chunk % ofRegion * TableReader.MOST_BUCKETS;
    }
}
