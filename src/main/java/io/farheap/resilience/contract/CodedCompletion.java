package io.farheap.resilience.contract;

/**
 * Told when a request has ended, inside {@link io.farheap.resilience.CodedSession#poll}, in the order of issue. It may
 * issue requests; it does not poll, block or close the session.
 */
@FunctionalInterface
public interface CodedCompletion {

    /**
     * @param token as given with the request
     * @param status one of {@link CodedStatus}; after another than OK a read's memory is undefined, and a write may
     *     have taken effect, whole or in part
     */
    void completed(long token, int status);
}
