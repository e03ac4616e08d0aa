package io.farheap.coding;

/**
 * What multiplies. One thread; nothing allocates but where a transform is prepared. Addresses are of memory that the
 * caller keeps, with any alignment; a target is none of the sources.
 */
interface Kernel {

    /** Once for each transform. */
    void prepare(Transform transform);

    /**
     * Makes the targets.
     *
     * @param bytes of each split, at least 1
     */
    void run(Transform transform, long[] sources, long[] targets, int bytes);

    /**
     * Adds one source, times its factors, to the targets.
     *
     * @param transform of which the source is column {@code source}
     */
    void add(Transform transform, int source, long address, long[] targets, int bytes);
}
