package io.farheap.store.contract;

/**
 * Called when a pending operation has ended, in {@link io.farheap.store.StoreSession#poll}, or one read of many, in
 * {@link io.farheap.store.StoreSession#readAll}; on the session's thread.
 */
@FunctionalInterface
public interface StoreCompletion {

    /**
     * @param token the one that the operation was given
     * @param status of {@link StoreStatus}, never PENDING or FULL
     * @param bytes of the value that was read, else 0
     */
    void completed(long token, int status, int bytes);
}
