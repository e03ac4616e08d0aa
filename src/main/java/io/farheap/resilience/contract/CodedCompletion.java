package io.farheap.resilience.contract;

/**
 * Called when a request has ended, on the session's thread and in the order of issue: inside
 * {@link io.farheap.resilience.CodedSession#poll} and the methods that poll, which are blocking requests, drain and
 * close. It may issue requests; it must not poll, block or close the session.
 */
@FunctionalInterface
public interface CodedCompletion {

    /**
     * Receives the end of a request.
     *
     * @param token as given with the request
     * @param status one of {@link CodedStatus}; if it is not OK, a read's memory is undefined, and a write may have
     *     taken effect in whole or in part
     */
    void completed(long token, int status);
}
