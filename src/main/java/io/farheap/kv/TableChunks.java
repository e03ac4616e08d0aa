package io.farheap.kv;

/** A map's table as it is read from end to end: runs of buckets that one READ takes. */
record TableChunks(int ofRegion, int regions) {

    TableChunks(SpaceShape shape) {
        this(Math.ceilDiv(shape.bucketsPerRegion(), TableReader.MOST_BUCKETS), shape.tableRegions());
    }

    int count() {
        return ofRegion * regions;
    }

    int region(int chunk) {
        return chunk / ofRegion;
    }

    /** The first. */
    int bucket(int chunk) {
        return chunk % ofRegion * TableReader.MOST_BUCKETS;
    }
}
