package io.farheap.tier.device;

/** Told how a read or a sync ended: in {@link DeviceHandle#poll}. */
@FunctionalInterface
public interface IoCompletion {

    /**
     * @param token as given with the request
     * @param status of {@link IoStatus}; where it is not OK, a read's memory has nothing of use
     */
    void completed(long token, int status);
}
