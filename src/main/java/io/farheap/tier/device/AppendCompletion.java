package io.farheap.tier.device;

/** Called for an append in {@link DeviceHandle#poll}: first when it has ended, then when its memory is free. */
public interface AppendCompletion {

    /**
     * The append has ended; if its status is OK, the part can be read from now on.
     *
     * @param token the one that the request was given
     * @param status an {@link IoStatus}
     */
    void appended(long token, int status);

    /**
     * No device reads the memory any more. Called right after {@link #appended}, or when slower tiers have the part,
     * too.
     */
    void released(long token);
}
