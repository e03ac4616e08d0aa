package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.latency.OperationLatency;
import io.farheap.migration.RegionEntry;
import io.farheap.migration.RegionTable;
import io.farheap.migration.SplitRegion;
import io.farheap.remote.RemoteRegion;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.OneOperation;
import io.farheap.verbs.WcStatus;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * What a session does with requests: cuts them into work requests at region boundaries, posts them in the order of issue, and
 * completes them in that order. The session calls it inside its gate; it knows nothing of threads.
 *
 * <p>Order (DESIGN.md, invariant 1). Work requests to one server execute in the order of posting, but for a WRITE behind a READ,
 * which the connection fences; two requests that overlap meet on one server. Requests that a migration holds leave the order of
 * callbacks; later ones that overlap them are held too.
 */
final class SessionEngine implements RequestPath {

    private static final int NO_CHUNK = -1;
    private static final int NO_REGION = -1;
    private static final long REFUSED_TIMEOUT_NANOS = 5_000_000_000L;
    private static final int TAG_CHUNK_SHIFT = 32;
    /** Places in the order of callbacks for each request: a request that is held leaves an empty one behind. */
    private static final int ORDER_PLACES = 4;
    private static final int EMPTY = -1;
    /** Comparing with more requests takes longer than waiting for them. */
    private static final int MOST_COMPARED = 64;

    private enum Posting {
        /** The whole request is posted. */
        POSTED,
        /** There is no room for the next work request. */
        NO_ROOM,
        /** The next part is in a region that is moving. */
        HELD
    }

    private final RegionTable table;
    private final CompletionQueue completions;
    private final int completionEntries;
    private final int maxMessageBytes;
    private final BounceBuffers bounce;
    private final OperationLatency latency;

    private final Requests requests;
    private final HeldRequests held;
    private final int heldLimit;
    private final StashedCompletions foreign;
    private final ScatterGather parts;
    /** By their number, also those that were replaced or closed: a completion of theirs may still come. */
    private Connection[] connections = new Connection[0];
    /** The one to use for each server. */
    private Connection[] byServer = new Connection[0];
    private int inFlight;
    private final Routes routes;

    /** The order of issue: {@code order[sequence & mask]}. Before {@code head}: called back. Before {@code next}: posted. */
    private final int[] order;
    private final int orderMask;
    private long head;
    private long next;
    private long tail;

    /** Says which requests have to wait, or null where none has. */
    private Barrier barrier;
    private boolean heldMayGoOn;
    /** A connection may have a list that is not posted. */
    private boolean listing;
    private boolean inCallback;

    /**
     * @param capacity          requests between issue and callback, a power of two
     * @param completionEntries work requests in flight at most
     * @param latency           where latencies are recorded, or null
     */
    SessionEngine(RegionTable table, CompletionQueue completions, int completionEntries, int foreignEntries, int maxMessageBytes,
                  BounceBuffers bounce, OperationLatency latency, int capacity) {
        this.table = table;
        this.completions = completions;
        this.completionEntries = completionEntries;
        this.maxMessageBytes = maxMessageBytes;
        this.bounce = bounce;
        this.latency = latency;
        this.requests = new Requests(capacity);
        // At most half may be held, so that requests to other regions always find room.
        this.heldLimit = capacity / 2;
        this.routes = new Routes(this, table.size());
        this.held = new HeldRequests(requests, table, capacity);
        this.parts = new ScatterGather(capacity);
        this.foreign = new StashedCompletions(foreignEntries);
        this.order = new int[capacity * ORDER_PLACES];
        this.orderMask = order.length - 1;
    }

    /** Uses a connection for a server from now on; its number must be new. */
    void addConnection(int server, Connection connection) {
        if (connection.number() >= connections.length) {
            connections = Arrays.copyOf(connections, connection.number() + 1);
        }
        connections[connection.number()] = connection;
        if (server >= byServer.length) {
            byServer = Arrays.copyOf(byServer, server + 1);
        }
        byServer[server] = connection;
        routes.forget();
    }

    /**
     * Ends the use of a server's connection, on behalf of a migration: what is in flight on it is failed, and its completions are
     * kept for the session's thread, since destroying a queue pair drops those that were not polled.
     */
    void removeConnection(int server, long timeoutNanos) {
        Connection connection = byServer[server];
        byServer[server] = null;
        routes.forget();
        connection.postList();
        if (connection.inFlight() > 0) {
            failInFlight(connection, timeoutNanos);
        }
        if (connection.flushing()) {
            // Its completion is dropped, or never came: nobody else would let requests go the short way again.
            connection.forgetFlush();
            unblock();
        }
    }

    /** Requests may go the short way again, unless the flush of another connection is still on its way. */
    private void unblock() {
        for (Connection connection : connections) {
            if (connection != null && connection.flushing()) {
                return;
            }
        }
        routes.block(false);
    }

    /** Fails a connection and keeps the completions of all that is in flight on it, also of what the device refused. */
    private void failInFlight(Connection connection, long timeoutNanos) {
        connection.fail();
        routes.forget();
        long last = connection.lastId();
        long deadline = System.nanoTime() + timeoutNanos;
        while (last >= 0 && !foreign.contains(last) && System.nanoTime() - deadline < 0) {
            keepCompletions();
        }
        connection.forEachUnknown(foreign::contains, id -> foreign.add(id, WcStatus.WR_FLUSH_ERR));
    }

    /** The connection to a server, or null where it could not be reached when the session was opened. */
    Connection connection(int server) {
        return server < byServer.length ? byServer[server] : null;
    }

    /** Fails the connection to a server: what is on its way, and what comes later, is lost. */
    void failConnection(int server) {
        Connection connection = connection(server);
        if (connection != null) {
            connection.fail();
            routes.forget();
        }
    }

    /** Something beside the engine that its requests may have to wait for. */
    interface Barrier {

        /** Whether a request to a range must not be posted yet; it is asked again with the next poll. */
        boolean blocks(long address, long length);
    }

    void barrier(Barrier asked) {
        barrier = asked;
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

    /** Work requests to a server that are in flight. */
    int inFlight(int server) {
        Connection connection = connection(server);
        return connection == null ? 0 : connection.inFlight();
    }

    /** Whether so many requests would be taken now. */
    boolean hasRoomFor(int count) {
        return tail - head + count <= order.length && requests.pending() + count <= requests.capacity() && held.count() + count <= heldLimit;
    }

    /** Whether a range may overlap a request that has not been called back. */
    boolean mayOverlap(long address, long length) {
        if (tail - head > MOST_COMPARED) {
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
    public int now(boolean write, long address, Buffer buffer, long offset, long length, Completion completion, long token) {
        int index = table.indexOf(address);
        RegionEntry entry = table.get(index);
        Route route = routes.get(index);
        long offsetInRegion = table.offsetOf(address);
        if (route.entry != entry || requests.pending() != 0 || length > maxMessageBytes || length > table.regionBytes() - offsetInRegion) {
            return nowAfterLearning(write, address, buffer, offset, length, completion, token);
        }
        return run(route.operation, entry.copy(), route.address + offsetInRegion, route.remoteKey, write, address, buffer, offset, length, completion,
            token);
    }

    private int run(OneOperation operation, RemoteRegion copy, long remote, int remoteKey, boolean write, long address, Buffer buffer,
                    long offset, long length, Completion completion, long token) {
        int timed = latency == null ? 0 : latency.due();
        long start = timed > 0 ? System.nanoTime() : 0;
        int result = operation.run(write, buffer.address() + offset, buffer.localKey(), remote, remoteKey, (int) length);
        if (result != OneOperation.COMPLETED) {
            return started(result, copy, write, address, length, buffer, completion, token, timed, start);
        }
        if (timed > 0) {
            record(write, System.nanoTime() - start, timed);
        }
        return DONE;
    }

    private int nowAfterLearning(boolean write, long address, Buffer buffer, long offset, long length, Completion completion, long token) {
        int index = table.indexOf(address);
        RegionEntry entry = table.get(index);
        if (entry.isSplit()) {
            return nowInPart(entry.split(), write, address, buffer, offset, length, completion, token);
        }
        return routes.get(index).entry != entry && routes.learn(index, entry)
            ? now(write, address, buffer, offset, length, completion, token) : DECLINED;
    }

    /** As {@link #now}, in a region that is in more than one place. */
    private int nowInPart(SplitRegion split, boolean write, long address, Buffer buffer, long offset, long length, Completion completion,
                          long token) {
        long offsetInRegion = table.offsetOf(address);
        RemoteRegion copy = split.copy(write, offsetInRegion, length);
        Connection connection = copy == null ? null : connection(copy.serverIndex());
        if (connection == null || connection.failed() || routes.blocked() || requests.pending() != 0 || length > maxMessageBytes) {
            return DECLINED;
        }
        return run(connection.now(), copy, copy.address() + offsetInRegion, copy.remoteKey(), write, address, buffer, offset, length, completion,
            token);
    }

    private int started(int result, RemoteRegion region, boolean write, long address, long length, Buffer buffer, Completion completion,
                        long token, int timed, long start) {
        Connection connection = connection(region.serverIndex());
        int request = requests.take();
        fill(request, write, address, length, buffer, completion, token);
        requests.timed[request] = timed;
        requests.issuedAt[request] = start;
        requests.posted[request] = length;
        order[(int) tail & orderMask] = request;
        tail++;
        next = tail;
        if (result == OneOperation.OTHER_COMPLETION) {
            foreign.add(completions.id(0), completions.status(0));
        }
        if (result != OneOperation.FAILED) {
            connection.adopt(request, write, region.address() + table.offsetOf(address), (int) length);
            requests.outstanding[request] = 1;
            inFlight++;
        } else {
            connection.fail();
            routes.forget();
            requests.status[request] = Status.LOST;
        }
        return STARTED;
    }

    @Override
    public boolean issue(boolean write, long address, long length, Buffer buffer, long local, MemorySegment segment, Completion completion,
                  long token) {
        if (tail - head == order.length) {
            return false;
        }
        // Nothing is queued or held, so what is posted now is in order.
        if (next == tail && held.count() == 0 && segment == null && barrier == null && postAtOnce(write, address, length, buffer, local, completion, token)) {
            return true;
        }
        return enqueue(write, address, length, buffer, local, segment, completion, token);
    }

    /** Posts a request that is one work request, where there is room for it and the way is known. */
    private boolean postAtOnce(boolean write, long address, long length, Buffer buffer, long local, Completion completion, long token) {
        int index = table.indexOf(address);
        RegionEntry entry = table.get(index);
        Route route = routes.get(index);
        long offset = table.offsetOf(address);
        if (route.entry != entry) {
            if (entry.isSplit()) {
                return postInPart(entry.split(), write, address, length, buffer, local, completion, token);
            }
            return routes.learn(index, entry) && postAtOnce(write, address, length, buffer, local, completion, token);
        }
        return length <= table.regionBytes() - offset
            && post(route.connection, route.address + offset, route.remoteKey, write, address, length, buffer, local, completion, token);
    }

    /** As {@link #postAtOnce}, in a region that is in more than one place. */
    private boolean postInPart(SplitRegion split, boolean write, long address, long length, Buffer buffer, long local,
                               Completion completion, long token) {
        long offset = table.offsetOf(address);
        RemoteRegion copy = split.copy(write, offset, length);
        Connection connection = copy == null ? null : connection(copy.serverIndex());
        return connection != null
            && post(connection, copy.address() + offset, copy.remoteKey(), write, address, length, buffer, local, completion, token);
    }

    private boolean post(Connection connection, long remote, int remoteKey, boolean write, long address, long length, Buffer buffer, long local,
                         Completion completion, long token) {
        if (length > maxMessageBytes || connection.failed() || !connection.hasRoom() || inFlight == completionEntries) {
            return false;
        }
        int request = requests.take();
        if (request == Requests.NONE) {
            return false;
        }
        fill(request, write, address, length, buffer, completion, token);
        time(request);
        requests.posted[request] = length;
        requests.outstanding[request] = 1;
        order[(int) tail & orderMask] = request;
        tail++;
        next = tail;
        inFlight++;
        int error = write
            ? connection.write(request, local, buffer.localKey(), remote, remoteKey, (int) length)
            : connection.read(request, local, buffer.localKey(), remote, remoteKey, (int) length);
        noteList(connection, error);
        return true;
    }

    /** Half of the requests may be held, and each record may have to become one. */
    @Override
    public int maxRecords() {
        return heldLimit;
    }

    /** Posted to each server as one list. */
    @Override
    public boolean issueAll(boolean write, long[] addresses, int count, int length, Buffer buffer, long local, Completion completion, long token) {
        if (tail - head + count > order.length || requests.pending() + count > requests.capacity()) {
            return false;
        }
        if (next == tail && held.count() == 0 && inFlight + count <= completionEntries && roomForAll(addresses, count, length)) {
            postAll(write, addresses, count, length, buffer, local, completion, token);
            return true;
        }
        if (held.count() + count > heldLimit) {
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

    /** Whether the way of every record is known, and its connection could take all of them. */
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
        if (routes.get(index).entry != entry && !routes.learn(index, entry)) {
            return false;
        }
        Connection connection = routes.get(index).connection;
        return !connection.failed() && connection.room() >= count;
    }

    private void postAll(boolean write, long[] addresses, int count, int length, Buffer buffer, long local, Completion completion, long token) {
        int request = requests.take();
        fill(request, write, addresses[0], length, buffer, completion, token);
        time(request);
        requests.posted[request] = length;
        requests.outstanding[request] = count;
        order[(int) tail & orderMask] = request;
        tail++;
        next = tail;
        inFlight += count;
        int key = buffer.localKey();
        Route route = null;
        int found = NO_REGION;
        for (int i = 0; i < count; i++) {
            long address = addresses[i];
            int index = table.indexOf(address);
            if (index != found) {
                // As roomForAll found it: a migration that changes the table now waits until we are out of the gate.
                route = routes.get(index);
                found = index;
            }
            route.connection.list(write, request, local + (long) i * length, key, route.address + table.offsetOf(address), route.remoteKey, length);
        }
        postLists();
    }

    private void noteList(Connection connection, int error) {
        if (error != 0) {
            failInFlight(connection, REFUSED_TIMEOUT_NANOS);
        } else if (connection.listing()) {
            listing = true;
        }
    }

    private void postLists() {
        listing = false;
        for (Connection connection : byServer) {
            if (connection != null && connection.listing() && connection.postList() != 0) {
                failInFlight(connection, REFUSED_TIMEOUT_NANOS);
            }
        }
    }

    private boolean enqueue(boolean write, long address, long length, Buffer buffer, long local, MemorySegment segment,
                            Completion completion, long token) {
        boolean behindHeld = held.count() > 0 && held.overlaps(address, length, tail, false);
        if (held.count() >= heldLimit && (behindHeld || table.holds(write, address, length))) {
            return false;
        }
        if (segment != null) {
            bounce.prepare();
        }
        int request = requests.take();
        if (request == Requests.NONE) {
            return false;
        }
        fill(request, write, address, length, buffer, completion, token);
        time(request);
        requests.posted[request] = 0;
        requests.local[request] = local;
        requests.segment[request] = segment;
        requests.sequence[request] = tail;
        if (behindHeld) {
            held.add(request);
            heldMayGoOn = true;
        }
        order[(int) tail & orderMask] = behindHeld ? EMPTY : request;
        tail++;
        if (next == tail - 1) {
            postQueued();
        }
        return true;
    }

    private void fill(int request, boolean write, long address, long length, Buffer buffer, Completion completion, long token) {
        requests.write[request] = write;
        requests.address[request] = address;
        requests.length[request] = length;
        requests.outstanding[request] = 0;
        requests.status[request] = Status.OK;
        requests.token[request] = token;
        requests.completion(request, completion);
        requests.buffer(request, buffer);
    }

    private void time(int request) {
        int timed = latency == null ? 0 : latency.due();
        requests.timed[request] = timed;
        if (timed > 0) {
            requests.issuedAt[request] = System.nanoTime();
        }
    }

    @Override
    public int poll() {
        advance();
        return callBack(tail);
    }

    /** Handles completions and posts what waits. */
    void advance() {
        handleForeign();
        handleCompletions();
        if (next != tail) {
            postQueued();
        }
        if (heldMayGoOn) {
            postHeld();
        }
        if (listing) {
            postLists();
            handleCompletions();
        }
    }

    @Override
    public void flush() {
        if (listing) {
            postLists();
        }
    }

    @Override
    public long listen() {
        completions.requestNotification();
        return 0;
    }

    @Override
    public void resumeHeld() {
        heldMayGoOn = true;
    }

    @Override
    public void abandonUnposted() {
        for (long sequence = next; sequence != tail; sequence++) {
            abandon(order[(int) sequence & orderMask]);
        }
        next = tail;
        for (int i = 0; i < held.count(); i++) {
            abandon(held.get(i));
        }
    }

    private void abandon(int request) {
        if (request != EMPTY && !requests.fullyPosted(request)) {
            requests.status[request] = Status.CLOSED;
            requests.posted[request] = requests.length[request];
        }
    }

    /**
     * Posts a flush, on behalf of a migration. It may be done at once; the connection says whether it still is on its way.
     *
     * @return false where the connection has failed, so that nothing is known of what it posted
     */
    boolean flush(Connection connection, RemoteRegion region, long scratch, int scratchKey) {
        if (connection.failed() || connection.flush(scratch, scratchKey, region.address(), region.remoteKey()) != 0) {
            routes.forget();
            if (connection.inFlight() > 0) {
                failInFlight(connection, REFUSED_TIMEOUT_NANOS);
            }
            return false;
        }
        routes.block(true);
        flushed(connection);
        return !connection.failed();
    }

    /** Whether the flush of a connection is done, or failed. Other completions are kept for the session's thread. */
    boolean flushed(Connection connection) {
        while (connection.flushing() && keepCompletions() > 0) {
            // There may be more than one batch.
        }
        return !connection.flushing();
    }

    /** Takes completions for the session's thread to handle; those of flushes are handled at once. @return how many came */
    private int keepCompletions() {
        int polled = completions.poll();
        for (int i = 0; i < polled; i++) {
            Connection connection = connections[Connection.connectionOf(completions.id(i))];
            if (completions.id(i) == connection.flushId()) {
                complete(completions.id(i), completions.status(i));
            } else {
                foreign.add(completions.id(i), completions.status(i));
            }
        }
        return polled;
    }

    private void postQueued() {
        while (next != tail) {
            int place = (int) next & orderMask;
            int request = order[place];
            if (request != EMPTY) {
                boolean behindHeld = held.count() > 0
                    && held.overlaps(requests.address[request], requests.length[request], next, false);
                Posting posting = behindHeld ? Posting.HELD : post(request);
                if (posting == Posting.NO_ROOM) {
                    return;
                }
                if (posting == Posting.HELD) {
                    order[place] = EMPTY;
                    held.add(request);
                    // What it waits for may have come to pass before anybody could see that it waits.
                    heldMayGoOn = true;
                }
            }
            next++;
        }
    }

    /** Posts held requests, each behind those that were issued before it and overlap it. */
    private void postHeld() {
        heldMayGoOn = false;
        for (int i = 0; i < held.count(); i++) {
            int request = held.get(i);
            long sequence = requests.sequence[request];
            if (requests.fullyPosted(request) || nextPartIsHeld(request)) {
                continue;
            }
            if (next - sequence <= 0) {
                // Something issued before it is still queued, and may overlap it.
                heldMayGoOn = true;
                return;
            }
            if (held.overlaps(requests.address[request], requests.length[request], sequence, true)) {
                continue;
            }
            if (post(request) == Posting.NO_ROOM) {
                heldMayGoOn = true;
                return;
            }
        }
    }

    private boolean nextPartIsHeld(int request) {
        return table.holds(requests.write[request], requests.address[request] + requests.posted[request], 1);
    }

    private Posting post(int request) {
        long length = requests.length[request];
        boolean write = requests.write[request];
        while (requests.posted[request] < length) {
            long posted = requests.posted[request];
            long at = requests.address[request] + posted;
            RegionEntry entry = table.get(table.indexOf(at));
            RemoteRegion region = entry.copy();
            long offset = table.offsetOf(at);
            long end = table.regionBytes();
            if (entry.isSplit()) {
                SplitRegion split = entry.split();
                region = split.copy(write, offset);
                if (region == null) {
                    return Posting.HELD;
                }
                end = split.end(region, offset);
            }
            int bytes = (int) Math.min(Math.min(length - posted, end - offset), maxMessageBytes);
            if (barrier != null && barrier.blocks(at, bytes)) {
                return Posting.NO_ROOM;
            }
            Connection connection = connection(region.serverIndex());
            if (connection == null || connection.failed()) {
                requests.status[request] = Status.LOST;
                requests.posted[request] = posted + bytes;
                continue;
            }
            if (!connection.hasRoom() || inFlight == completionEntries) {
                return Posting.NO_ROOM;
            }
            int error = requests.segment[request] == null
                ? postDirect(request, write, connection, region.address() + offset, region.remoteKey(), bytes)
                : postBounced(request, write, connection, region.address() + offset, region.remoteKey(), bytes);
            if (error == NO_CHUNK) {
                return Posting.NO_ROOM;
            }
        }
        return Posting.POSTED;
    }

    private int postDirect(int request, boolean write, Connection connection, long remote, int remoteKey, int bytes) {
        Buffer buffer = requests.buffer[request];
        long local = requests.local[request] + requests.posted[request];
        int error = write
            ? connection.write(request, local, buffer.localKey(), remote, remoteKey, bytes)
            : connection.read(request, local, buffer.localKey(), remote, remoteKey, bytes);
        posted(request, bytes, connection, error);
        return 0;
    }

    private int postBounced(int request, boolean write, Connection connection, long remote, int remoteKey, int available) {
        if (bounce.isEmpty()) {
            return NO_CHUNK;
        }
        int bytes = Math.min(available, BounceBuffers.CHUNK_BYTES);
        int chunk = bounce.take(requests.posted[request], bytes);
        if (write && !copied(request, chunk, true)) {
            bounce.give(chunk);
            requests.status[request] = Status.SEGMENT_GONE;
            requests.posted[request] += bytes;
            return 0;
        }
        long tag = (long) (chunk + 1) << TAG_CHUNK_SHIFT | request;
        int error = write
            ? connection.write(tag, bounce.address(chunk), bounce.localKey(), remote, remoteKey, bytes)
            : connection.read(tag, bounce.address(chunk), bounce.localKey(), remote, remoteKey, bytes);
        posted(request, bytes, connection, error);
        return 0;
    }

    private void posted(int request, int bytes, Connection connection, int error) {
        requests.posted[request] += bytes;
        requests.outstanding[request]++;
        inFlight++;
        noteList(connection, error);
    }

    private boolean copied(int request, int chunk, boolean in) {
        try {
            if (in) {
                bounce.copyIn(chunk, requests.segment[request]);
            } else {
                bounce.copyOut(chunk, requests.segment[request]);
            }
            return true;
        } catch (IllegalStateException | WrongThreadException e) {
            return false;
        }
    }

    private void handleForeign() {
        int count = foreign.count();
        if (count == 0) {
            return;
        }
        for (int i = 0; i < count; i++) {
            complete(foreign.id(i), foreign.status(i));
        }
        foreign.clear();
    }

    private void handleCompletions() {
        int polled;
        do {
            polled = completions.poll();
            for (int i = 0; i < polled; i++) {
                complete(completions.id(i), completions.status(i));
            }
            // A session that goes to sleep must leave none behind: only a later one raises an event.
        } while (polled == completions.batch());
    }

    private void complete(long id, int status) {
        Connection connection = connections[Connection.connectionOf(id)];
        int ended = connection.complete(id, status);
        if (ended > 1) {
            endSuccessful(connection, ended - 1);
        }
        if (ended > 0) {
            end(connection.take(id), status);
        } else if (ended != Connection.LATE) {
            unblock();
        }
    }

    /** Work requests that went before one of their list have ended; most of a list are of one request. */
    private void endSuccessful(Connection connection, int count) {
        for (int left = count; left > 0; ) {
            long tag = connection.firstTag();
            int same = connection.takeSame(tag, left);
            left -= same;
            if (tag >>> TAG_CHUNK_SHIFT != 0) {
                end(tag, WcStatus.SUCCESS);
            } else {
                inFlight -= same;
                requests.outstanding[(int) tag] -= same;
            }
        }
    }

    /** A work request has ended. */
    private void end(long tag, int status) {
        int request = (int) tag;
        inFlight--;
        requests.outstanding[request]--;
        if (tag >>> TAG_CHUNK_SHIFT != 0 || status != WcStatus.SUCCESS) {
            endUnusual(request, (int) (tag >>> TAG_CHUNK_SHIFT) - 1, status);
        }
    }

    private void endUnusual(int request, int chunk, int status) {
        if (status != WcStatus.SUCCESS) {
            requests.status[request] = Status.LOST;
            routes.forget();
        }
        if (chunk != NO_CHUNK) {
            if (status == WcStatus.SUCCESS && !requests.write[request] && !copied(request, chunk, false)) {
                requests.status[request] = Status.SEGMENT_GONE;
            }
            bounce.give(chunk);
        }
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
            if (sequence >= end || !requests.done(request) || head - sequence <= 0
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

    private void record(boolean write, long nanos, int timed) {
        if (write) {
            latency.write(nanos, timed);
        } else {
            latency.read(nanos, timed);
        }
    }

    private void finish(int request) {
        int timed = requests.timed[request];
        if (timed > 0) {
            record(requests.write[request], System.nanoTime() - requests.issuedAt[request], timed);
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
