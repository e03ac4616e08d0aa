package io.farheap.store.contract;

/**
 * Told how an operation ended that was pending, in {@link io.farheap.store.StoreSession#poll}, or one of many, in
 * {@link io.farheap.store.StoreSession#readAll}; on the session's thread.
 */
@FunctionalInterface
public interface StoreCompletion {

    /**
     * @param token as given with the operation
     * @param status of {@link StoreStatus}, never PENDING or FULL
     * @param bytes of the value that was read, else 0
     */
    void completed(long token, int status, int bytes);
}
