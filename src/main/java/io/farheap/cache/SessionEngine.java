package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.latency.OperationLatency;
import io.farheap.migration.RegionEntry;
import io.farheap.migration.RegionTable;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.OneOperation;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a session does with requests: cuts them into work requests at region boundaries, posts them in the order of
 * issue, and completes them in that order. The session calls it inside its gate; it knows nothing of threads.
 *
 * <p>Order (DESIGN.md, invariant 1). Work requests to one server execute in the order of posting, but for a WRITE
 * behind a READ, which the connection fences; two requests that overlap meet on one server. Requests that a migration
 * holds leave the order of callbacks; later ones that overlap them are held too.
 */
final class SessionEngine implements RequestPath {

    private static final int NO_REGION = -1;
    /** Places in the order of callbacks for each request: a request that is held leaves an empty one behind. */
    private static final int ORDER_PLACES = 4;

    private static final int EMPTY = -1;
    /** Comparing with more requests takes longer than waiting for them. */
    private static final int MOST_COMPARED = 64;

    private final RegionTable table;
    private final int maxMessageBytes;
    private final BounceBuffers bounce;
    private final @Nullable OperationLatency latency;
    private final Routes routes;
    private final SessionQueue queue;
    private final PartPoster poster;

    private final PostedRequests requests;
    private final HeldRequests held;
    private final int heldLimit;
    private final ScatterGather parts;

    /**
     * The order of issue: {@code order[sequence & mask]}. Before {@code head}: called back. Before {@code next}:
     * posted.
     */
    private final int[] order;

    private final int orderMask;
    private long head;
    private long next;
    /**
     * Of the latest request for many records that was posted as one: its place knows only where its first record is. So
     * the range is kept that all records of such requests are in, since there was last none of them.
     */
    private long lastList = -1;
    /** By place in the order: which list was there last, and from where to where its records are. */
    private final long[] listAt;

    private final long[] listBegin;
    private final long[] listEnd;

    private long listsFrom;
    private long listsTo;

    private long tail;

    private boolean heldMayResume;
    private boolean inCallback;

    /**
     * @param capacity requests between issue and callback, a power of two
     * @param completionEntries work requests in flight at most
     * @param stashEntries the completion queue's
     * @param latency where latencies are recorded, or null
     */
    SessionEngine(
            Routes routes,
            CompletionQueue completions,
            int completionEntries,
            int stashEntries,
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
        this.poster = new PartPoster(requests, routes, bounce, maxMessageBytes);
        this.queue = new SessionQueue(completions, completionEntries, stashEntries, routes, poster);
        // At most half may be held, so that requests to other regions always find room.
        this.heldLimit = capacity / 2;
        this.held = new HeldRequests(requests, table, capacity);
        this.parts = new ScatterGather(capacity);
        this.order = new int[capacity * ORDER_PLACES];
        this.listAt = new long[order.length];
        Arrays.fill(listAt, -1);
        this.listBegin = new long[order.length];
        this.listEnd = new long[order.length];
        this.orderMask = order.length - 1;
    }

    /** Its connections. */
    SessionQueue queue() {
        return queue;
    }

    void barrier(PartPoster.Barrier asked) {
        poster.barrier(asked);
    }

    @Override
    public boolean inCallback() {
        return inCallback;
    }

    void inCallback(boolean inside) {
        inCallback = inside;
    }

    /** Places in the order of issue: before it, all have been called back, but for requests that are held. */
    long head() {
        return head;
    }

    /** The place after that of the request issued last. */
    long tail() {
        return tail;
    }

    /** Whether so many requests would be taken now. */
    boolean hasRoomFor(int count) {
        return tail - head + count <= order.length && count <= requests.room() && held.count() + count <= heldLimit;
    }

    /** Whether a range may overlap a request that has not been called back. */
    boolean mayOverlap(long address, long length) {
        if (tail - head > MOST_COMPARED || lastList - head >= 0 && address < listsTo && listsFrom - length < address) {
            return true;
        }
        for (long sequence = head; sequence != tail; sequence++) {
            int request = order[(int) sequence & orderMask];
            if (request != EMPTY && requests.overlaps(request, address, length)) {
                return true;
            }
        }
        return held.count() > 0 && held.overlaps(address, length, tail, false);
    }

    @Override
    public boolean conflicts(boolean write, long address, long length) {
        for (long sequence = head; sequence != tail; sequence++) {
            int slot = (int) sequence & orderMask;
            int request = order[slot];
            if (request != EMPTY
                    && (write || requests.write[request])
                    && (listAt[slot] == sequence
                            ? address < listEnd[slot] && listBegin[slot] - length < address
                            : requests.overlaps(request, address, length))) {
                return true;
            }
        }
        return held.count() > 0 && held.conflicts(write, address, length);
    }

    @Override
    public int pending() {
        return requests.pending();
    }

    @Override
    public int heldCount() {
        return held.count();
    }

    @Override
    public boolean waits(boolean write, long address, long length) {
        return held.count() > 0 && held.overlaps(address, length, tail, false) || table.holds(write, address, length);
    }

    @Override
    public boolean mayHold() {
        return held.any();
    }

    @Override
    public boolean uses(Buffer buffer) {
        return requests.uses(buffer);
    }

    @Override
    public void sample(RegionHeat heat) {
        heat.add(requests);
    }

    /** Of a list, its row has the first record alone. */
    @Override
    public boolean reaches(long end) {
        for (long sequence = head; sequence != tail; sequence++) {
            int slot = (int) sequence & orderMask;
            if (order[slot] != EMPTY
                    && (requests.end(order[slot]) > end || listAt[slot] == sequence && listEnd[slot] > end)) {
                return true;
            }
        }
        return held.reaches(end);
    }

    @Override
    public int tryExecute(
            boolean write, long address, Buffer buffer, long offset, long length, Completion completion, long token) {
        if (requests.pending() != 0 || length > maxMessageBytes || queue.draining()) {
            return DECLINED;
        }
        Route route = routes.to(write, address, length);
        if (route == null || route.operation == null) {
            return DECLINED;
        }
        int timed = latency == null ? 0 : latency.due();
        long start = timed > 0 ? System.nanoTime() : 0;
        long remote = route.address + table.offsetOf(address);
        int result = route.operation.run(
                write, buffer.address() + offset, buffer.localKey(), remote, route.remoteKey, (int) length);
        if (result != OneOperation.COMPLETED) {
            int request = begin(write, address, length, buffer, 0, completion, token, length, 0);
            requests.timed[request] = timed;
            requests.issuedAt[request] = start;
            adopt(request, result, route.connection, remote);
            return STARTED;
        }
        if (timed > 0) {
            RequestTable.record(latency, write, System.nanoTime() - start, timed);
        }
        return DONE;
    }

    /** What was tried and has not ended well at once becomes an ordinary request. */
    // An operation is its connection's.
    @SuppressWarnings("NullAway")
    private void adopt(int request, int result, @Nullable Connection connection, long remote) {
        if (result == OneOperation.OTHER_COMPLETION) {
            queue.stashOther();
        }
        if (result != OneOperation.FAILED) {
            queue.adopt(connection, request, requests.write[request], remote, (int) requests.length[request]);
            requests.outstanding[request] = 1;
        } else {
            queue.fail(connection);
            requests.status[request] = Status.LOST;
        }
    }

    /**
     * A request that is posted with this and behind which nothing waits. There must be a place.
     *
     * @return its place in the table
     */
    private int begin(
            boolean write,
            long address,
            long length,
            Buffer buffer,
            long local,
            Completion completion,
            long token,
            long posted,
            int workRequests) {
        int request = requests.take();
        requests.fill(request, write, address, length, buffer, local, completion, token);
        requests.begin(request, posted, workRequests);
        order[(int) tail & orderMask] = request;
        tail++;
        next = tail;
        return request;
    }

    @Override
    public boolean issue(
            boolean write,
            long address,
            long length,
            @Nullable Buffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token) {
        if (tail - head == order.length) {
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
    boolean postAtOnce(
            Route route,
            boolean write,
            long address,
            long length,
            Buffer buffer,
            long local,
            Completion completion,
            long token) {
        // With nothing queued or held, what is posted now is in order.
        if (next != tail
                || tail - head == order.length
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
        int request = begin(write, address, length, buffer, local, completion, token, length, 1);
        requests.time(request, latency);
        long remote = route.address + table.offsetOf(address);
        queue.post(connection, write, request, local, buffer.localKey(), remote, route.remoteKey, (int) length);
        return true;
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
            Buffer buffer,
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
    boolean postAllAtOnce(
            boolean write,
            long[] addresses,
            int count,
            int length,
            Buffer buffer,
            long local,
            Completion completion,
            long token) {
        if (next != tail
                || held.count() > 0
                || tail - head + count > order.length
                || count > requests.room()
                || poster.hasBarrier()
                || !queue.hasRoomFor(count)
                || !roomForAll(addresses, count, length)) {
            return false;
        }
        postAll(write, addresses, count, length, buffer, local, completion, token);
        return true;
    }

    /** Whether every record is in a region that is in one place, and its connection could take all of them. */
    private boolean roomForAll(long[] addresses, int count, int length) {
        if (length > maxMessageBytes) {
            return false;
        }
        long last = table.regionBytes() - length;
        int found = NO_REGION;
        for (int i = 0; i < count; i++) {
            long address = addresses[i];
            int index = table.indexOf(address);
            if (table.offsetOf(address) > last || index != found && !hasRoomFor(index, count)) {
                return false;
            }
            found = index;
        }
        return true;
    }

    private boolean hasRoomFor(int index, int count) {
        RegionEntry entry = table.get(index);
        Route route = routes.get(index);
        if (route.entry != entry) {
            route = entry.isSplit() ? null : routes.find(index, entry, true, 0, table.regionBytes());
        }
        Connection connection = route == null ? null : route.connection;
        return connection != null && !connection.failed() && connection.room() >= count;
    }

    // roomForAll has found a connection for each record.
    @SuppressWarnings("NullAway")
    private void postAll(
            boolean write,
            long[] addresses,
            int count,
            int length,
            Buffer buffer,
            long local,
            Completion completion,
            long token) {
        if (lastList - head < 0) {
            listsFrom = Long.MAX_VALUE;
            listsTo = 0;
        }
        int request = begin(write, addresses[0], length, buffer, local, completion, token, length, count);
        lastList = tail - 1;
        requests.time(request, latency == null ? 0 : latency.due(count));
        queue.beginLists(count);
        int key = buffer.localKey();
        Route route = null;
        int found = NO_REGION;
        long from = Long.MAX_VALUE;
        long last = 0;
        for (int i = 0; i < count; i++) {
            long address = addresses[i];
            from = Math.min(from, address);
            last = Math.max(last, address);
            int index = table.indexOf(address);
            if (index != found) {
                // As roomForAll found it: a migration that changes the table now waits until we are out of the gate.
                route = routes.get(index);
                found = index;
            }
            route.connection.list(
                    write,
                    request,
                    local + (long) i * length,
                    key,
                    route.address + table.offsetOf(address),
                    route.remoteKey,
                    length);
        }
        listsFrom = Math.min(listsFrom, from);
        listsTo = Math.max(listsTo, last + length);
        listAt[(int) lastList & orderMask] = lastList;
        listBegin[(int) lastList & orderMask] = from;
        listEnd[(int) lastList & orderMask] = last + length;
        queue.postLists();
    }

    /** It takes its turn behind others, and is not timed. */
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
        if (tail - head == order.length) {
            return false;
        }
        int request = take(true, address, Long.BYTES, buffer, local, null, completion, token);
        if (request == Requests.NONE) {
            return false;
        }
        requests.fillAtomic(request, swap, compareOrAdd, value);
        requests.time(request, 0);
        enqueue(request);
        return true;
    }

    private boolean enqueue(
            boolean write,
            long address,
            long length,
            @Nullable Buffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token) {
        int request = take(write, address, length, buffer, local, segment, completion, token);
        if (request == Requests.NONE) {
            return false;
        }
        requests.time(request, latency);
        enqueue(request);
        return true;
    }

    private boolean isBehindHeld(long address, long length) {
        return held.count() > 0 && held.overlaps(address, length, tail, false);
    }

    /** @return the place of a request that is yet to be queued; {@link Requests#NONE} where there is none */
    private int take(
            boolean write,
            long address,
            long length,
            @Nullable Buffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token) {
        if (held.count() >= heldLimit && (isBehindHeld(address, length) || table.holds(write, address, length))) {
            return Requests.NONE;
        }
        if (segment != null) {
            bounce.prepare();
        }
        int request = requests.take();
        if (request != Requests.NONE) {
            requests.fill(request, write, address, length, buffer, local, completion, token);
            requests.begin(request, 0, 0);
            requests.segment[request] = segment;
            requests.sequence[request] = tail;
        }
        return request;
    }

    private void enqueue(int request) {
        boolean behindHeld = isBehindHeld(requests.address[request], requests.length[request]);
        if (behindHeld) {
            held.add(request);
            heldMayResume = true;
        }
        order[(int) tail & orderMask] = behindHeld ? EMPTY : request;
        tail++;
        if (next == tail - 1) {
            postQueued();
        }
    }

    @Override
    public int poll() {
        advance();
        return callBack(tail);
    }

    /** Handles completions and posts what waits. */
    void advance() {
        queue.takeCompletions();
        if (next != tail) {
            postQueued();
        }
        if (heldMayResume) {
            postHeld();
        }
        if (queue.listing()) {
            queue.postLists();
            queue.takeCompletions();
        }
    }

    @Override
    public void send() {
        queue.postLists();
    }

    @Override
    public long listen() {
        queue.requestNotification();
        return 0;
    }

    @Override
    public void resumeHeld() {
        heldMayResume = true;
    }

    @Override
    public void abandonUnposted() {
        for (long sequence = next; sequence != tail; sequence++) {
            int request = order[(int) sequence & orderMask];
            if (request != EMPTY) {
                requests.abandon(request);
            }
        }
        next = tail;
        for (int i = 0; i < held.count(); i++) {
            requests.abandon(held.get(i));
        }
    }

    private void postQueued() {
        while (next != tail) {
            int place = (int) next & orderMask;
            int request = order[place];
            if (request != EMPTY) {
                boolean behindHeld = held.count() > 0
                        && held.overlaps(requests.address[request], requests.length[request], next, false);
                PartPoster.Posting posting = behindHeld ? PartPoster.Posting.HELD : poster.post(request, queue);
                if (posting == PartPoster.Posting.NO_ROOM) {
                    return;
                }
                if (posting == PartPoster.Posting.HELD) {
                    order[place] = EMPTY;
                    held.add(request);
                    // What it waits for may have come to pass before anybody could see that it waits.
                    heldMayResume = true;
                }
            }
            next++;
        }
    }

    /** Posts held requests, each behind those that were issued before it and overlap it. */
    private void postHeld() {
        heldMayResume = false;
        for (int i = 0; i < held.count(); i++) {
            int request = held.get(i);
            long sequence = requests.sequence[request];
            if (requests.fullyPosted(request) || nextPartIsHeld(request)) {
                continue;
            }
            if (next - sequence <= 0) {
                // Something issued before it is still queued, and may overlap it.
                heldMayResume = true;
                return;
            }
            if (held.overlaps(requests.address[request], requests.length[request], sequence, true)) {
                continue;
            }
            if (poster.post(request, queue) == PartPoster.Posting.NO_ROOM) {
                heldMayResume = true;
                return;
            }
        }
    }

    private boolean nextPartIsHeld(int request) {
        return table.holds(requests.write[request], requests.address[request] + requests.posted[request], 1);
    }

    /**
     * Runs callbacks, of requests in the order of issue up to a place in it, and of those that were held.
     *
     * @return how many ran
     */
    int callBack(long end) {
        if (held.count() == 0 && (head == tail || !mayCallBack(order[(int) head & orderMask]))) {
            return 0;
        }
        int called = 0;
        // What a callback issues may be done at once, where a server is lost: it waits for the next poll.
        while (head < end) {
            int request = order[(int) head & orderMask];
            if (request != EMPTY) {
                if (!requests.done(request)) {
                    break;
                }
                head++;
                called++;
                finish(request);
            } else {
                head++;
            }
        }
        if (held.count() > 0) {
            called += callBackHeld(end);
        }
        return called;
    }

    private boolean mayCallBack(int request) {
        return request == EMPTY || requests.done(request);
    }

    private int callBackHeld(long end) {
        int called = 0;
        for (int i = 0; i < held.count(); i++) {
            int request = held.get(i);
            long sequence = requests.sequence[request];
            if (sequence >= end
                    || !requests.done(request)
                    || head - sequence <= 0
                    || held.overlaps(requests.address[request], requests.length[request], sequence, false)) {
                continue;
            }
            held.remove(i);
            i--;
            called++;
            finish(request);
        }
        return called;
    }

    private void finish(int request) {
        if (latency != null) {
            requests.record(request, latency);
        }
        Completion completion = requests.completion[request];
        long token = requests.token[request];
        int status = requests.status[request];
        requests.give(request);
        inCallback = true;
        try {
            completion.completed(token, status);
        } finally {
            inCallback = false;
        }
    }
}
