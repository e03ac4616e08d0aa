package io.farheap.cache.handover;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.cache.order.Request;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.order.RequestSource;
import io.farheap.cache.order.RequestTable;
import io.farheap.cache.order.ScatterGather;
import io.farheap.posix.AsymmetricFence;

/**
 * The client thread's side of a session's handed-over requests: the {@linkplain ClientThread client thread} takes their
 * slots, issues them in its own session, and gives the slots back with a status. Only that thread calls this; nothing
 * on the path of a request allocates.
 */
public final class HandoverConsumer implements RequestSource, Completion {

    /**
     * How often a request for many records is refused before its records are issued one by one: other requests may
     * never leave room for all at once.
     */
    private static final int PATIENCE_ROUNDS = 32;

    private final HandoverRing handOver;
    private final RequestTable requests;
    private final HandoverGroups groups;
    private final Runnable wakeSession;

    /** For each slot, whether its request is issued and has not ended. */
    private final boolean[] taken;
    /**
     * Slots of requests that a migration holds and that the thread's session has no place for, in the order of issue.
     */
    private final int[] deferred;

    private int deferredCount;
    /**
     * Requests whose records are issued one by one and, if the oldest in the ring is such a request, its records that
     * are left to issue.
     */
    private final ScatterGather parts;

    private int nextRecord;
    private int recordsLeft;
    private int refused;
    private final long[] addresses;
    /** Whether there are results that the session has not been woken for. */
    private boolean news;
    /** Whether the session is being closed, and since when. */
    private boolean closing;

    private long closingSince;

    /** @param wakeSession makes the session's thread poll, if it sleeps */
    public HandoverConsumer(HandoverRing handOver, Runnable wakeSession) {
        this.handOver = handOver;
        this.requests = handOver.requests;
        this.groups = handOver.groups;
        this.wakeSession = wakeSession;
        int slots = requests.capacity();
        this.taken = new boolean[slots];
        this.deferred = new int[slots];
        this.addresses = new long[slots];
        this.parts = new ScatterGather(slots);
    }

    /**
     * Issues requests that have been handed over, as far as there is room.
     *
     * @return how many
     */
    @Override
    public int issueTo(RequestPath path) {
        if (handOver.abandoned) {
            endUntaken(Status.CLOSED);
            abandonTaken(path);
        }
        int count = deferredCount > 0 ? issueDeferred(path) : 0;
        boolean send = handOver.sending;
        if (send) {
            // Clear it first: the application's thread may issue more requests and set it again.
            handOver.sending = false;
        }
        while (handOver.issued.hasNext()) {
            int slot = (int) handOver.issued.peek();
            if (!(groups.records(slot) == 1 ? take(path, slot) : takeAll(path, slot))) {
                if (send) {
                    handOver.sending = true;
                }
                return count;
            }
            handOver.issued.remove();
            count++;
        }
        if (send) {
            path.send();
        }
        return count;
    }

    private void abandonTaken(RequestPath path) {
        if (!closing) {
            closing = true;
            closingSince = System.nanoTime();
        }
        path.abandon(this, closingSince);
    }

    /**
     * Issues a request or a record, or defers it.
     *
     * @return false if there is no room
     */
    private boolean take(RequestPath path, int slot) {
        if (deferredCount == 0 || !isBehindDeferred(slot, deferredCount)) {
            if (issue(path, slot)) {
                return true;
            }
            Request request = requests.get(slot);
            if (!path.waits(request.write, request.address, request.length)) {
                return false;
            }
        }
        deferred[deferredCount++] = slot;
        return true;
    }

    /** As {@link #take} for a request for many records. */
    private boolean takeAll(RequestPath path, int whole) {
        if (recordsLeft == 0) {
            if (deferredCount == 0) {
                if (issueAll(path, whole)) {
                    refused = 0;
                    return true;
                }
                if (++refused < PATIENCE_ROUNDS) {
                    return false;
                }
            }
            refused = 0;
            split(whole);
        }
        while (recordsLeft > 0) {
            if (!take(path, nextRecord)) {
                return false;
            }
            nextRecord = groups.next(nextRecord);
            recordsLeft--;
        }
        return true;
    }

    // A request for many records has a buffer.
    @SuppressWarnings("NullAway")
    private boolean issueAll(RequestPath path, int whole) {
        int records = groups.records(whole);
        for (int i = 0, record = whole; i < records; i++) {
            addresses[i] = requests.get(record).address;
            record = groups.next(record);
        }
        Request request = requests.get(whole);
        taken[whole] = path.issueAll(
                request.write, addresses, records, (int) request.length, request.buffer, request.local, this, whole);
        return taken[whole];
    }

    /** Makes the records of a request separate requests. */
    private void split(int whole) {
        nextRecord = whole;
        recordsLeft = groups.records(whole);
        int token = parts.begin(recordsLeft, requests.get(whole).write, this, whole);
        for (int i = 0, record = whole; i < recordsLeft; i++) {
            groups.part(record, token);
            record = groups.next(record);
        }
    }

    // An atomic has a buffer.
    @SuppressWarnings("NullAway")
    private boolean issueAtomic(RequestPath path, Request request) {
        return path.issueAtomic(
                request.atomic == Request.SWAP,
                request.address,
                request.compareOrAdd,
                request.value,
                request.buffer,
                request.local,
                this,
                request.place);
    }

    private boolean issue(RequestPath path, int slot) {
        Request request = requests.get(slot);
        if (request.atomic != Request.NO_ATOMIC) {
            taken[slot] = issueAtomic(path, request);
            return taken[slot];
        }
        taken[slot] = path.issue(
                request.write,
                request.address,
                request.length,
                request.buffer,
                request.local,
                request.segment,
                this,
                slot);
        return taken[slot];
    }

    private int issueDeferred(RequestPath path) {
        int before = deferredCount;
        deferredCount = 0;
        for (int i = 0; i < before; i++) {
            int slot = deferred[i];
            if (isBehindDeferred(slot, deferredCount) || !issue(path, slot)) {
                deferred[deferredCount++] = slot;
            }
        }
        return before - deferredCount;
    }

    private boolean isBehindDeferred(int slot, int count) {
        Request request = requests.get(slot);
        for (int i = 0; i < count; i++) {
            if (requests.get(deferred[i]).overlaps(request.address, request.length)) {
                return true;
            }
        }
        return false;
    }

    /** A request has ended. */
    @Override
    public void completed(long slot, int status) {
        taken[(int) slot] = false;
        end((int) slot, status);
    }

    private void end(int slot, int status) {
        int part = groups.endPart(slot);
        if (part != HandoverGroups.NONE) {
            // The last part ends the request, through completed.
            parts.completed(part, status);
            return;
        }
        handOver.done.offer(HandoverRing.ended(slot, status));
        news = true;
    }

    /**
     * Wakes the application's thread if it sleeps and a request has ended, or the number of held requests has changed.
     */
    void tell(int heldByThread) {
        int nowHeld = deferredCount + heldByThread;
        if (handOver.held != nowHeld) {
            handOver.held = nowHeld;
            // The application's thread may have been refused a request because of held ones, and wait for this.
            news = true;
        }
        if (news) {
            news = false;
            AsymmetricFence.light();
            wakeSession.run();
        }
    }

    /** Called when the thread has failed: ends the requests that it has taken, and those handed over since, as lost. */
    void lose() {
        for (int slot = 0; slot < taken.length; slot++) {
            if (taken[slot]) {
                completed(slot, Status.LOST);
            }
        }
        endUntaken(Status.LOST);
        tell(0);
    }

    private void endUntaken(int status) {
        for (int i = 0; i < deferredCount; i++) {
            end(deferred[i], status);
        }
        deferredCount = 0;
        while (handOver.issued.hasNext()) {
            int slot = (int) handOver.issued.peek();
            // Remove it first: once the request has ended, its place in the ring may be needed.
            handOver.issued.remove();
            if (recordsLeft == 0) {
                end(slot, status);
            } else {
                endRecordsLeft(status);
            }
        }
    }

    private void endRecordsLeft(int status) {
        for (; recordsLeft > 0; recordsLeft--) {
            int record = nextRecord;
            nextRecord = groups.next(record);
            end(record, status);
        }
    }

    /** Whether requests are deferred, or their session is being closed. */
    boolean hasMore() {
        return deferredCount > 0 || closing;
    }

    /** Whether requests, or an order to send, have been handed over. */
    boolean hasWork() {
        return handOver.issued.hasNext() || handOver.sending;
    }
}
