package io.farheap.cache.session;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import java.lang.foreign.MemorySegment;

/** Issues a session's reads and writes: each is checked, and issued inside the gate. The owner alone. */
public final class SessionRequests {

    private final SessionAdmission admission;

    SessionRequests(SessionAdmission admission) {
        this.admission = admission;
    }

    /** As {@link io.farheap.cache.CacheSession#read(long, Buffer, long, long, Completion, long)}, or write. */
    public boolean issue(
            boolean write,
            long address,
            RequestBuffer buffer,
            long offset,
            long length,
            Completion completion,
            long token) {
        SessionAdmission admission = this.admission;
        admission.checkBuffer(buffer, offset, length);
        checkCompletion(completion);
        boolean entered = admission.enter();
        try {
            admission.checkRange(address, length);
            admission.checkOpen(buffer);
            long local = buffer.address() + offset;
            return !admission.calls().block(write, address, length)
                    && admission.path().issue(write, address, length, buffer, local, null, completion, token);
        } finally {
            admission.exit(entered);
        }
    }

    /** As {@link io.farheap.cache.CacheSession#readAll}, or writeAll. */
    public boolean issueAll(
            boolean write,
            long[] addresses,
            int count,
            RequestBuffer buffer,
            long offset,
            int length,
            Completion completion,
            long token) {
        SessionAdmission admission = this.admission;
        int most = admission.path().maxRecords();
        if (count < 1 || count > Math.min(addresses.length, most)) {
            throw new IllegalArgumentException(
                    count + " records of " + addresses.length + " addresses; a request may have from 1 to " + most);
        }
        admission.checkBuffer(buffer, offset, (long) count * length);
        checkCompletion(completion);
        boolean entered = admission.enter();
        try {
            for (int i = 0; i < count; i++) {
                admission.checkRange(addresses[i], length);
            }
            admission.checkOpen(buffer);
            long local = buffer.address() + offset;
            return !admission.calls().block(write, addresses, count, length)
                    && admission.path().issueAll(write, addresses, count, length, buffer, local, completion, token);
        } finally {
            admission.exit(entered);
        }
    }

    /** As {@link io.farheap.cache.CacheSession#read(long, MemorySegment, Completion, long)}, or write. */
    public boolean issue(boolean write, long address, MemorySegment segment, Completion completion, long token) {
        if (!write && segment.isReadOnly()) {
            throw new IllegalArgumentException("the destination segment is read-only");
        }
        if (!segment.isAccessibleBy(Thread.currentThread())) {
            throw new IllegalArgumentException("the segment belongs to another thread");
        }
        checkCompletion(completion);
        SessionAdmission admission = this.admission;
        boolean entered = admission.enter();
        try {
            long length = segment.byteSize();
            admission.checkRange(address, length);
            admission.refuseWhileClosing();
            return !admission.calls().block(write, address, length)
                    && admission.path().issue(write, address, length, null, 0, segment, completion, token);
        } finally {
            admission.exit(entered);
        }
    }

    /**
     * As {@link RequestPath#prepareCopies}, from another thread.
     *
     * @throws IllegalStateException if the session is closed: nothing would free the memory
     */
    public void prepareCopies() {
        admission.gate().claimed(() -> {
            if (admission.closed()) {
                throw new IllegalStateException("the session is closed");
            }
            admission.path().prepareCopies();
        });
    }

    private static void checkCompletion(Completion completion) {
        if (completion == null) {
            throw new NullPointerException("a request needs a completion");
        }
    }
}
