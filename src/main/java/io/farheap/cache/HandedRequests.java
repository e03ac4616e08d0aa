package io.farheap.cache;

import io.farheap.latency.OperationLatency;
import io.farheap.posix.AsymmetricFence;
import io.farheap.ring.LongRing;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A session's requests on their way through a {@linkplain ClientThread client thread}: the application's thread fills a
 * slot and hands its number over through one ring, and gets it back with a status through another. Nothing on the path
 * of a request allocates.
 *
 * <p>The client thread's own session keeps the order of what it issues, and so that of each session that hands over to
 * it.
 */
final class HandedRequests implements RequestPath, Completion {

    private static final int STATUS_SHIFT = 32;
    private static final long HELD_PATIENCE_NANOS = 1_000_000;
    /**
     * So often a request for many records is refused before they go one by one: others may leave no room for all at
     * once.
     */
    private static final int PATIENCE_ROUNDS = 32;

    private final Taker thread;
    private final Runnable wakeSession;
    private final Holds holds;
    private final @Nullable OperationLatency latency;
    private final HandedGroups groups;

    /**
     * Filled by the application's thread; from hand-over to callback read by the client thread, which splits requests.
     */
    private final Requests requests;
    /** Issued by the client thread, which it is of. */
    private final boolean[] taken;

    private boolean inCallback;

    /** With a place for every slot, as the other. */
    private final LongRing issued;

    private final LongRing done;
    /** What is open is to be sent, once what is in {@code issued} has been. */
    private volatile boolean sending;

    private volatile boolean abandoned;
    /** The client thread's: slots that a migration holds up and its session has no place for, in the order of issue. */
    private final int[] deferred;

    private int deferredCount;
    /**
     * The client thread's: requests whose records go one by one, and what is left to issue of the oldest in
     * {@code issued}, if it is such a one.
     */
    private final ScatterGather parts;

    private int nextRecord;
    private int recordsLeft;
    private int refused;
    private final long[] addresses;
    /** Requests that wait for a migration, as the client thread knows it: of all sessions that hand over to it. */
    private volatile int held;
    /** The client thread's: there is something of which the session has not been told. */
    private boolean news;

    /** Whether a request would wait for a migration. Any thread. */
    @FunctionalInterface
    interface Holds {

        boolean holds(boolean write, long address, long length);
    }

    /** The client thread, as a session knows it that hands its requests over. */
    interface Taker {

        boolean mayAccess(MemorySegment segment);

        void wakeIfAsleep();
    }

    /**
     * @param wakeSession makes the session's thread poll, if it sleeps
     * @param capacity requests between issue and callback, a power of two
     */
    HandedRequests(Taker thread, Runnable wakeSession, Holds holds, @Nullable OperationLatency latency, int capacity) {
        this.thread = thread;
        this.wakeSession = wakeSession;
        this.holds = holds;
        this.latency = latency;
        this.groups = new HandedGroups(capacity);
        this.parts = new ScatterGather(capacity);
        addresses = new long[capacity];
        requests = new Requests(capacity);
        taken = new boolean[capacity];
        deferred = new int[capacity];
        issued = new LongRing(capacity);
        done = new LongRing(capacity);
    }

    @Override
    public boolean issue(
            boolean isWrite,
            long at,
            long bytes,
            @Nullable Buffer from,
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
        int slot = requests.take();
        requests.fill(slot, isWrite, at, bytes, from, localAddress, whenDone, itsToken);
        if (other != null) {
            requests.segment[slot] = other;
        }
        hand(slot, latency == null ? 0 : latency.due());
        return true;
    }

    /** At most half may be held, so that requests to other regions find room. */
    private boolean tooManyHeld(int left, boolean isWrite, long at, long bytes) {
        return left <= requests.capacity() / 2 && holds.holds(isWrite, at, bytes);
    }

    private void hand(int slot, int due) {
        requests.time(slot, due);
        issued.offer(slot);
        wake();
    }

    private void wake() {
        // The client thread executes the heavy fence between saying that it sleeps and looking again.
        AsymmetricFence.light();
        thread.wakeIfAsleep();
    }

    /** Each record has a slot; the first one's is that of the request, and alone goes through the rings. */
    @Override
    public boolean issueAll(
            boolean isWrite,
            long[] at,
            int count,
            int bytes,
            Buffer from,
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
        int whole = requests.take();
        requests.fill(whole, isWrite, at[0], bytes, from, localAddress, whenDone, itsToken);
        groups.begin(whole, count);
        for (int i = 1, last = whole; i < count; i++) {
            int slot = requests.take();
            requests.write[slot] = isWrite;
            requests.address[slot] = at[i];
            requests.length[slot] = bytes;
            if (requests.buffer[slot] != from) {
                requests.buffer[slot] = from;
            }
            groups.link(last, slot);
            last = slot;
        }
        hand(whole, latency == null ? 0 : latency.due(count));
        return true;
    }

    @Override
    public boolean issueAtomic(
            boolean swap,
            long address,
            long compareOrAdd,
            long value,
            Buffer buffer,
            long local,
            Completion completion,
            long token) {
        if (requests.room() == 0 || tooManyHeld(requests.room(), true, address, Long.BYTES)) {
            return false;
        }
        int slot = requests.take();
        requests.fill(slot, true, address, Long.BYTES, buffer, local, completion, token);
        requests.fillAtomic(slot, swap, compareOrAdd, value);
        hand(slot, 0);
        return true;
    }

    @Override
    public int maxRecords() {
        return requests.capacity() / 2;
    }

    @Override
    public int tryExecute(
            boolean isWrite, long at, Buffer from, long offset, long bytes, Completion whenDone, long itsToken) {
        return DECLINED;
    }

    @Override
    public int poll() {
        // What callbacks issue waits for the next poll.
        int most = pending();
        int called = 0;
        while (called < most && done.hasNext()) {
            long value = done.peek();
            done.remove();
            called++;
            finish((int) value, (int) (value >> STATUS_SHIFT));
        }
        return called;
    }

    private void finish(int slot, int status) {
        if (latency != null) {
            requests.record(slot, latency);
        }
        Completion whenDone = requests.completion[slot];
        long itsToken = requests.token[slot];
        release(slot);
        inCallback = true;
        try {
            whenDone.completed(itsToken, status);
        } finally {
            inCallback = false;
        }
    }

    private void release(int slot) {
        int records = groups.end(slot);
        requests.give(slot);
        for (int i = 1, record = slot; i < records; i++) {
            record = groups.next(record);
            requests.give(record);
        }
    }

    @Override
    public void send() {
        sending = true;
        wake();
    }

    /** The client thread looks whether the session sleeps after it has executed its half of the fence. */
    @Override
    public long listen() {
        AsymmetricFence.heavy();
        // Who was refused because much is held may not know it yet.
        return held > 0 ? HELD_PATIENCE_NANOS : 0;
    }

    /**
     * On the client thread: issues what has been handed over, as far as there is room.
     *
     * @return how many requests
     */
    int issueTo(RequestPath path) {
        if (abandoned) {
            endUntaken(Status.CLOSED);
        }
        int count = deferredCount > 0 ? issueDeferred(path) : 0;
        boolean send = sending;
        if (send) {
            // First: whoever asks again may have issued more.
            sending = false;
        }
        while (issued.hasNext()) {
            int slot = (int) issued.peek();
            if (!(groups.records(slot) == 1 ? take(path, slot) : takeAll(path, slot))) {
                if (send) {
                    sending = true;
                }
                return count;
            }
            issued.remove();
            count++;
        }
        if (send) {
            path.send();
        }
        return count;
    }

    /**
     * Issues a request or a record, or defers it.
     *
     * @return false where there is no room
     */
    private boolean take(RequestPath path, int slot) {
        if (deferredCount == 0 || !isBehindDeferred(slot, deferredCount)) {
            if (issue(path, slot)) {
                return true;
            }
            if (!path.waits(requests.write[slot], requests.address[slot], requests.length[slot])) {
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

    private boolean issueAll(RequestPath path, int whole) {
        int records = groups.records(whole);
        for (int i = 0, record = whole; i < records; i++) {
            addresses[i] = requests.address[record];
            record = groups.next(record);
        }
        taken[whole] = path.issueAll(
                requests.write[whole],
                addresses,
                records,
                (int) requests.length[whole],
                requests.buffer[whole],
                requests.local[whole],
                this,
                whole);
        return taken[whole];
    }

    /** From now on the records are requests of their own. */
    private void split(int whole) {
        nextRecord = whole;
        recordsLeft = groups.records(whole);
        int token = parts.begin(recordsLeft, this, whole);
        for (int i = 0, record = whole; i < recordsLeft; i++) {
            groups.part(record, token);
            requests.write[record] = requests.write[whole];
            requests.length[record] = requests.length[whole];
            requests.buffer[record] = requests.buffer[whole];
            requests.local[record] = requests.local[whole] + i * requests.length[whole];
            record = groups.next(record);
        }
    }

    // An atomic has a buffer.
    @SuppressWarnings("NullAway")
    private boolean issueAtomic(RequestPath path, int slot) {
        return path.issueAtomic(
                requests.atomic[slot] == Requests.SWAP,
                requests.address[slot],
                requests.compareOrAdd[slot],
                requests.value[slot],
                requests.buffer[slot],
                requests.local[slot],
                this,
                slot);
    }

    private boolean issue(RequestPath path, int slot) {
        if (requests.atomic[slot] != Requests.NO_ATOMIC) {
            taken[slot] = issueAtomic(path, slot);
            return taken[slot];
        }
        taken[slot] = path.issue(
                requests.write[slot],
                requests.address[slot],
                requests.length[slot],
                requests.buffer[slot],
                requests.local[slot],
                requests.segment[slot],
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
        for (int i = 0; i < count; i++) {
            int earlier = deferred[i];
            if (requests.overlaps(earlier, requests.address[slot], requests.length[slot])) {
                return true;
            }
        }
        return false;
    }

    /** On the client thread: a request has ended. */
    @Override
    public void completed(long slot, int status) {
        taken[(int) slot] = false;
        end((int) slot, status);
    }

    private void end(int slot, int status) {
        int part = groups.endPart(slot);
        if (part != HandedGroups.NONE) {
            // The last ends the request, by way of completed.
            parts.completed(part, status);
            return;
        }
        done.offer((long) status << STATUS_SHIFT | slot);
        news = true;
    }

    /** On the client thread: wakes the application's thread where it sleeps and something has ended. */
    void tell(int heldByThread) {
        int nowHeld = deferredCount + heldByThread;
        if (held != nowHeld) {
            held = nowHeld;
            // Whoever was refused may wait for this.
            news = true;
        }
        if (news) {
            news = false;
            AsymmetricFence.light();
            wakeSession.run();
        }
    }

    /** On the client thread, which can do nothing any more: what it has, and what still comes, is lost. */
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
        while (issued.hasNext()) {
            int slot = (int) issued.peek();
            // First: once it has ended, its place in the ring may be needed.
            issued.remove();
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

    /** On the client thread: whether something waits for room in its session. */
    boolean hasDeferred() {
        return deferredCount > 0;
    }

    /** On the client thread: whether something has been handed over. */
    boolean hasWork() {
        return issued.hasNext() || sending;
    }

    @Override
    public int pending() {
        return requests.pending();
    }

    @Override
    public boolean conflicts(boolean isWrite, long at, long bytes) {
        return requests.conflict(isWrite, at, bytes);
    }

    @Override
    public boolean uses(Buffer candidate) {
        return requests.uses(candidate);
    }

    @Override
    public boolean reaches(long end) {
        return requests.reaches(end);
    }

    @Override
    public void sample(RegionHeat heat) {
        heat.add(requests);
    }

    @Override
    public boolean inCallback() {
        return inCallback;
    }

    /** At most: others may have handed over what is held. */
    @Override
    public int heldCount() {
        return Math.min(pending(), held);
    }

    @Override
    public boolean waits(boolean isWrite, long at, long bytes) {
        return holds.holds(isWrite, at, bytes);
    }

    /** The client thread's session is told by itself. */
    @Override
    public boolean mayHold() {
        return false;
    }

    @Override
    public void resumeHeld() {}

    /** What the client thread has not taken yet is ended; it finishes what it has. */
    @Override
    public void abandonUnposted() {
        abandoned = true;
        send();
    }
}
