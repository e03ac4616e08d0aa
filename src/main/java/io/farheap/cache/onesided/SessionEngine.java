package io.farheap.cache.onesided;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.order.HeldRequests;
import io.farheap.cache.order.PostedRequest;
import io.farheap.cache.order.PostedRequests;
import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.Request;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestCallbacks;
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
 * What a session does with requests: cuts them into work requests at region boundaries, posts them in the order of
 * issue, and completes them in that order. The session calls it inside its gate; it knows nothing of threads.
 *
 * <p>Order (DESIGN.md, invariant 1). Work requests to one server execute in the order of posting, but for a WRITE
 * behind a READ, which the connection fences; two requests that overlap meet on one server. Requests that a migration
 * holds leave the order of callbacks; later ones that overlap them are held too.
 */
public final class SessionEngine implements RequestPath {

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

    private boolean heldMayResume;

    /**
     * @param queue on the routes' connections
     * @param completions of that queue
     * @param latency where latencies are recorded, or null
     * @param capacity requests between issue and callback, a power of two
     */
    public SessionEngine(
            Routes routes,
            QueuePoster queue,
            QueueCompletions completions,
            int maxMessageBytes,
            BounceBuffers bounce,
            @Nullable OperationLatency latency,
            int capacity) {
        this.table = routes.table();
        this.routes = routes;
        this.maxMessageBytes = maxMessageBytes;
        this.bounce = bounce;
        this.latency = latency;
        this.requests = new PostedRequests(capacity);
        this.queue = queue;
        this.poster = new PartPoster(queue, routes, bounce, maxMessageBytes);
        this.completions = new PartCompletions(completions, requests, bounce);
        // At most half may be held, so that requests to other regions always find room.
        this.heldLimit = capacity / 2;
        this.held = new HeldRequests(requests, table, capacity);
        this.parts = new ScatterGather(capacity);
        this.order = new RequestOrder(requests, capacity);
        this.callbacks = new RequestCallbacks(requests, order, held, latency);
        this.lists = new RecordLists(routes, queue, maxMessageBytes);
    }

    public void barrier(PartPoster.Barrier asked) {
        poster.barrier(asked);
    }

    public RequestCallbacks callbacks() {
        return callbacks;
    }

    /** The requests that have not been called back, in the order of issue. */
    public RequestOrder order() {
        return order;
    }

    /** Whether so many requests would be taken now. */
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
        return isBehindHeld(address, length) || table.holds(write, address, length);
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

    // An operation is its connection's.
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
        int result = route.operation.run(write, buffer.address() + offset, key, remote, route.remoteKey, (int) length);
        if (result != OneOperation.COMPLETED) {
            PostedRequest request = begin(write, address, length, buffer, 0, done, token);
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

    /** A request that is posted with this and behind which nothing waits. There must be a place. */
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
        return enqueue(write, address, length, buffer, local, segment, completion, token);
    }

    /**
     * Posts a request that is one work request, where nothing is in its way.
     *
     * @return false where something is, and nothing has happened
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
        // With nothing queued or held, what is posted now is in order.
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

    /** Half of the requests may be held, and each record may have to become one. */
    @Override
    public int maxRecords() {
        return heldLimit;
    }

    /** Posted to each server as one list. */
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
        if (!hasRoomFor(count)) {
            return false;
        }
        int whole = parts.begin(count, completion, token);
        for (int i = 0; i < count; i++) {
            if (!enqueue(write, addresses[i], length, buffer, local + (long) i * length, null, parts, whole)) {
                throw new AssertionError("no room for a record that was counted");
            }
        }
        return true;
    }

    /**
     * As {@link #issueAll}, where nothing is in the way of posting all of them now.
     *
     * @return false where something is, and nothing has happened
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
                || held.count() > 0
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

    /** It takes its turn behind others, and is not timed. */
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
        PostedRequest request = take(true, address, Long.BYTES, buffer, local, null, completion, token);
        if (request == null) {
            return false;
        }
        request.fillAtomic(swap, compareOrAdd, value);
        request.timed = 0;
        enqueue(request);
        return true;
    }

    private boolean enqueue(
            boolean write,
            long address,
            long length,
            @Nullable RequestBuffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token) {
        PostedRequest request = take(write, address, length, buffer, local, segment, completion, token);
        if (request == null) {
            return false;
        }
        request.time(latency);
        enqueue(request);
        return true;
    }

    private boolean isBehindHeld(long address, long length) {
        return held.count() > 0 && held.overlaps(address, length, order.tail(), false);
    }

    /** @return a request that is yet to be queued; null where there is no room */
    private @Nullable PostedRequest take(
            boolean write,
            long address,
            long length,
            @Nullable RequestBuffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token) {
        if (held.count() >= heldLimit && (isBehindHeld(address, length) || table.holds(write, address, length))) {
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
        request.sequence = order.tail();
        return request;
    }

    private void enqueue(PostedRequest request) {
        boolean behindHeld = isBehindHeld(request.address, request.length);
        if (behindHeld) {
            held.add(request);
            heldMayResume = true;
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

    /** Handles completions and posts what waits. */
    public void advance() {
        completions.take();
        if (!order.isPosted()) {
            postQueued();
        }
        if (heldMayResume) {
            postHeld();
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
    public void resumeHeld() {
        heldMayResume = true;
    }

    @Override
    public void abandonUnposted() {
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
                // What it waits for may have come to pass before anybody could see that it waits.
                heldMayResume = true;
            } else {
                order.passNext();
            }
        }
    }

    /** Posts the request whose turn it is. */
    private PartPoster.PostProgress post(PostedRequest request) {
        return held.count() > 0 && held.overlaps(request.address, request.length, order.next(), false)
                ? PartPoster.PostProgress.HELD
                : poster.post(request);
    }

    /** Posts held requests, each behind those that were issued before it and overlap it. */
    private void postHeld() {
        heldMayResume = false;
        for (int i = 0; i < held.count(); i++) {
            PostedRequest request = held.get(i);
            long sequence = request.sequence;
            if (request.fullyPosted() || table.holds(request.write, request.address + request.posted, 1)) {
                continue;
            }
            if (order.next() - sequence <= 0) {
                // Something issued before it is still queued, and may overlap it.
                heldMayResume = true;
                return;
            }
            if (held.overlaps(request.address, request.length, sequence, true)) {
                continue;
            }
            // Also where this throws: those behind are looked at with the next poll.
            heldMayResume = true;
            if (poster.post(request) == PartPoster.PostProgress.NO_ROOM) {
                return;
            }
            heldMayResume = false;
        }
    }
}
