package io.farheap.tier;

import io.farheap.tier.device.IoStatus;

/** A fault of a request to a {@link MemoryDevice}. */
public enum Fault {
    /** There is no fault. */
    NONE,
    /** The request ends with {@link IoStatus#FAILED}, and has done nothing. */
    FAILED,
    /** The request ends with {@link IoStatus#LOST}, and has done nothing. */
    LOST,
    /** The request ends with {@link IoStatus#CORRUPT}, and has done nothing. */
    CORRUPT,
    /** Only the first part of an append is written, a multiple of 512 bytes; it ends with {@link IoStatus#FAILED}. */
    SHORT,
    /** Some pieces of 512 bytes of an append are written, others not; it ends with {@link IoStatus#FAILED}. */
    TORN,
    /** As {@link #TORN}, but the append ends with {@link IoStatus#OK}: the storage lies. */
    TORN_UNNOTICED,
    /** A bit of the bytes that are appended or read is wrong, and the request ends with {@link IoStatus#OK}. */
    FLIPPED_UNNOTICED;

    /** Chooses the fault of each request. */
    @FunctionalInterface
    public interface Choice {

        /**
         * Called on the handle's thread as the request takes effect; it must not use the handle.
         *
         * @param address of the request's first byte; 0 for a sync
         * @param length bytes; 0 for a sync
         */
        Fault of(Kind kind, long address, long length);
    }

    /** The kind of a request. */
    public enum Kind {
        APPEND,
        READ,
        SYNC
    }
}
