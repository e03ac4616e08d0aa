package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.latency.OperationLatency;
import io.farheap.migration.RegionTable;
import io.farheap.rpc.BatchConnection;
import io.farheap.rpc.BatchFormat;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A session's requests in batched mode: small ones go into batches, the others take the one-sided path, through
 * {@link SessionEngine}; which of the two is better for those between is measured ({@link PathChoice}). The session
 * calls it inside its gate, in the engine's place.
 *
 * <p>Order. Requests to one server in batches are executed in the order of issue. A small request that overlaps a
 * direct one which is not called back takes the one-sided path too, behind it. A one-sided request that overlaps one in
 * a batch which is not answered waits in the engine's queue until it is. {@link IssueOrder} keep the order of callbacks
 * between the two paths.
 *
 * <p>A batch is sent when it is full; by a poll, when nothing of the session is on its way to that server; or by
 * {@link #send}. A batch of one request that a poll would send becomes a one-sided operation (Redy, section 4.3).
 */
final class SessionBatches implements RequestPath {

    private static final int FIRST_RUNS = 1024;
    /** Not an entry: the segment cannot be read any more, which the one-sided path reports. */
    private static final int GONE = -1;

    private static final long PATIENCE_NANOS = 50_000_000;
    private static final long NO_PATIENCE_NANOS = 1_000_000;

    private final SessionEngine engine;
    private final RegionTable table;
    private final @Nullable OperationLatency latency;
    private final IssueOrder runs = new IssueOrder(FIRST_RUNS);
    private final PathChoice choice = new PathChoice(System::nanoTime);
    private final ScatterGather parts;
    private final RecordGroups groups;
    private final Routes routes;
    /** Those in use. */
    private BatchLane[] lanes = {};
    /** Requests in batches between issue and callback. */
    private int pending;

    /** @param capacity requests of the engine between issue and callback */
    SessionBatches(SessionEngine engine, Routes routes, @Nullable OperationLatency latency, int capacity) {
        this.engine = engine;
        this.routes = routes;
        this.table = routes.table();
        this.latency = latency;
        this.parts = new ScatterGather(capacity);
        this.groups = new RecordGroups(table, engine.maxRecords());
        engine.barrier(new PartPoster.Barrier() {
            @Override
            public boolean present() {
                return pending > 0;
            }

            @Override
            public boolean blocks(long address, long length) {
                return SessionBatches.this.blocks(address, length);
            }
        });
    }

    /** Uses a connection for a server from now on. */
    void add(int server, BatchConnection connection) {
        BatchLane lane = new BatchLane(connection, server);
        choice.inFlight(connection.mostRoom());
        routes.lane(server, lane);
        lanes = Arrays.copyOf(lanes, lanes.length + 1);
        lanes[lanes.length - 1] = lane;
    }

    /**
     * Ends the use of a server's connection, which has been failed: what was in flight on it is lost, and called back
     * by the next polls.
     */
    // There are batches to it: its rings were added, and are removed once.
    @SuppressWarnings("NullAway")
    void remove(int server) {
        BatchLane removed = routes.lane(server);
        lose(removed);
        routes.lane(server, null);
        lanes = Arrays.stream(lanes).filter(lane -> lane != removed).toArray(BatchLane[]::new);
    }

    /** The connection to a server, or null. */
    @Nullable
    BatchConnection connection(int server) {
        BatchLane lane = routes.lane(server);
        return lane == null ? null : lane.connection;
    }

    @Override
    public int pending() {
        return pending + engine.pending();
    }

    @Override
    public boolean conflicts(boolean isWrite, long address, long length) {
        if (engine.conflicts(isWrite, address, length)) {
            return true;
        }
        if (pending > 0) {
            for (BatchLane lane : lanes) {
                if (lane.conflicts(isWrite, address, length)) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    public boolean uses(Buffer buffer) {
        if (engine.uses(buffer)) {
            return true;
        }
        for (BatchLane lane : lanes) {
            if (lane.uses(buffer)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean reaches(long end) {
        return engine.reaches(end) || Arrays.stream(lanes).anyMatch(lane -> lane.reaches(end));
    }

    @Override
    public void sample(RegionHeat heat) {
        engine.sample(heat);
        for (BatchLane lane : lanes) {
            heat.add(lane);
        }
    }

    /** With nothing pending, a request alone is one-sided. */
    @Override
    public int tryExecute(
            boolean write, long address, Buffer buffer, long offset, long length, Completion completion, long token) {
        if (pending > 0) {
            return DECLINED;
        }
        int result = engine.tryExecute(write, address, buffer, offset, length, completion, token);
        if (result == STARTED) {
            runs.direct(engine.tail());
        }
        return result;
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
        Route route = routes.to(write, address, length);
        if (route == null || route.lane == null) {
            return direct(write, address, length, buffer, local, segment, completion, token);
        }
        BatchLane lane = route.lane;
        BatchConnection connection = lane.connection;
        boolean fits = length <= connection.recordBytes();
        boolean measured = fits && isUp(route.connection, connection);
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
                lose(lane);
            }
            return direct(write, address, length, buffer, local, segment, completion, token);
        }
        if (!connection.hasRoom() && !makeRoom(connection)) {
            if (!connection.failed()) {
                return false;
            }
            lose(lane);
            return direct(write, address, length, buffer, local, segment, completion, token);
        }
        long offset = table.offsetOf(address);
        int request = segment == null
                ? add(connection, write, route.regionId, offset, (int) length, local)
                : addSegment(lane, write, route.regionId, offset, segment);
        if (request == GONE) {
            return direct(write, address, length, buffer, local, segment, completion, token);
        }
        lane.fill(request, write, address, length, buffer, local, completion, token);
        if (latency != null) {
            lane.time(request, latency.due());
        }
        runs.add(lane, 1);
        pending++;
        if (measured && buffer != null) {
            choice.issued((int) length, 1);
        }
        if (connection.isFull()) {
            connection.send();
        }
        return true;
    }

    /** Both paths: else the choice is not measured, since what fails fails fast. */
    private static boolean isUp(@Nullable Connection connection, BatchConnection batches) {
        return connection != null && !connection.failed() && !batches.failed();
    }

    /** A record that would fit into a batch. */
    private boolean issueOneSided(
            Route route,
            boolean write,
            long address,
            int length,
            Buffer buffer,
            long local,
            Completion completion,
            long token) {
        if (engine.postAtOnce(route, write, address, length, buffer, local, completion, token)) {
            runs.direct(engine.tail());
        } else if (route.connection != null && route.connection.room() == 0) {
            // To poll is less than to queue it.
            return false;
        } else if (!direct(write, address, length, buffer, local, null, completion, token)) {
            return false;
        }
        choice.issued(length, 1);
        return true;
    }

    /** Whether requests are under way by the other path; those that wait for a migration are not. */
    private boolean busy(boolean oneSided) {
        return oneSided ? pending > 0 : engine.pending() > engine.heldCount();
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
            } catch (IllegalStateException | WrongThreadException e) {
                return GONE;
            }
        }
        int entry = lane.connection.addRead(region, offset, (int) segment.byteSize(), 0);
        lane.segment[entry] = segment;
        return entry;
    }

    /** A full batch may be waiting for room in the send queue. */
    private static boolean makeRoom(BatchConnection connection) {
        return connection.isFull() && connection.send() && connection.hasRoom();
    }

    /**
     * A write in a batch whose answer never came may still take effect, until the server's end is fenced: nothing that
     * the session does later may get there before, so the one-sided path is lost with the rings.
     */
    private void lose(BatchLane lane) {
        if (!lane.lost) {
            lane.lost = true;
            engine.queue().fail(lane.server);
        }
    }

    /**
     * The same for a one-sided write that is lost, before it is called back: the rings of a server whose connection has
     * failed are lost with it.
     */
    private void loseBehindFailed() {
        for (BatchLane lane : lanes) {
            Connection connection = routes.connection(lane.server);
            if (connection != null && connection.failed() && !lane.connection.failed()) {
                lane.connection.fail();
            }
        }
    }

    private boolean direct(
            boolean write,
            long address,
            long length,
            @Nullable Buffer buffer,
            long local,
            @Nullable MemorySegment segment,
            Completion completion,
            long token) {
        if (!engine.issue(write, address, length, buffer, local, segment, completion, token)) {
            return false;
        }
        runs.direct(engine.tail());
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
        if (!engine.issueAtomic(swap, address, compareOrAdd, value, buffer, local, completion, token)) {
            return false;
        }
        runs.direct(engine.tail());
        return true;
    }

    /** Records that meet no obstacle go into batches in groups, the others as requests of their own. */
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
        boolean measured = allUp(length);
        boolean oneSided = measured && choice.oneSided(length);
        if (measured && choice.refuses(length, busy(oneSided))) {
            return false;
        }
        if (oneSided) {
            return issueAllOneSided(write, addresses, count, length, buffer, local, completion, token);
        }
        if (parts.full() || !engine.hasRoomFor(count)) {
            return false;
        }
        for (BatchLane lane : lanes) {
            // What never fits takes the one-sided path.
            if (!lane.connection.failed() && lane.connection.room() < Math.min(count, lane.connection.mostRoom())) {
                return false;
            }
        }
        int whole = parts.begin(count, completion, token);
        if (engine.pending() > 0 || !groups.find(routes, addresses, count, length)) {
            for (int i = 0; i < count; i++) {
                issuePart(write, addresses[i], length, buffer, local + (long) i * length, whole);
            }
            return true;
        }
        if (measured) {
            choice.issued(length, count);
        }
        for (BatchLane lane : lanes) {
            groups.choose(lane.server);
            issueGroup(lane, write, addresses, length, buffer, local, whole);
        }
        return true;
    }

    /** As {@link #isUp}, to every server, for a record that fits into a batch. */
    private boolean allUp(int length) {
        for (BatchLane lane : lanes) {
            if (length > lane.connection.recordBytes() || !isUp(routes.connection(lane.server), lane.connection)) {
                return false;
            }
        }
        return lanes.length > 0;
    }

    /**
     * With nothing in batches, one list. While one-sided requests are under way, to poll is less than to queue its
     * records.
     */
    private boolean issueAllOneSided(
            boolean write,
            long[] addresses,
            int count,
            int length,
            Buffer buffer,
            long local,
            Completion completion,
            long token) {
        if (!engine.postAllAtOnce(write, addresses, count, length, buffer, local, completion, token)
                && (pending == 0 && busy(false)
                        || !engine.issueAll(write, addresses, count, length, buffer, local, completion, token))) {
            return false;
        }
        runs.direct(engine.tail());
        choice.issued(length, count);
        return true;
    }

    /** Into as many batches as it takes. */
    private void issueGroup(
            BatchLane lane, boolean write, long[] addresses, int length, Buffer buffer, long local, int whole) {
        BatchConnection connection = lane.connection;
        int[] which = groups.which;
        for (int done = 0; done < groups.size; ) {
            long at = local + (long) which[done] * length;
            if (!connection.hasRoom() && !makeRoom(connection)) {
                // The send queue is full, or the connection has failed.
                issuePart(write, addresses[which[done++]], length, buffer, at, whole);
                continue;
            }
            int entry = connection.nextEntry();
            int added = connection.addAll(
                    write, which, done, groups.size - done, groups.region, groups.offset, length, local);
            lane.fillGroup(entry, added, write, addresses, which, done, length, buffer, at, parts, whole);
            if (latency != null) {
                lane.time(entry, latency.due(added));
            }
            runs.add(lane, added);
            pending += added;
            done += added;
            if (connection.isFull()) {
                connection.send();
            }
        }
    }

    private void issuePart(boolean write, long address, int length, Buffer buffer, long at, int whole) {
        if (!issue(write, address, length, buffer, at, null, parts, whole)
                && !direct(write, address, length, buffer, at, null, parts, whole)) {
            throw new AssertionError("no room for a record that was counted");
        }
    }

    /** Whether a one-sided request has to wait for one in a batch, which is then on its way. */
    private boolean blocks(long address, long length) {
        for (BatchLane lane : lanes) {
            if (lane.connection.failed()) {
                lose(lane);
            }
            if (!lane.connection.isAnswered() && lane.mayOverlap(address, length)) {
                lane.connection.send();
                return true;
            }
        }
        return false;
    }

    /** Takes answers, makes progress on the one-sided path, runs callbacks and sends what is due. */
    @Override
    public int poll() {
        for (BatchLane lane : lanes) {
            lane.connection.receive();
            if (lane.connection.failed()) {
                lose(lane);
            }
        }
        if (engine.pending() > 0) {
            engine.advance();
            loseBehindFailed();
        }
        int called = callBack();
        for (BatchLane lane : lanes) {
            if (lane.connection.waiting() > 0) {
                sendIfDue(lane);
            }
        }
        return called;
    }

    private int callBack() {
        // What callbacks issue waits for the next poll: it may be done at once, where a server is lost.
        int most = pending();
        int called = 0;
        while (called < most && !runs.isEmpty()) {
            BatchLane lane = runs.lane();
            if (lane != null) {
                int ran = callBack(lane, Math.min(most - called, runs.count()));
                called += ran;
                if (ran == 0) {
                    break;
                }
            } else {
                long end = runs.count();
                called += engine.callBack(end);
                // What its callbacks issued directly has made the run longer, and waits for the next poll.
                if (engine.head() < runs.count()) {
                    return called;
                }
                runs.next();
            }
        }
        return engine.heldCount() > 0 ? called + engine.callBack(engine.head()) : called;
    }

    /**
     * Runs the callbacks of the oldest run as far as it is answered.
     *
     * @return how many ran
     */
    private int callBack(BatchLane lane, long most) {
        BatchConnection connection = lane.connection;
        if (connection.failed()) {
            // Before any of it is called back as lost, and something else is let past it.
            lose(lane);
        }
        int ready = (int) Math.min(connection.ready(), most);
        if (ready == 0) {
            return 0;
        }
        boolean succeeded = connection.succeeded();
        int first = connection.head();
        int entry = first;
        engine.inCallback(true);
        try {
            for (int end = first + ready; entry < end; ) {
                int status = succeeded ? Status.OK : status(connection.status(entry));
                if (lane.segment[entry] != null) {
                    status = copyOut(lane, entry, status);
                }
                if (latency != null) {
                    lane.record(entry, latency);
                }
                Completion completion = lane.completion[entry];
                long token = lane.token[entry];
                int group = lane.group[entry];
                // All of it is over before the callback, which may throw.
                entry += group;
                pending -= group;
                if (group == 1) {
                    completion.completed(token, status);
                } else {
                    endGroup(lane, entry - group, group, succeeded, status);
                }
            }
        } finally {
            engine.inCallback(false);
            connection.finish(entry - first);
            runs.take(entry - first);
        }
        return entry - first;
    }

    /** @param status of the first of them */
    private void endGroup(BatchLane lane, int first, int records, boolean succeeded, int status) {
        lane.group[first] = 1;
        if (!succeeded) {
            for (int entry = first + 1; entry < first + records; entry++) {
                status = Math.max(status, status(lane.connection.status(entry)));
            }
        }
        parts.completed((int) lane.token[first], status, records);
    }

    /**
     * A region that the server says is not ours was taken away with the lease: a migration drains its batches before.
     */
    private static int status(byte answered) {
        return answered == BatchFormat.DONE ? Status.OK : Status.LOST;
    }

    private static int copyOut(BatchLane lane, int entry, int status) {
        MemorySegment segment = lane.segment[entry];
        lane.segment[entry] = null;
        if (status != Status.OK) {
            return status;
        }
        try {
            lane.connection.copyTo(entry, segment);
            return Status.OK;
        } catch (IllegalStateException | WrongThreadException e) {
            return Status.SEGMENT_GONE;
        }
    }

    private void sendIfDue(BatchLane lane) {
        BatchConnection connection = lane.connection;
        if (connection.failed()) {
            lose(lane);
        } else if (connection.isFull()) {
            connection.send();
        } else if (connection.unanswered() == 0 && engine.queue().inFlight(lane.server) == 0) {
            if (connection.waiting() > 1 || !goAlone(lane)) {
                connection.send();
            }
        }
    }

    /**
     * Makes the one request of an open batch a one-sided operation.
     *
     * @return false where something is in its way
     */
    private boolean goAlone(BatchLane lane) {
        BatchConnection connection = lane.connection;
        int entry = connection.first();
        if (lane.buffer[entry] == null
                || !isUp(routes.connection(lane.server), connection)
                || !engine.hasRoomFor(1)
                || !runs.withdraw(lane)) {
            return false;
        }
        connection.withdraw();
        pending--;
        // What is timed is timed from here on: the wait for company was none of the operation's.
        if (!direct(
                lane.write[entry],
                lane.address[entry],
                lane.length[entry],
                lane.buffer[entry],
                lane.local[entry],
                null,
                lane.completion[entry],
                lane.token[entry])) {
            throw new AssertionError("no room for a request that was counted");
        }
        return true;
    }

    @Override
    public void send() {
        for (BatchLane lane : lanes) {
            lane.connection.send();
        }
        engine.send();
    }

    /** What is in a batch is sent. */
    @Override
    public void abandonUnposted() {
        engine.abandonUnposted();
        send();
    }

    @Override
    public long listen() {
        engine.listen();
        long patience = 0;
        for (BatchLane lane : lanes) {
            if (!lane.connection.isAnswered()) {
                lane.connection.requestNotification();
                // A server that is gone raises no event: polls find out.
                long wait = lane.connection.requestWakeUp() ? PATIENCE_NANOS : NO_PATIENCE_NANOS;
                patience = patience == 0 ? wait : Math.min(patience, wait);
            }
        }
        return patience;
    }

    @Override
    public int maxRecords() {
        return engine.maxRecords();
    }

    @Override
    public void resumeHeld() {
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

    @Override
    public boolean inCallback() {
        return engine.inCallback();
    }
}
