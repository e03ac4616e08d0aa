package io.farheap.coding;

/**
 * The loops that multiply splits by factors. One thread; only the preparation of a transform allocates. The caller owns
 * the memory behind all addresses, which may have any alignment; no target is also a source.
 */
interface Kernel {

    /** Prepares a transform, once. */
    void prepare(Transform transform);

    /**
     * Makes the targets from the sources.
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
