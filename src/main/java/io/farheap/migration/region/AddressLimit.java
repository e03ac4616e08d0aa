package io.farheap.migration.region;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How many bytes of addresses requests may go to. Any thread may read; one at a time writes. {@link RegionTable} says
 * in which order it and the table change.
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

    // Through a handle.
    @SuppressWarnings("unused")
    private long bytes;

    public AddressLimit(long bytes) {
        this.bytes = bytes;
    }

    /** Requests go to addresses from 0 to this, exclusive. */
    public long bytes() {
        return (long) BYTES.getAcquire(this);
    }

    /** For requests that are issued from now on. */
    public void set(long other) {
        BYTES.setRelease(this, other);
        // Whoever reads the list of sessions after this must not miss one that still has the old one.
        VarHandle.fullFence();
    }
}
