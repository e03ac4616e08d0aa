package io.farheap.bench.ablation;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;

/** Requests of one record each, by slots; the address of a slot is set before its request is issued. */
final class RecordRequests implements AutoCloseable {

    private final CacheSession session;
    private final Buffer buffer;
    private final int bytes;
    private final boolean write;
    private final boolean alone;
    private final long[] addresses;

    /** @param alone whether each request is sent by itself, without waiting for others to share a batch */
    RecordRequests(Cache cache, int slots, int bytes, boolean write, boolean alone) {
        this.bytes = bytes;
        this.write = write;
        this.alone = alone;
        this.addresses = new long[slots];
        this.session = cache.openSession();
        this.buffer = cache.allocate((long) slots * bytes);
    }

    /** Sets a slot's address. Called by the choosing thread, before it hands the slot over. */
    void address(int slot, long address) {
        addresses[slot] = address;
    }

    /**
     * Issues a slot's request. Called by the issuing thread.
     *
     * @return false if the session accepts no more now
     */
    boolean issue(int slot, Completion completion) {
        long offset = (long) slot * bytes;
        boolean issued = write
                ? session.write(addresses[slot], buffer, offset, bytes, completion, slot)
                : session.read(addresses[slot], buffer, offset, bytes, completion, slot);
        if (issued && alone) {
            session.flush();
        }
        return issued;
    }

    int poll() {
        return session.poll();
    }

    static void check(int status) {
        if (status != Status.OK) {
            throw new IllegalStateException("a request ended with " + Status.describe(status));
        }
    }

    /** Called by the issuing thread. */
    @Override
    public void close() {
        session.close();
        buffer.close();
    }
}
