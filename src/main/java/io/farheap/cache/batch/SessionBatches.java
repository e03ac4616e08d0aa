package io.farheap.cache.batch;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.onesided.PartPoster;
import io.farheap.cache.onesided.RequestRecovery;
import io.farheap.cache.onesided.SessionEngine;
import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.Request;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.order.ScatterGather;
import io.farheap.cache.route.BatchLane;
import io.farheap.cache.route.Route;
import io.farheap.cache.route.Routes;
import io.farheap.latency.OperationLatency;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.queue.QueuePoster;
import io.farheap.remote.server.ServerRing;
import io.farheap.rpc.batch.BatchConnection;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A session's requests in batched mode: small ones go into batches, large ones take the one-sided path, through
 * {@link SessionEngine}; for sizes in between, {@link PathChoice} measures which path is better. The session calls this
 * inside its gate, in place of the engine.
 *
 * <p><b>Order.</b> A server executes the requests in batches in the order of issue. Between the paths: a small request
 * that may overlap a one-sided request which has not been called back takes the one-sided path too, behind it. A
 * one-sided request that may overlap a request in an unanswered batch waits in the engine's queue until the batch is
 * answered ({@link PartPoster.Barrier}). {@link IssueOrder} keeps the order of callbacks over both paths.
 *
 * <p>A batch is sent when it is full; by a poll, if no operation of the session is in flight to that server; or by
 * {@link #send}. A batch of one request that a poll would send becomes a one-sided operation (Redy, section 4.3).
 */
public final class SessionBatches implements RequestPath {

    private static final int FIRST_RUNS = 1024;
    /** In place of an entry: the segment cannot be read any more, which the one-sided path reports. */
    private static final int GONE = -1;

    private final SessionEngine engine;
    private final RegionTable table;
    private final @Nullable OperationLatency latency;
    private final IssueOrder runs = new IssueOrder(FIRST_RUNS);
    private final PathChoice choice = new PathChoice(System::nanoTime);
    private final ScatterGather parts;
    private final RecordGroups groups;
    private final Routes routes;
    private final BatchLanes lanes;
    private final BatchCallbacks callbacks;
    private final FailedBatches failed;
    /** Whether the records of a request are being issued. */
    private boolean dividing;

    /**
     * @param oneSided through which the engine posts
     * @param capacity how many requests of the engine may be between issue and callback
     * @param recovery of the session's requests
     */
    public SessionBatches(
            SessionEngine engine,
            QueuePoster oneSided,
            Routes routes,
            @Nullable OperationLatency latency,
            int capacity,
            RequestRecovery recovery) {
        this.engine = engine;
        this.routes = routes;
        this.table = routes.table();
        this.latency = latency;
        this.parts = new ScatterGather(capacity);
        this.groups = new RecordGroups(table, engine.maxRecords());
        this.lanes = new BatchLanes(routes, oneSided, recovery);
        this.failed = new FailedBatches(lanes, runs, engine);
        this.callbacks = new BatchCallbacks(lanes, runs, engine, parts, latency);
        engine.barrier(new PartPoster.Barrier() {
            @Override
            public boolean present() {
                return lanes.pending() > 0;
            }

            @Override
            public boolean blocks(long address, long length) {
                return lanes.blocks(address, length);
            }
        });
    }

    /** Uses a connection for a server from now on. */
    void add(RemoteServer server, ServerRing end) {
        lanes.add(server, end);
        choice.inFlight(end.connection().mostRoom());
    }

    /** Ends the use of a server's connection, which has been failed: the next poll moves its requests. */
    void remove(int server) {
        lanes.remove(server);
    }

    /**
     * Loses a server's lane if its connection has failed. Another thread that has found out calls this, before requests
     * can take another way.
     */
    void loseFailed(int server) {
        BatchLane lane = routes.lane(server);
        if (lane != null && lane.connection.failed()) {
            lanes.lose(lane);
        }
    }

    /** The connection to a server, or null. */
    public @Nullable BatchConnection connection(int server) {
        return lanes.connection(server);
    }

    @Override
    public int pending() {
        return lanes.pending() + engine.pending();
    }

    @Override
    public String describe() {
        return engine.describe() + lanes.describe();
    }

    @Override
    public boolean conflicts(boolean isWrite, long address, long length) {
        return engine.conflicts(isWrite, address, length) || lanes.conflicts(isWrite, address, length);
    }

    @Override
    public boolean uses(RequestBuffer buffer) {
        return engine.uses(buffer) || lanes.uses(buffer);
    }

    @Override
    public boolean reaches(long end) {
        return engine.reaches(end) || lanes.reaches(end);
    }

    @Override
    public void sample(RegionHeat heat) {
        engine.sample(heat);
        lanes.sample(heat);
    }

    /** A single request with none pending is one-sided. */
    @Override
    public int tryExecute(
            boolean write,
            long address,
            RequestBuffer buffer,
            long offset,
            long length,
            Completion completion,
            long token) {
        if (lanes.pending() > 0) {
            return DECLINED;
        }
        int result = engine.tryExecute(write, address, buffer, offset, length, completion, token);
        if (result == STARTED) {
            runs.direct(engine.order().tail());
        }
        return result;
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
        moveLost();
        Route route = routes.to(write, address, length);
        if (route == null || route.lane == null) {
            return direct(write, address, length, buffer, local, segment, completion, token);
        }
        BatchLane lane = route.lane;
        BatchConnection connection = lane.connection;
        boolean fits = length <= connection.recordBytes();
        boolean measured = fits && BatchLanes.isUp(route.connection, connection);
        if (measured && buffer != null) {
            boolean oneSided = choice.oneSided((int) length);
            if (choice.refuses((int) length, busy(oneSided))) {
                return false;
            }
            if (oneSided) {
                return issueOneSided(route, write, address, (int) length, buffer, local, completion, token);
            }
        }
        if (!fits || engine.pending() > 0 && engine.mayOverlap(address, length)) {
            if (connection.failed()) {
                lanes.lose(lane);
            }
            return direct(write, address, length, buffer, local, segment, completion, token);
        }
        if (!connection.hasRoom() && !BatchLanes.makeRoom(connection)) {
            if (!connection.failed()) {
                return false;
            }
            lanes.lose(lane);
            return direct(write, address, length, buffer, local, segment, completion, token);
        }
        long offset = table.offsetOf(address);
        int entry = segment == null
                ? add(connection, write, route.regionId, offset, (int) length, local)
                : addSegment(lane, write, route.regionId, offset, segment);
        if (entry == GONE) {
            return direct(write, address, length, buffer, local, segment, completion, token);
        }
        Request request = lane.begin(entry, address);
        request.fill(write, address, length, buffer, local, completion, token);
        request.time(latency);
        runs.add(lane, 1);
        lanes.pendingBy(1);
        if (measured && buffer != null) {
            choice.issued((int) length, 1);
        }
        if (connection.isFull()) {
            connection.send();
        }
        return true;
    }

    /**
     * Another thread may have replaced connections since the last poll: what was in batches there comes before what is
     * issued now. Not between the records of a request: they have been counted.
     */
    private void moveLost() {
        if (lanes.fresh() && !dividing) {
            failed.move();
        }
    }

    /** Issues a record that would fit into a batch as a one-sided request. */
    private boolean issueOneSided(
            Route route,
            boolean write,
            long address,
            int length,
            RequestBuffer buffer,
            long local,
            Completion completion,
            long token) {
        if (engine.postAtOnce(route, write, address, length, buffer, local, completion, token)) {
            runs.direct(engine.order().tail());
        } else if (route.connection != null && route.connection.room() == 0) {
            // Refused: for the caller, polling costs less than queueing the request here.
            return false;
        } else if (!direct(write, address, length, buffer, local, null, completion, token)) {
            return false;
        }
        choice.issued(length, 1);
        return true;
    }

    /** Whether requests are in flight on the other path; those that wait for a migration do not count. */
    private boolean busy(boolean oneSided) {
        return oneSided ? lanes.pending() > 0 : engine.pending() > engine.heldCount();
    }

    private static int add(BatchConnection connection, boolean write, int region, long offset, int length, long local) {
        return write
                ? connection.addWrite(region, offset, length, local)
                : connection.addRead(region, offset, length, local);
    }

    private static int addSegment(BatchLane lane, boolean write, int region, long offset, MemorySegment segment) {
        if (write) {
            try {
                return lane.connection.addWrite(region, offset, segment);
            } catch (IllegalStateException | WrongThreadException | InternalError e) {
                return GONE;
            }
        }
        int entry = lane.connection.addRead(region, offset, (int) segment.byteSize(), 0);
        lane.get(entry).segment = segment;
        return entry;
    }

    private boolean direct(
            boolean write,
            long address,
            long length,
            @Nullable RequestBuffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token) {
        if (!engine.issue(write, address, length, buffer, local, segment, completion, token)) {
            return false;
        }
        runs.direct(engine.order().tail());
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
        moveLost();
        if (!engine.issueAtomic(swap, address, compareOrAdd, value, buffer, local, completion, token)) {
            return false;
        }
        runs.direct(engine.order().tail());
        return true;
    }

    /** Adds records that meet no obstacle to batches in groups; the others become requests of their own. */
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
        moveLost();
        boolean measured = lanes.allUp(length);
        boolean oneSided = measured && choice.oneSided(length);
        if (measured && choice.refuses(length, busy(oneSided))) {
            return false;
        }
        if (oneSided) {
            return issueAllOneSided(write, addresses, count, length, buffer, local, completion, token);
        }
        if (parts.full() || !engine.hasRoomFor(count) || !lanes.haveRoomFor(count)) {
            return false;
        }
        int whole = parts.begin(count, write, completion, token);
        dividing = true;
        try {
            if (engine.pending() > 0 || !groups.find(routes, addresses, count, length)) {
                for (int i = 0; i < count; i++) {
                    issuePart(write, addresses[i], length, buffer, local + (long) i * length, whole);
                }
                return true;
            }
            if (measured) {
                choice.issued(length, count);
            }
            for (BatchLane lane : lanes.all()) {
                groups.choose(lane.server);
                issueGroup(lane, write, addresses, length, buffer, local, whole);
            }
            return true;
        } finally {
            dividing = false;
        }
    }

    /**
     * Posts the records as one list if no request is in a batch. Refused while one-sided requests are in flight and
     * prevent that: polling costs less than queueing each record.
     */
    private boolean issueAllOneSided(
            boolean write,
            long[] addresses,
            int count,
            int length,
            RequestBuffer buffer,
            long local,
            Completion completion,
            long token) {
        if (!engine.postAllAtOnce(write, addresses, count, length, buffer, local, completion, token)
                && (lanes.pending() == 0 && busy(false)
                        || !engine.issueAll(write, addresses, count, length, buffer, local, completion, token))) {
            return false;
        }
        runs.direct(engine.order().tail());
        choice.issued(length, count);
        return true;
    }

    /** Adds a group to as many batches as it needs. */
    private void issueGroup(
            BatchLane lane, boolean write, long[] addresses, int length, RequestBuffer buffer, long local, int whole) {
        BatchConnection connection = lane.connection;
        int[] which = groups.which;
        for (int done = 0; done < groups.size; ) {
            long at = local + (long) which[done] * length;
            if (!connection.hasRoom() && !BatchLanes.makeRoom(connection)) {
                // The send queue is full, or the connection has failed.
                issuePart(write, addresses[which[done++]], length, buffer, at, whole);
                continue;
            }
            int entry = connection.nextEntry();
            int added = connection.addAll(
                    write, which, done, groups.size - done, groups.region, groups.offset, length, local);
            Request group = lane.beginGroup(entry, added, addresses, which, done);
            group.fill(write, addresses[which[done]], length, buffer, at, parts, whole);
            group.time(latency, added);
            runs.add(lane, added);
            lanes.pendingBy(added);
            done += added;
            if (connection.isFull()) {
                connection.send();
            }
        }
    }

    private void issuePart(boolean write, long address, int length, RequestBuffer buffer, long at, int whole) {
        if (!issue(write, address, length, buffer, at, null, parts, whole)
                && !direct(write, address, length, buffer, at, null, parts, whole)) {
            throw new AssertionError("no room for a record that was counted");
        }
    }

    /** Takes answers, makes progress on the one-sided path, runs callbacks and sends batches that are due. */
    @Override
    public int poll() {
        lanes.receive();
        failed.move();
        if (engine.pending() > 0) {
            engine.advance();
            lanes.loseBehindFailed();
            if (failed.move()) {
                engine.advance();
            }
        }
        int called = callbacks.run();
        for (BatchLane lane : lanes.all()) {
            if (lane.connection.waiting() > 0) {
                sendIfDue(lane);
            }
        }
        return called;
    }

    private void sendIfDue(BatchLane lane) {
        BatchConnection connection = lane.connection;
        if (connection.failed()) {
            lanes.lose(lane);
        } else if (connection.isFull()) {
            connection.send();
        } else if (lanes.isIdle(lane)) {
            if (connection.waiting() > 1 || !goAlone(lane)) {
                connection.send();
            }
        }
    }

    /**
     * Turns the only request of an open batch into a one-sided operation.
     *
     * @return false if something is in its way
     */
    private boolean goAlone(BatchLane lane) {
        BatchConnection connection = lane.connection;
        int entry = connection.first();
        Request request = lane.get(entry);
        if (request.buffer == null
                || !BatchLanes.isUp(routes.connection(lane.server), connection)
                || !engine.hasRoomFor(1)
                || !runs.withdraw(lane)) {
            return false;
        }
        connection.withdraw();
        lanes.pendingBy(-1);
        // The latency is measured from here on: the wait for other requests is no part of the operation's.
        if (!direct(
                request.write,
                request.address,
                request.length,
                request.buffer,
                request.local,
                null,
                request.completion,
                request.token)) {
            throw new AssertionError("no room for a request that was counted");
        }
        return true;
    }

    @Override
    public void send() {
        lanes.send();
        engine.send();
    }

    /** Ends requests that the engine has not posted; requests in batches are sent. */
    @Override
    public void abandonUnposted() {
        engine.abandonUnposted();
        send();
    }

    @Override
    public void abandon(Completion whose, long since) {
        engine.abandon(whose, since);
    }

    @Override
    public long listen() {
        engine.listen();
        return lanes.listen();
    }

    @Override
    public long longestSleep() {
        return engine.longestSleep();
    }

    @Override
    public void prepareCopies() {
        engine.prepareCopies();
    }

    @Override
    public int maxRecords() {
        return engine.maxRecords();
    }

    @Override
    public void resumeHeld() {
        // A thread that has left a server has notified this session.
        failed.move();
        engine.resumeHeld();
    }

    @Override
    public int heldCount() {
        return engine.heldCount();
    }

    @Override
    public boolean waits(boolean write, long address, long length) {
        return engine.waits(write, address, length);
    }

    @Override
    public boolean mayHold() {
        return engine.mayHold();
    }
}
