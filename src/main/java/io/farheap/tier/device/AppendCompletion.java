package io.farheap.tier.device;

/** Told of an append, first that it ended, then that its memory is free: in {@link DeviceHandle#poll}. */
public interface AppendCompletion {

    /**
     * The part can be read from now on.
     *
     * @param token as given with the request
     * @param status of {@link IoStatus}
     */
    void appended(long token, int status);

    /** No device reads the memory any more. At once behind {@link #appended}, or when slower tiers have it too. */
    void released(long token);
}
