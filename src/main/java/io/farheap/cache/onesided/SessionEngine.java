package io.farheap.cache.onesided;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.cache.order.HeldRequests;
import io.farheap.cache.order.PostedRequest;
import io.farheap.cache.order.PostedRequests;
import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.Request;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestCallbacks;
import io.farheap.cache.order.RequestFailure;
import io.farheap.cache.order.RequestOrder;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.order.ScatterGather;
import io.farheap.cache.route.Route;
import io.farheap.cache.route.Routes;
import io.farheap.connection.Connection;
import io.farheap.latency.OperationLatency;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.queue.QueueCompletions;
import io.farheap.remote.queue.QueuePoster;
import io.farheap.verbs.OneOperation;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Executes a session's reads, writes and atomics as one-sided operations: cuts requests into work requests, posts these
 * in the order of issue, and calls the requests back in that order.
 *
 * <p><b>Idea.</b> A session has one reliable connection to each server, and two requests that overlap share bytes of
 * one region, so the work requests for these bytes go to the same queue pair. A queue pair executes its work requests
 * in the order of posting, except that a WRITE may overtake an earlier READ or atomic; {@link Connection} sets the
 * fence flag of a WRITE that may overlap one in flight. So posting in the order of issue is enough for a request to
 * take effect after the earlier ones that it overlaps (DESIGN.md, invariant 1); no request waits for the completion of
 * another. If a connection fails, the server's end is fenced before another connection replaces it
 * ({@link SessionConnections}), and {@link RequestRecovery} decides what becomes of its requests.
 *
 * <p><b>The way of a request.</b> {@link RequestOrder} numbers requests as they are issued and keeps three positions,
 * {@code head <= next <= tail}. <b>Issue</b> takes a {@link PostedRequest} and stores its place at {@code tail}.
 * <b>Post</b> ({@link PartPoster}) takes the request at {@code next}, cuts it where regions, their parts and messages
 * end, and adds to its {@code posted} bytes and its {@code outstanding} work requests. If a connection has no room,
 * posting stops there until the next poll, so that no queued request overtakes another. A request that is one work
 * request, with none queued or held before it, is posted as it is issued ({@link #postAtOnce}). <b>Complete</b>
 * ({@link PartCompletions}) finds the request by the work request's tag and subtracts from {@code outstanding}. <b>Call
 * back</b> ({@link RequestCallbacks}) begins at {@code head} and stops at the first request that is not fully posted or
 * has work requests outstanding.
 *
 * <p><b>Writers.</b> The session's owner calls the engine inside its {@link io.farheap.thread.OwnerGate}; it alone
 * writes requests, their order and the list of held ones, all in plain fields. Another thread (a migration, a
 * reconfiguration, a close) claims the gate first, and changes connections and registered memory, but no request: the
 * completions that it takes while it drains a connection are stashed, and the owner handles them first
 * ({@link QueueCompletions}). Two methods are called without the gate: {@link #mayHold} reads the number of held
 * requests, and {@link #sample} reads addresses and tolerates stale ones. The owner only reads the region table, which
 * migrations write.
 *
 * <p><b>Moving regions.</b> A migration stores its mark or entry in the table, and then executes a heavy fence and
 * finds the owner outside of its gate. So each work request was either posted before, and the migration awaits its
 * completion (a drain), or is posted by an owner that sees the change. A request to a range that the table holds is
 * moved from the order to {@link HeldRequests}, with its sequence number, and leaves {@link RequestOrder#EMPTY} behind:
 * requests behind it that do not overlap it are posted and called back. Those that overlap it are held too, so that
 * they take effect after it. A held request is posted if the table holds it no longer, {@code next} has passed its
 * number, and no earlier held request that overlaps it is unposted.
 *
 * <p>No wake-up is lost in between: the owner counts a held request and looks at the table once more with its next
 * poll; the migration changes the table, executes a heavy fence, and then loads the count ({@link #mayHold}). If the
 * migration reads 0, the owner's second look sees the change.
 */
public final class SessionEngine implements RequestPath {

    /** Held requests may be posted, or requests have failed. */
    private static final int LOOK = 1;
    /** Requests wait for a server, until {@link #lookAt} at most. */
    private static final int WAIT = 2;
    /** How long a thread sleeps at most while there is something to look at. */
    private static final long SOON_NANOS = 1_000_000;

    private final RegionTable table;
    private final int maxMessageBytes;
    private final BounceBuffers bounce;
    private final @Nullable OperationLatency latency;
    private final Routes routes;
    private final QueuePoster queue;
    private final PartPoster poster;
    private final PartCompletions completions;

    private final PostedRequests requests;
    private final HeldRequests held;
    private final int heldLimit;
    private final ScatterGather parts;

    private final RequestOrder order;
    private final RecordLists lists;
    private final RequestCallbacks callbacks;

    private final RequestRecovery recovery;
    /** What the next poll has to look at, of the bits {@link #LOOK} and {@link #WAIT}: 0 in the usual case. */
    private int attention;
    /** When requests that wait are looked at, if nothing happens before. */
    private long lookAt;

    /**
     * @param queue posts on the connections of {@code routes}
     * @param completions of {@code queue}
     * @param latency records latencies, or null
     * @param capacity requests between issue and callback, a power of two
     */
    public SessionEngine(
            Routes routes,
            QueuePoster queue,
            QueueCompletions completions,
            int maxMessageBytes,
            BounceBuffers bounce,
            @Nullable OperationLatency latency,
            int capacity,
            RequestRecovery recovery) {
        this.table = routes.table();
        this.routes = routes;
        this.maxMessageBytes = maxMessageBytes;
        this.bounce = bounce;
        this.latency = latency;
        this.requests = new PostedRequests(capacity);
        this.queue = queue;
        this.recovery = recovery;
        this.poster = new PartPoster(queue, routes, bounce, maxMessageBytes, recovery);
        this.completions = new PartCompletions(completions, requests, bounce, recovery, this::resumeHeld);
        // At most half may be held, so that requests to other regions always find room.
        this.heldLimit = capacity / 2;
        this.held = new HeldRequests(requests, table, capacity);
        this.parts = new ScatterGather(capacity);
        this.order = new RequestOrder(requests, capacity);
        this.callbacks = new RequestCallbacks(requests, order, held, latency);
        this.lists = new RecordLists(routes, queue, maxMessageBytes);
    }

    /**
     * Makes requests wait for a barrier, which is checked before each work request is posted. Before the first request.
     */
    public void barrier(PartPoster.Barrier asked) {
        poster.barrier(asked);
    }

    /** Runs the callbacks of these requests. */
    public RequestCallbacks callbacks() {
        return callbacks;
    }

    /** The requests that have not been called back, in the order of issue. */
    public RequestOrder order() {
        return order;
    }

    /** Whether {@code count} more requests would be accepted now, even if a migration held all of them. */
    public boolean hasRoomFor(int count) {
        return order.hasRoomFor(count) && count <= requests.room() && held.count() + count <= heldLimit;
    }

    /** Whether a range may overlap a request that has not been called back. */
    public boolean mayOverlap(long address, long length) {
        return order.mayOverlap(address, length) || isBehindHeld(address, length);
    }

    @Override
    public boolean conflicts(boolean write, long address, long length) {
        return order.conflicts(write, address, length) || held.count() > 0 && held.conflicts(write, address, length);
    }

    @Override
    public int pending() {
        return requests.pending();
    }

    @Override
    public String describe() {
        return RequestPath.super.describe() + ", " + (order.isPosted() ? "none" : "some") + " not posted yet"
                + queue.describe();
    }

    @Override
    public int heldCount() {
        return held.count();
    }

    @Override
    public boolean waits(boolean write, long address, long length) {
        return isBehindHeld(address, length)
                || table.holds(write, address, length)
                || poster.isUnreachable(write, address);
    }

    @Override
    public boolean mayHold() {
        return held.any();
    }

    @Override
    public boolean uses(RequestBuffer buffer) {
        return requests.uses(buffer);
    }

    @Override
    public void sample(RegionHeat heat) {
        requests.sample(heat);
    }

    @Override
    public boolean reaches(long end) {
        return order.reaches(end) || held.reaches(end);
    }

    // A route with an operation has a connection.
    @Override
    @SuppressWarnings("NullAway")
    public int tryExecute(
            boolean write, long address, RequestBuffer buffer, long offset, long length, Completion done, long token) {
        if (requests.pending() != 0 || length > maxMessageBytes || completions.draining()) {
            return DECLINED;
        }
        Route route = routes.to(write, address, length);
        if (route == null || route.operation == null) {
            return DECLINED;
        }
        int timed = latency == null ? 0 : latency.due();
        long start = timed > 0 ? System.nanoTime() : 0;
        long remote = route.address + table.offsetOf(address);
        int key = buffer.localKey();
        long local = buffer.address() + offset;
        int result = route.operation.run(write, local, key, remote, route.remoteKey, (int) length);
        if (result != OneOperation.COMPLETED) {
            // With its place in the buffer, as a read that fails is posted again.
            PostedRequest request = begin(write, address, length, buffer, local, done, token);
            request.begin(length, 1);
            request.timed = timed;
            request.issuedAt = start;
            queue.adopt(route.connection, result, write, request.place, key, remote, route.remoteKey, (int) length);
            return STARTED;
        }
        if (timed > 0) {
            Request.record(latency, write, System.nanoTime() - start, timed);
        }
        return DONE;
    }

    /**
     * Takes a place for a request that the caller posts now, and appends it to the order as posted. No request may wait
     * to be posted, and there must be {@linkplain PostedRequests#room room}.
     */
    private PostedRequest begin(
            boolean write, long address, long length, RequestBuffer buffer, long local, Completion done, long token) {
        PostedRequest request = requests.take();
        request.fill(write, address, length, buffer, local, done, token);
        order.addPosted(request.place);
        return request;
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
        if (!order.hasRoomFor(1)) {
            return false;
        }
        if (buffer != null) {
            Route route = routes.to(write, address, length);
            if (route != null && postAtOnce(route, write, address, length, buffer, local, completion, token)) {
                return true;
            }
        }
        return enqueue(false, write, address, length, buffer, local, segment, completion, token);
    }

    /**
     * Posts a request at once if it is one work request and nothing is in its way: no request is queued or held, no
     * barrier is present, and its connection has room.
     *
     * @return false if something is in its way; nothing has happened then
     */
    public boolean postAtOnce(
            Route route,
            boolean write,
            long address,
            long length,
            RequestBuffer buffer,
            long local,
            Completion done,
            long token) {
        // If no request is queued or held, posting now keeps the order of issue.
        if (!order.isPosted()
                || !order.hasRoomFor(1)
                || held.count() > 0
                || length > maxMessageBytes
                || requests.room() == 0
                || poster.hasBarrier()) {
            return false;
        }
        Connection connection = route.connection;
        if (connection == null || connection.failed() || !queue.hasRoom(connection)) {
            return false;
        }
        PostedRequest request = begin(write, address, length, buffer, local, done, token);
        request.begin(length, 1);
        request.time(latency);
        long remote = route.address + table.offsetOf(address);
        queue.post(connection, write, request.place, local, buffer.localKey(), remote, route.remoteKey, (int) length);
        return true;
    }

    @Override
    public void prepareCopies() {
        bounce.prepare();
    }

    /** Each record may have to become a request of its own, and only half of the requests may be held. */
    @Override
    public int maxRecords() {
        return heldLimit;
    }

    /**
     * Posts the records to each server as one list if nothing is in their way; otherwise each becomes a request of its
     * own.
     */
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
        if (postAllAtOnce(write, addresses, count, length, buffer, local, completion, token)) {
            return true;
        }
        if (parts.full() || !hasRoomFor(write, addresses, count, length)) {
            return false;
        }
        int whole = parts.begin(count, write, completion, token);
        for (int i = 0; i < count; i++) {
            if (!enqueue(true, write, addresses[i], length, buffer, local + (long) i * length, null, parts, whole)) {
                throw new AssertionError("no room for a record that was counted");
            }
        }
        return true;
    }

    /**
     * As {@link #issueAll}, if all records can be posted now, as one request with one list for each server.
     *
     * @return false if something is in their way; nothing has happened then
     */
    public boolean postAllAtOnce(
            boolean write,
            long[] addresses,
            int count,
            int length,
            RequestBuffer buffer,
            long local,
            Completion completion,
            long token) {
        if (!order.isPosted()
                || isBehindHeld(addresses, count, length)
                || !order.hasRoomFor(count)
                || count > requests.room()
                || poster.hasBarrier()
                || !lists.canTake(addresses, count, length)) {
            return false;
        }
        PostedRequest request = begin(write, addresses[0], length, buffer, local, completion, token);
        request.begin(length, count);
        request.time(latency, count);
        lists.add(write, request.place, addresses, count, length, buffer.localKey(), local);
        order.list(lists.begin(), lists.end());
        queue.postLists();
        return true;
    }

    /** An atomic is always queued, never posted ahead of queued requests, and its latency is not recorded. */
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
        if (!order.hasRoomFor(1)) {
            return false;
        }
        PostedRequest request = take(false, true, address, Long.BYTES, buffer, local, null, completion, token);
        if (request == null) {
            return false;
        }
        request.fillAtomic(swap, compareOrAdd, value);
        request.timed = 0;
        enqueue(request);
        return true;
    }

    /**
     * Takes over a request, or one of its records, whose batch has failed. It is held, and not called back before its
     * {@linkplain #release turn} has come.
     *
     * @param from the request, as it was in the batch
     * @param local address of its data in memory; 0 if they are in its segment, or the request no longer has data
     * @param before the sequence number of the first request that was issued here after it
     * @param failure what is known about it if its batch was sent, or null
     * @return its place
     */
    public int adopt(Request from, long address, long local, long before, @Nullable RequestFailure failure) {
        if (requests.room() == 0) {
            requests.grow();
        }
        PostedRequest request = requests.take();
        request.fill(from.write, address, from.length, from.buffer, local, from.completion, from.token);
        request.begin(failure == null ? 0 : from.length, 1);
        request.segment = from.segment;
        request.timed = 0;
        request.issuedBefore(before);
        held.add(request);
        attention |= LOOK;
        boolean posts = failure == null || !from.write;
        if (posts && local == 0 && !preparesCopy(from)) {
            // It was not sent, and its bytes were in the batch alone; or there is no memory for those that it reads.
            request.end(Status.UNREACHABLE);
            request.outstanding = 1;
        } else if (failure != null) {
            recovery.fails(request, failure);
        }
        return request.place;
    }

    /**
     * Holds the posted requests that overlap {@linkplain #adopt adopted} ones that were issued before: they may have
     * been posted on another connection, and are called back after these.
     */
    public void holdBehindAdopted() {
        holdFailed();
        attention |= LOOK;
    }

    private boolean preparesCopy(Request from) {
        if (from.segment == null) {
            return false;
        }
        try {
            bounce.prepare();
            return true;
        } catch (RuntimeException e) {
            // There is no memory for it.
            return false;
        }
    }

    /** All requests that were issued before one that was {@linkplain #adopt adopted} have been called back. */
    public void release(int place) {
        requests.get(place).outstanding--;
        attention |= LOOK;
    }

    /** @param counted as for {@link #take} */
    private boolean enqueue(
            boolean counted,
            boolean write,
            long address,
            long length,
            @Nullable RequestBuffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token) {
        PostedRequest request = take(counted, write, address, length, buffer, local, segment, completion, token);
        if (request == null) {
            return false;
        }
        request.time(latency);
        enqueue(request);
        return true;
    }

    /** As {@link #hasRoomFor(int)}, but beyond the limit of held requests only those count that would be held now. */
    private boolean hasRoomFor(boolean write, long[] addresses, int count, int length) {
        if (hasRoomFor(count)) {
            return true;
        }
        if (!order.hasRoomFor(count) || count > requests.room()) {
            return false;
        }
        int waiting = 0;
        for (int i = 0; i < count; i++) {
            waiting += waits(write, addresses[i], length) ? 1 : 0;
        }
        return waiting == 0 || held.count() + waiting <= heldLimit;
    }

    private boolean isBehindHeld(long[] addresses, int count, int length) {
        if (held.count() == 0) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            if (held.overlaps(addresses[i], length, order.tail())) {
                return true;
            }
        }
        return false;
    }

    private boolean isBehindHeld(long address, long length) {
        return held.count() > 0 && held.overlaps(address, length, order.tail());
    }

    /**
     * Takes a place for a request that is not queued yet.
     *
     * @param counted whether the caller has found room for it
     * @return null if there is no place, or if the request would have to be held and too many are
     */
    private @Nullable PostedRequest take(
            boolean counted,
            boolean write,
            long address,
            long length,
            @Nullable RequestBuffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token) {
        if (!counted && held.count() >= heldLimit && waits(write, address, length)) {
            return null;
        }
        if (segment != null) {
            bounce.prepare();
        }
        if (requests.room() == 0) {
            return null;
        }
        PostedRequest request = requests.take();
        request.fill(write, address, length, buffer, local, completion, token);
        request.begin(0, 0);
        request.segment = segment;
        request.issuedAs(order.tail());
        return request;
    }

    private void enqueue(PostedRequest request) {
        boolean behindHeld = isBehindHeld(request.address, request.length);
        if (behindHeld) {
            held.add(request);
            attention |= LOOK;
        }
        boolean first = order.isPosted();
        order.add(behindHeld ? RequestOrder.EMPTY : request.place);
        if (first) {
            postQueued();
        }
    }

    @Override
    public int poll() {
        advance();
        return callbacks.run(order.tail());
    }

    /** Handles completions, and then posts queued requests, held requests that may be posted, and open lists. */
    public void advance() {
        completions.take();
        if (!order.isPosted()) {
            postQueued();
        }
        if (attention != 0) {
            attend();
        }
        if (queue.hasLists()) {
            queue.postLists();
            completions.take();
        }
    }

    @Override
    public void send() {
        queue.postLists();
    }

    @Override
    public long listen() {
        completions.requestNotification();
        return 0;
    }

    @Override
    public long longestSleep() {
        long wait = (attention & WAIT) == 0 ? Long.MAX_VALUE : Math.max(1, lookAt - recovery.now());
        if ((attention & LOOK) != 0) {
            // Found behind the last look, perhaps without an event that would wake the thread.
            wait = Math.min(wait, SOON_NANOS);
        }
        return wait == Long.MAX_VALUE ? 0 : wait;
    }

    @Override
    public void resumeHeld() {
        attention |= LOOK;
    }

    @Override
    public void abandonUnposted() {
        recovery.close();
        for (; !order.isPosted(); order.passNext()) {
            int place = order.at(order.next());
            if (place != RequestOrder.EMPTY) {
                requests.get(place).abandon();
            }
        }
        for (int i = 0; i < held.count(); i++) {
            held.get(i).abandon();
        }
    }

    /** Requests that wait for a server end; all others end by themselves. */
    @Override
    public void abandon(Completion whose, long since) {
        for (int i = 0; i < held.count(); i++) {
            PostedRequest request = held.get(i);
            if (request.deadline != 0
                    && !request.fullyPosted()
                    && ScatterGather.leadsTo(whose, request.completion, request.token)) {
                request.abandon();
                attention |= LOOK;
            }
        }
    }

    private void postQueued() {
        while (!order.isPosted()) {
            int place = order.at(order.next());
            if (place == RequestOrder.EMPTY) {
                order.passNext();
                continue;
            }
            PostedRequest request = requests.get(place);
            PartPoster.PostProgress posting = post(request);
            if (posting == PartPoster.PostProgress.NO_ROOM) {
                return;
            }
            if (posting == PartPoster.PostProgress.HELD) {
                order.holdNext();
                held.add(request);
                // The move may have ended before the migration could see that this request is held: look once more.
                attention |= LOOK;
            } else {
                order.passNext();
            }
        }
    }

    /** Posts the request at {@code next}, or more of it. */
    private PartPoster.PostProgress post(PostedRequest request) {
        return held.count() > 0 && held.overlaps(request.address, request.length, order.next())
                ? PartPoster.PostProgress.HELD
                : poster.post(request);
    }

    /** Looks at requests that have failed, wait for a server, or are held by a migration. */
    private void attend() {
        long now = recovery.now();
        if (attention == WAIT && now - lookAt < 0) {
            return;
        }
        attention = 0;
        if (recovery.fresh()) {
            holdFailed();
            recovery.held();
        }
        recovery.look(now);
        recovery.settle(now);
        postHeld();
        long deadline = endLate(now);
        if (recovery.unsettled() || deadline != 0) {
            attention |= WAIT;
            lookAt = recovery.next(now);
            if (deadline != 0 && deadline - lookAt < 0) {
                lookAt = deadline;
            }
        }
    }

    /**
     * Holds posted requests that have failed, so that later ones pass them, and the posted ones behind that overlap
     * them, which are called back after them.
     */
    private void holdFailed() {
        for (long sequence = order.head(); order.next() - sequence >= 0 && sequence != order.tail(); sequence++) {
            int place = order.at(sequence);
            if (place == RequestOrder.EMPTY) {
                continue;
            }
            PostedRequest request = requests.get(place);
            boolean next = sequence == order.next();
            if (next && request.failure == null) {
                return;
            }
            boolean list = order.isList(sequence);
            long from = list ? order.listBegin(sequence) : request.address;
            long bytes = list ? order.listEnd(sequence) - from : request.length;
            if (request.failure == null && !held.overlaps(from, bytes, sequence)) {
                continue;
            }
            if (list) {
                request.enclose(from, bytes);
            }
            request.issuedAs(sequence);
            if (next) {
                order.holdNext();
            } else {
                order.hold(sequence);
            }
            held.add(request);
        }
    }

    /**
     * Ends requests that have waited for a server for too long.
     *
     * @return the first deadline of the others; 0 for none
     */
    private long endLate(long now) {
        long first = 0;
        for (int i = 0; i < held.count(); i++) {
            PostedRequest request = held.get(i);
            if (request.fullyPosted()) {
                continue;
            }
            if (!poster.isUnreachable(request.write, request.address + request.posted)) {
                // One that has failed before has no more patience than this: it may be what fails connections.
                request.deadline = request.failure == null ? 0 : request.deadline;
                continue;
            }
            if (request.deadline == 0) {
                request.deadline = recovery.deadline(now);
            }
            if (now - request.deadline >= 0) {
                request.giveUp();
                // Others that overlap it may be posted now.
                attention |= LOOK;
            } else if (first == 0 || request.deadline - first < 0) {
                first = request.deadline;
            }
        }
        return first;
    }

    /**
     * Posts held requests that the table holds no longer and whose servers can be reached, each after those that were
     * issued before it and overlap it.
     */
    private void postHeld() {
        for (int i = 0; i < held.count(); i++) {
            PostedRequest request = held.get(i);
            if (request.fullyPosted() || table.holds(request.write, request.address + request.posted, 1)) {
                continue;
            }
            if (!request.precedes(order.next())) {
                // A request that was issued before it is still queued, and may overlap it.
                attention |= LOOK;
                return;
            }
            if (held.isBehind(i, true)) {
                continue;
            }
            // Set before the call: if it throws, the next poll looks at the requests behind this one.
            attention |= LOOK;
            if (request.failure != null && held.isOvertaken(i)) {
                request.giveUp();
            } else if (poster.post(request) == PartPoster.PostProgress.NO_ROOM) {
                return;
            }
            attention &= ~LOOK;
        }
    }
}
