package io.farheap.cache.coded;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.Request;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.order.RequestTable;
import io.farheap.latency.OperationLatency;
import io.farheap.resilience.CodedSession;
import io.farheap.resilience.contract.CodedCompletion;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Passes a session's requests to a coded space. The space keeps their order, and copies the data that they read and
 * write.
 *
 * <p><b>Threads.</b> The owner calls all methods, inside its session's gate, except {@link #park}, which it calls
 * outside of the gate, and {@link #close}: a thread that closes the path waits until {@code park} has returned.
 */
final class CodedPath implements RequestPath, CodedCompletion {

    private final CodedSession session;
    private final @Nullable OperationLatency latency;
    private final RequestTable requests;
    /** For each request, the number of records that have not ended, and the status of those that have. */
    private final int[] left;

    private final int[] endings;
    /** Held by the owner while it sleeps. */
    private final ReentrantLock asleep = new ReentrantLock();

    private volatile boolean closed;

    /** @param session takes {@code capacity} requests; this object owns it from now on */
    CodedPath(CodedSession session, @Nullable OperationLatency latency, int capacity) {
        this.session = session;
        this.latency = latency;
        this.requests = new RequestTable(capacity);
        this.left = new int[capacity];
        this.endings = new int[capacity];
    }

    @Override
    public boolean issue(
            boolean write,
            long address,
            long length,
            @Nullable RequestBuffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token) {
        if (session.room() == 0) {
            return false;
        }
        Request request = begin(write, address, length, buffer, local, completion, token, 1);
        if (segment != null) {
            request.segment = segment;
        }
        request.time(latency);
        MemorySegment memory = buffer == null ? segment : buffer.segment();
        issue(write, address, memory, buffer == null ? 0 : local - buffer.address(), length, request.place);
        return true;
    }

    @Override
    public boolean issueAll(
            boolean write,
            long[] addresses,
            int count,
            int length,
            RequestBuffer buffer,
            long local,
            Completion completion,
            long token) {
        if (session.room() < count) {
            return false;
        }
        Request request = begin(write, addresses[0], length, buffer, local, completion, token, count);
        request.time(latency, count);
        long at = local - buffer.address();
        for (int i = 0; i < count; i++) {
            issue(write, addresses[i], buffer.segment(), at + (long) i * length, length, request.place);
        }
        return true;
    }

    /** Only calls of procedures issue atomics, and a coded cache has no procedures. */
    @Override
    public boolean issueAtomic(
            boolean swap,
            long address,
            long compareOrAdd,
            long value,
            RequestBuffer buffer,
            long local,
            Completion completion,
            long token) {
        throw new UnsupportedOperationException("a coded cache has no atomics");
    }

    /**
     * Takes a place. There is one: the space has accepted the request, and each of ours has at least one of the
     * space's.
     */
    private Request begin(
            boolean write,
            long address,
            long length,
            @Nullable RequestBuffer buffer,
            long local,
            Completion completion,
            long token,
            int records) {
        Request request = requests.take();
        request.fill(write, address, length, buffer, local, completion, token);
        left[request.place] = records;
        endings[request.place] = Status.OK;
        return request;
    }

    private void issue(boolean write, long address, @Nullable MemorySegment memory, long at, long length, int slot) {
        boolean issued = memory != null
                && (write
                        ? session.write(address, memory, at, length, this, slot)
                        : session.read(address, memory, at, length, this, slot));
        if (!issued) {
            throw new IllegalStateException("the space takes no request though it has room");
        }
    }

    /** A record has ended. The statuses of coded spaces have the same values. */
    @Override
    public void completed(long token, int status) {
        int slot = (int) token;
        if (status != Status.OK) {
            endings[slot] = status;
        }
        if (--left[slot] > 0) {
            return;
        }
        Request request = requests.get(slot);
        request.record(latency);
        Completion completion = request.completion;
        long itsToken = request.token;
        requests.give(request);
        if (closed) {
            return;
        }
        completion.completed(itsToken, endings[slot]);
    }

    @Override
    public int maxRecords() {
        return requests.capacity() / 2;
    }

    @Override
    public int tryExecute(
            boolean write,
            long address,
            RequestBuffer buffer,
            long offset,
            long length,
            Completion completion,
            long token) {
        return DECLINED;
    }

    /** Counts it as progress if the last owed work has been done: a thread that waits for that must not sleep on. */
    @Override
    public int poll() {
        boolean owed = session.owes();
        int called = session.poll();
        return called == 0 && owed && !session.owes() ? 1 : called;
    }

    @Override
    public void send() {}

    @Override
    public long listen() {
        return 0;
    }

    @Override
    public void park(Object blocker, long nanos) {
        asleep.lock();
        try {
            if (!closed) {
                session.await(nanos == 0 ? Long.MAX_VALUE : nanos);
            }
        } finally {
            asleep.unlock();
        }
    }

    @Override
    public boolean owes() {
        return session.owes();
    }

    @Override
    public boolean unsettled() {
        return session.unsettled();
    }

    @Override
    public void resumeHeld() {}

    @Override
    public void abandonUnposted() {
        session.abandonUnposted();
    }

    @Override
    public void abandon(Completion whose, long since) {
        session.abandon(slot -> requests.get((int) slot).completion == whose, since);
    }

    @Override
    public int pending() {
        return requests.pending();
    }

    /** Only calls of procedures need this, and a coded cache has no procedures. */
    @Override
    public boolean conflicts(boolean write, long address, long length) {
        return pending() > 0;
    }

    @Override
    public int heldCount() {
        return 0;
    }

    @Override
    public boolean waits(boolean write, long address, long length) {
        return false;
    }

    @Override
    public boolean mayHold() {
        return false;
    }

    @Override
    public boolean uses(RequestBuffer buffer) {
        return requests.uses(buffer);
    }

    @Override
    public boolean reaches(long end) {
        return requests.reaches(end);
    }

    @Override
    public void sample(RegionHeat heat) {}

    /** Ends the pending requests without a callback. The session is marked closed, and its thread has been woken. */
    void close() {
        closed = true;
        asleep.lock();
        try {
            session.close();
        } finally {
            asleep.unlock();
        }
    }
}
