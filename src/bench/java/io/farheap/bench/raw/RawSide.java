package io.farheap.bench.raw;

/** One side of {@code bench raw}: the same operations, carried out in its own way. */
interface RawSide {

    /** @return ns for so many operations, one after the other or {@code depth} in flight, as the side was made */
    long run(int operations);

    /**
     * Times single operations, one after the other, one in {@code every}; only at queue depth 1.
     *
     * @param nanos receives the times
     */
    void sample(int every, long[] nanos);
}
