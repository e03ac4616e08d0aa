package io.farheap.tier.device;

/** Called in {@link DeviceHandle#poll} when a read or a sync has ended. */
@FunctionalInterface
public interface IoCompletion {

    /**
     * @param token the one that the request was given
     * @param status an {@link IoStatus}; if it is not OK, the content of a read's memory is undefined
     */
    void completed(long token, int status);
}
