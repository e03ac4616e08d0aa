package io.farheap.verbs;

import io.farheap.posix.Errno;
import io.farheap.verbs.binding.ibv_mr;
import io.farheap.verbs.binding.ibverbs;

/**
 * Memory that a device may read and write. Closing it waits until the device has released it; the memory must live
 * longer.
 */
public final class MemoryRegion implements AutoCloseable {

    private final ProtectionDomain domain;
    private final ibv_mr handle;
    private final long address;
    private final long bytes;
    private final int localKey;
    private final int remoteKey;
    private boolean closed;

    MemoryRegion(ProtectionDomain domain, ibv_mr handle, long address, long bytes) {
        this.domain = domain;
        this.handle = handle;
        this.address = address;
        this.bytes = bytes;
        this.localKey = handle.lkey();
        this.remoteKey = handle.rkey();
    }

    public long address() {
        return address;
    }

    public long bytes() {
        return bytes;
    }

    /** lkey. */
    public int localKey() {
        return localKey;
    }

    /** rkey. It is valid only for queue pairs whose peer is of the same protection domain as this region. */
    public int remoteKey() {
        return remoteKey;
    }

    /**
     * Ends the registration. Idempotent.
     *
     * @throws VerbsException with EBUSY if an operation on the memory is under way and does not progress, such as one
     *     of a stopped process: no new one can begin, but the memory must stay; close again later
     */
    @Override
    public synchronized void close() {
        if (!closed) {
            int error = ibverbs.farheap_dereg_mr(handle);
            if (error != Errno.EBUSY) {
                closed = true;
                domain.children().remove();
            }
            if (error != 0) {
                throw new VerbsException("cannot deregister " + bytes + " bytes", error);
            }
        }
    }
}
