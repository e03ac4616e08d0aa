package io.farheap.cache.handover;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.Request;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.order.RequestTable;
import io.farheap.latency.OperationLatency;
import io.farheap.posix.AsymmetricFence;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The application thread's side of requests that a {@linkplain ClientThread client thread} processes: the application's
 * thread fills a slot and hands its number over, and gets the number back with a status. Nothing on the path of a
 * request allocates.
 *
 * <p>The client thread's own session keeps the order of the requests that it issues, and so the order of each session
 * that hands requests over to it.
 */
public final class HandoverPath implements RequestPath {

    private static final long HELD_PATIENCE_NANOS = 1_000_000;

    /** Whether a request would wait for a migration. Any thread. */
    @FunctionalInterface
    public interface HoldPredicate {

        boolean holds(boolean write, long address, long length);
    }

    /** The client thread, as a session that hands its requests over uses it. */
    public interface HandoverPeer {

        boolean mayAccess(MemorySegment segment);

        /** As {@link RequestPath#prepareCopies}. */
        void prepareCopies();

        void wakeIfAsleep();
    }

    private final HandoverRing handOver;
    private final RequestTable requests;
    private final HandoverGroups groups;
    private final HandoverPeer thread;
    private final HoldPredicate holds;
    private final @Nullable OperationLatency latency;

    public HandoverPath(
            HandoverRing handOver, HandoverPeer thread, HoldPredicate holds, @Nullable OperationLatency latency) {
        this.handOver = handOver;
        this.requests = handOver.requests;
        this.groups = handOver.groups;
        this.thread = thread;
        this.holds = holds;
        this.latency = latency;
    }

    @Override
    public boolean issue(
            boolean isWrite,
            long at,
            long bytes,
            @Nullable RequestBuffer from,
            long localAddress,
            @Nullable MemorySegment other,
            Completion whenDone,
            long itsToken) {
        if (other != null && !thread.mayAccess(other)) {
            throw new IllegalArgumentException(
                    "the segment belongs to this thread alone, and client threads process the cache's requests; take one"
                            + " from the heap or a shared arena");
        }
        if (requests.room() == 0 || tooManyHeld(requests.room(), isWrite, at, bytes)) {
            return false;
        }
        if (other != null) {
            // Prepare here, so that a failure is thrown to the caller: on the client thread it would end that thread.
            thread.prepareCopies();
        }
        Request request = requests.take();
        request.fill(isWrite, at, bytes, from, localAddress, whenDone, itsToken);
        if (other != null) {
            request.segment = other;
        }
        request.time(latency);
        hand(request);
        return true;
    }

    /**
     * Whether a request has to be refused, since at most half of the slots may be held: requests to other regions must
     * find room.
     */
    private boolean tooManyHeld(int left, boolean isWrite, long at, long bytes) {
        return left <= requests.capacity() / 2 && holds.holds(isWrite, at, bytes);
    }

    private void hand(Request request) {
        handOver.issued.offer(request.place);
        wake();
    }

    private void wake() {
        // The client thread executes the heavy fence after it has stored that it sleeps, and before it looks at the
        // ring again.
        AsymmetricFence.light();
        thread.wakeIfAsleep();
    }

    /** Each record has a slot. The first record's slot is that of the request, and only it passes through the rings. */
    @Override
    public boolean issueAll(
            boolean isWrite,
            long[] at,
            int count,
            int bytes,
            RequestBuffer from,
            long localAddress,
            Completion whenDone,
            long itsToken) {
        if (count > requests.room()) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            if (tooManyHeld(requests.room() - i, isWrite, at[i], bytes)) {
                return false;
            }
        }
        Request whole = requests.take();
        whole.fill(isWrite, at[0], bytes, from, localAddress, whenDone, itsToken);
        groups.begin(whole.place, count);
        for (int i = 1, last = whole.place; i < count; i++) {
            // The token and completion of a further record are not used.
            Request record = requests.take();
            record.fill(isWrite, at[i], bytes, from, localAddress + (long) i * bytes, whenDone, itsToken);
            groups.link(last, record.place);
            last = record.place;
        }
        whole.time(latency, count);
        hand(whole);
        return true;
    }

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
        if (requests.room() == 0 || tooManyHeld(requests.room(), true, address, Long.BYTES)) {
            return false;
        }
        Request request = requests.take();
        request.fill(true, address, Long.BYTES, buffer, local, completion, token);
        request.fillAtomic(swap, compareOrAdd, value);
        request.timed = 0;
        hand(request);
        return true;
    }

    @Override
    public int maxRecords() {
        return requests.capacity() / 2;
    }

    @Override
    public int tryExecute(
            boolean isWrite, long at, RequestBuffer from, long offset, long bytes, Completion whenDone, long itsToken) {
        return DECLINED;
    }

    @Override
    public int poll() {
        // Requests that callbacks issue wait for the next poll.
        int most = pending();
        int called = 0;
        while (called < most && handOver.done.hasNext()) {
            long value = handOver.done.peek();
            handOver.done.remove();
            called++;
            finish(requests.get(HandoverRing.slot(value)), HandoverRing.status(value));
        }
        return called;
    }

    private void finish(Request request, int status) {
        request.record(latency);
        Completion whenDone = request.completion;
        long itsToken = request.token;
        release(request);
        whenDone.completed(itsToken, status);
    }

    private void release(Request request) {
        int records = groups.end(request.place);
        requests.give(request);
        for (int i = 1, record = request.place; i < records; i++) {
            record = groups.next(record);
            requests.give(requests.get(record));
        }
    }

    @Override
    public void send() {
        handOver.sending = true;
        wake();
    }

    /**
     * Executes the heavy half of the fence: the client thread executes the light half before it looks whether the
     * session sleeps.
     */
    @Override
    public long listen() {
        AsymmetricFence.heavy();
        // The number of held requests may be outdated: a thread that was refused because of it looks again soon.
        return handOver.held > 0 ? HELD_PATIENCE_NANOS : 0;
    }

    @Override
    public int pending() {
        return requests.pending();
    }

    @Override
    public String describe() {
        return RequestPath.super.describe() + ", handed over to a client thread, which has taken "
                + (handOver.issued.isEmpty() ? "all" : "not all yet");
    }

    @Override
    public boolean conflicts(boolean isWrite, long at, long bytes) {
        return requests.conflict(isWrite, at, bytes);
    }

    @Override
    public boolean uses(RequestBuffer candidate) {
        return requests.uses(candidate);
    }

    @Override
    public boolean reaches(long end) {
        return requests.reaches(end);
    }

    @Override
    public void sample(RegionHeat heat) {
        requests.sample(heat);
    }

    /** An upper bound: the held requests may be other sessions' of the same client thread. */
    @Override
    public int heldCount() {
        return Math.min(pending(), handOver.held);
    }

    @Override
    public boolean waits(boolean isWrite, long at, long bytes) {
        return holds.holds(isWrite, at, bytes);
    }

    /** The migration notifies the client thread's session directly. */
    @Override
    public boolean mayHold() {
        return false;
    }

    @Override
    public void resumeHeld() {}

    /**
     * The client thread ends the requests that it has not taken yet, and finishes the others or, in the end, gives them
     * up.
     */
    @Override
    public void abandonUnposted() {
        handOver.abandoned = true;
        send();
    }
}
