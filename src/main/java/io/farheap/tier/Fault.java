package io.farheap.tier;

import io.farheap.tier.device.IoStatus;

/** What goes wrong with a request to a {@link MemoryDevice}. */
public enum Fault {
    /** Nothing does. */
    NONE,
    /** It ends with {@link IoStatus#FAILED}, and nothing has happened. */
    FAILED,
    /** It ends with {@link IoStatus#LOST}, and nothing has happened. */
    LOST,
    /** Only the first part of an append is there, a multiple of 512 bytes; it ends with {@link IoStatus#FAILED}. */
    SHORT,
    /** Some pieces of 512 bytes of an append are there, others not; it ends with {@link IoStatus#FAILED}. */
    TORN,
    /** As {@link #TORN}, but it ends with {@link IoStatus#OK}: the storage lies. */
    TORN_UNNOTICED,
    /** A bit of what is appended, or read, is wrong, and it ends with {@link IoStatus#OK}. */
    FLIPPED_UNNOTICED;

    /** Which requests it befalls. */
    @FunctionalInterface
    public interface Choice {

        /** On the handle's thread, as the request takes effect; it may not use the handle. */
        Fault of(Kind kind, long address, long length);
    }

    /** Of a request. */
    public enum Kind {
        APPEND,
        READ,
        SYNC
    }
}
