package io.farheap.cache.contract;

/**
 * Called when a read or write has finished.
 *
 * <p>It runs on the session's thread, inside {@link io.farheap.cache.CacheSession#poll}, a blocking read or write,
 * {@link io.farheap.cache.CacheSession#drain} or {@link io.farheap.cache.CacheSession#close}, one at a time, in the
 * order of issue (see {@link io.farheap.cache.CacheSession}). It may issue requests on the session; it must not poll,
 * block on, release or close it, nor create, close or move anything of the cache: such a call throws. While it runs,
 * migrations wait for it. An exception thrown here is thrown by the method that ran the callback, after the request has
 * been finished: nothing else is affected, and the remaining callbacks run with the next poll.
 */
@FunctionalInterface
public interface Completion {

    /**
     * @param token the token that the request was issued with
     * @param status {@link Status#OK}, or another {@link Status}: a read's destination is then undefined; a write may
     *     or may not have taken effect, whole or in part, unless its status says that it has not
     */
    void completed(long token, int status);
}
