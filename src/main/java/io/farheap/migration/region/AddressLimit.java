package io.farheap.migration.region;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The end of the addresses to which requests may go. Any thread may read; one thread at a time writes.
 * {@link RegionTable} defines in which order it and the table change.
 */
public final class AddressLimit {

    private static final VarHandle BYTES;

    static {
        try {
            BYTES = MethodHandles.lookup().findVarHandle(AddressLimit.class, "bytes", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // Accessed through a VarHandle.
    @SuppressWarnings("unused")
    private long bytes;

    public AddressLimit(long bytes) {
        this.bytes = bytes;
    }

    /** Requests go to addresses from 0 to this, exclusive. */
    public long bytes() {
        return (long) BYTES.getAcquire(this);
    }

    /** Sets the limit of requests that are issued from now on. */
    public void set(long other) {
        BYTES.setRelease(this, other);
        // A thread that reads the list of sessions after this must not miss a session that still uses the old limit.
        VarHandle.fullFence();
    }
}
