package io.farheap.cache;

import io.farheap.latency.LatencyTracker;
import io.farheap.latency.OperationLatency;
import io.farheap.lifetime.Closing;
import io.farheap.migration.MigrationParticipant;
import io.farheap.remote.CompletionEvents;
import io.farheap.remote.RemoteServer;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes a cache. Requests belong to a session, and a session to one thread at a time: the first that uses
 * it, until it calls {@link #release}. A thread that uses a session of another gets an {@link IllegalStateException}.
 *
 * <h2>Asynchronous requests</h2>
 *
 * {@link #read(long, Buffer, long, long, Completion, long) read} and {@link #write(long, Buffer, long, long,
 * Completion, long) write} take a range of any size at any address, across region boundaries, and return at once:
 * {@code true}, or {@code false} where the session's queue is full, in which case nothing has happened and a
 * {@link #poll} makes room. They allocate nothing. Requests make progress, and callbacks run, when the session is
 * polled. Until its callback runs, a request's memory belongs to the request.
 *
 * <h2>Order</h2>
 *
 * A request takes effect, and is called back, after the earlier requests of its session that overlap it. Callbacks
 * otherwise come in the order of issue, except that a request which a migration holds does not hold back later ones
 * that do not overlap it. Among sessions there is no order but this: a read returns what the last completed write to
 * that address stored, for each aligned 8 bytes; a larger read may be torn by a write in flight. In a cache with
 * {@linkplain CacheBuilder#resilience resilience} sessions wait for each other's writes of a page (beyond 2^20 pages
 * several share a word, and wait together): one with requests pending is to be polled.
 *
 * <h2>Blocking requests</h2>
 *
 * {@link #readBlocking} and {@link #writeBlocking} return when the request has finished. A virtual thread parks at once
 * and never spins its carrier; a platform thread polls for some 50 us first. They are not interrupted: an interrupt is
 * kept for the caller. Callbacks of other requests of the session run meanwhile; an exception of one comes out of the
 * blocking call, whose own request then goes on, so its memory must stay untouched until {@link #drain} has returned.
 */
public final class Session implements AutoCloseable {

    /** The cache, as its sessions know it; also their buffers' owner. */
    interface Owner extends Buffer.Owner {

        LatencyTracker latency();

        /** Null where paths sleep by themselves. */
        @Nullable
        CompletionEvents events();

        /** Throws where the calling thread is in a callback of one of the cache's sessions. */
        void refuseInCallback();

        /** Ends a session. */
        void close(Session session);

        /** Fails all connections of a session. */
        void loseAll(Session session);

        /**
         * What calls of procedures need.
         *
         * @throws UnsupportedOperationException where the cache has none
         */
        CallingCache calls();
    }

    private static final VarHandle OWNER;

    static {
        try {
            OWNER = MethodHandles.lookup().findVarHandle(Session.class, "owner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final long SPIN_NANOS = 50_000;
    /** For which a thread sleeps that no event will wake. */
    private static final long UNWOKEN_NANOS = 1_000_000;

    private final Owner cache;
    private final LongSupplier capacity;
    private final @Nullable OperationLatency latency;
    private final OwnerGate gate = new OwnerGate();
    /**
     * Whether it is the cache's own: a client thread's, for the requests of others, or one for what is beyond its end.
     */
    private final boolean worker;
    /** Replaced under the gate's claim, as what it is made of is. */
    private DataPath dataPath;

    private RequestPath path;
    private Links links;
    private final Blocked blocked = new Blocked();

    private final SessionParticipant participant = new SessionParticipant(this::links, this::wake, this::mayResume);
    private final ReentrantLock destroying = new ReentrantLock();

    /** From its first call on; written inside the gate. */
    private @Nullable SessionCalls calls;
    /** Whether one that is pending may be a write. */
    private boolean wrote;

    private @Nullable Thread owner;
    private boolean closing;
    private boolean closed;
    /** The owner, while it sleeps or is about to. */
    private volatile @Nullable Thread sleeper;

    private volatile boolean resumed;
    /** Requests that were refused are taken again. Under the gate. */
    private boolean reopened;

    private long eventsToken;

    /**
     * It has yet to be told {@linkplain #use what to use}, before anybody else knows of it.
     *
     * @param capacity bytes up to which it may read and write, now
     */
    @SuppressWarnings("NullAway.Init")
    Session(Owner cache, LongSupplier capacity, @Nullable OperationLatency latency, boolean worker) {
        this.cache = cache;
        this.capacity = capacity;
        this.latency = latency;
        this.worker = worker;
    }

    @Nullable
    OperationLatency latency() {
        return latency;
    }

    OwnerGate gate() {
        return gate;
    }

    boolean worker() {
        return worker;
    }

    /** Before anybody else knows of it. */
    void use(DataPath first) {
        dataPath = first;
        path = first.requests();
        links = first.links();
    }

    /** Takes no requests from now on, as if the queue were full. */
    void quiesce() {
        gate.claim();
        if (!closed) {
            path = new QuiescingPath(dataPath.requests());
        }
        gate.unclaim();
        wake();
    }

    /** Whether nothing is pending any more. */
    boolean quiet() {
        gate.claim();
        boolean quiet = closed || path.pending() == 0;
        gate.unclaim();
        return quiet;
    }

    /** Takes requests again. */
    void goOn() {
        gate.claim();
        if (!closed) {
            path = dataPath.requests();
            reopened = true;
        }
        gate.unclaim();
        wake();
    }

    /**
     * Is to use another data path, once it {@linkplain #goOn goes on}; nothing may be pending.
     *
     * @return the one to close before that
     */
    DataPath replace(DataPath next) {
        destroying.lock();
        try {
            gate.claim();
            DataPath previous = closed ? next : dataPath;
            long events = 0;
            if (!closed) {
                events = eventsToken;
                eventsToken = 0;
                use(next);
                path = new QuiescingPath(path);
            }
            gate.unclaim();
            forget(events);
            wake();
            return previous;
        } finally {
            destroying.unlock();
        }
    }

    /**
     * On a client thread: issues what another session's thread has handed over.
     *
     * @return how many requests
     */
    int take(HandedRequests handed) {
        boolean entered = enter();
        try {
            return handed.issueTo(path);
        } finally {
            exit(entered);
        }
    }

    /**
     * Reads into a registered buffer, with no copy.
     *
     * @param address in the cache, from 0
     * @param offset in the buffer
     * @param length bytes, at least 1
     * @param token handed to the callback
     * @return false where the queue is full, and nothing has happened
     * @throws IndexOutOfBoundsException where the range is not within the cache, or not within the buffer
     * @throws IllegalStateException where the session, the cache or the buffer is closed, or another thread owns the
     *     session
     */
    public boolean read(long address, Buffer destination, long offset, long length, Completion completion, long token) {
        return issue(false, address, destination, offset, length, completion, token);
    }

    /** Writes from a registered buffer, with no copy. Parameters and errors are those of {@link #read}. */
    public boolean write(long address, Buffer source, long offset, long length, Completion completion, long token) {
        return issue(true, address, source, offset, length, completion, token);
    }

    /**
     * Reads {@code destination.byteSize()} bytes into any segment, on the heap too, through a bounce buffer: one copy.
     *
     * @throws IllegalArgumentException where the segment is read-only, or belongs to another thread
     */
    public boolean read(long address, MemorySegment destination, Completion completion, long token) {
        if (destination.isReadOnly()) {
            throw new IllegalArgumentException("the destination segment is read-only");
        }
        return issue(false, address, destination, completion, token);
    }

    /** Writes all of a segment, on the heap too, through a bounce buffer: one copy. */
    public boolean write(long address, MemorySegment source, Completion completion, long token) {
        return issue(true, address, source, completion, token);
    }

    /**
     * Reads many records of one length into a registered buffer: record {@code i} from {@code addresses[i]} to
     * {@code offset + i * length}. They are one request, with one callback when all are there, and no order among them;
     * they go to each server as one list, or into its batches, so a record costs a fraction of what a request of its
     * own does. A later request waits for the records that it overlaps, and not for all: where a migration holds some,
     * it may be called back before this one.
     *
     * @param addresses in the cache; not kept
     * @param count how many of them, from 1 to half of {@link CacheBuilder#requests}; up to the queue depth they are
     *     posted at once
     * @param length of each record, in bytes, at least 1
     * @return false where the queue is full, and nothing has happened
     * @throws IllegalArgumentException where {@code count} is out of its range; other errors are those of {@link #read}
     */
    public boolean readAll(
            long[] addresses,
            int count,
            Buffer destination,
            long offset,
            int length,
            Completion completion,
            long token) {
        return issueAll(false, addresses, count, destination, offset, length, completion, token);
    }

    /**
     * Writes many records of one length from a registered buffer. Parameters and errors are those of {@link #readAll}.
     */
    public boolean writeAll(
            long[] addresses, int count, Buffer source, long offset, int length, Completion completion, long token) {
        return issueAll(true, addresses, count, source, offset, length, completion, token);
    }

    /**
     * Makes progress, and runs the callbacks of requests that have finished.
     *
     * @return how many callbacks ran
     */
    public int poll() {
        enterOutsideCallback();
        try {
            return progress();
        } finally {
            gate.exit();
        }
    }

    /**
     * Reads, and returns when the data is in the buffer.
     *
     * @throws CacheException where the request failed
     */
    public void readBlocking(long address, Buffer destination, long offset, long length) {
        int result = tryExecute(false, address, destination, offset, length);
        if (result == RequestPath.DONE) {
            return;
        }
        blocked.begin();
        if (result == RequestPath.DECLINED) {
            while (!read(address, destination, offset, length, blocked, blocked.ticket)) {
                awaitProgress();
            }
        }
        blocked.await("read", address, length);
    }

    /**
     * Writes, and returns when the write has taken effect.
     *
     * @throws CacheException where the request failed
     */
    public void writeBlocking(long address, Buffer source, long offset, long length) {
        int result = tryExecute(true, address, source, offset, length);
        if (result == RequestPath.DONE) {
            return;
        }
        blocked.begin();
        if (result == RequestPath.DECLINED) {
            while (!write(address, source, offset, length, blocked, blocked.ticket)) {
                awaitProgress();
            }
        }
        blocked.await("write", address, length);
    }

    /** As {@link #readBlocking(long, Buffer, long, long)}, into any segment. */
    public void readBlocking(long address, MemorySegment destination) {
        blocked.begin();
        while (!read(address, destination, blocked, blocked.ticket)) {
            awaitProgress();
        }
        blocked.await("read", address, destination.byteSize());
    }

    /** As {@link #writeBlocking(long, Buffer, long, long)}, from any segment. */
    public void writeBlocking(long address, MemorySegment source) {
        blocked.begin();
        while (!write(address, source, blocked, blocked.ticket)) {
            awaitProgress();
        }
        blocked.await("write", address, source.byteSize());
    }

    /** Returns when no request of the session is pending; their callbacks have run. */
    public void drain() {
        while (pending() > 0 || owes()) {
            awaitProgress();
        }
    }

    /** As {@link RequestPath#owes}. */
    boolean owes() {
        boolean entered = enter();
        try {
            return path.owes();
        } finally {
            exit(entered);
        }
    }

    /** As {@link RequestPath#unsettled}. */
    boolean unsettled() {
        boolean entered = enter();
        try {
            return path.unsettled();
        } finally {
            exit(entered);
        }
    }

    /**
     * Polls until at least one callback has run, or until the thread is unparked; sleeps where that takes long. With
     * nothing pending it sleeps until it is unparked.
     */
    public void awaitProgress() {
        // An interrupt makes parking return at once, so that waiting would spin: it is kept for the caller.
        boolean interrupted = Thread.interrupted();
        try {
            pollOrSleep();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void pollOrSleep() {
        if (poll() > 0) {
            return;
        }
        if (!Thread.currentThread().isVirtual()) {
            long deadline = System.nanoTime() + SPIN_NANOS;
            while (System.nanoTime() - deadline < 0) {
                Thread.onSpinWait();
                if (poll() > 0) {
                    return;
                }
            }
        }
        sleep();
    }

    /**
     * Sends what waits for others to fill a batch, or a list of work requests. A poll does so only when nothing else of
     * the session is on its way to that server.
     */
    public void flush() {
        boolean entered = enter();
        try {
            path.send();
            if (calls != null) {
                calls.send();
            }
        } finally {
            exit(entered);
        }
    }

    /**
     * Calls a procedure, with the whole cache as its footprint; see {@link #call(Procedure, long, long, long, Buffer,
     * long, int, long, int, CallCompletion, long)}.
     */
    public boolean call(
            Procedure procedure,
            long address,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            CallCompletion completion,
            long token) {
        return call(
                procedure,
                address,
                0,
                capacity.getAsLong(),
                buffer,
                argumentsAt,
                argumentBytes,
                resultAt,
                resultBytes,
                completion,
                token);
    }

    /**
     * Calls a procedure on the server that has an address; where it meets what that server does not have, it goes on at
     * the server that does. Returns at once, as {@link #read(long, Buffer, long, long, Completion, long) read} does.
     *
     * <p>The call takes effect after earlier requests and calls of the session that its footprint overlaps, and later
     * ones after it; of two that only read none waits for the other. Where that cannot be yet, this returns false.
     * Calls are called back as they finish. What was registered as {@link Procedures#UNORDERED} waits for nothing, and
     * nothing waits for it.
     *
     * <p>A call runs at most once: one whose server was lost meanwhile ends as {@code LOST}. One of a procedure that
     * only reads may be made again.
     *
     * @param address in the cache
     * @param from the footprint's first address; an access outside of it ends the call
     * @param span the footprint's bytes, at least 1
     * @param buffer has the arguments, and takes the result; both are the call's until its callback
     * @param argumentsAt where the arguments are
     * @param argumentBytes 0 to 4096
     * @param resultAt where the result goes
     * @param resultBytes how long it may be, 0 to 4096
     * @param token handed to the callback
     * @return false where there is no room, or an earlier request is in the way: poll, and try again
     * @throws IndexOutOfBoundsException where a range is not within the cache, or not within the buffer
     * @throws IllegalArgumentException where the procedure is not registered, or belongs to another cache
     * @throws IllegalStateException as {@link #read(long, Buffer, long, long, Completion, long) read}
     * @throws UnsupportedOperationException where the cache is coded
     */
    public boolean call(
            Procedure procedure,
            long address,
            long from,
            long span,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            CallCompletion completion,
            long token) {
        checkBuffer(buffer, argumentsAt, argumentBytes);
        checkBuffer(buffer, resultAt, resultBytes);
        if (completion == null) {
            throw new NullPointerException("a call needs a completion");
        }
        boolean entered = enter();
        try {
            checkRange(address, 1);
            checkRange(from, span);
            refuseWhileClosing();
            if (buffer.closed()) {
                throw new IllegalStateException("the buffer is closed");
            }
            SessionCalls made = calls();
            made.check(procedure, argumentBytes, resultBytes);
            return !waitsFor(procedure)
                    && made.call(
                            procedure,
                            address,
                            from,
                            span,
                            buffer,
                            argumentsAt,
                            argumentBytes,
                            resultAt,
                            resultBytes,
                            completion,
                            token);
        } finally {
            exit(entered);
        }
    }

    /** Whether earlier requests are in a call's way: any, or where it only reads, any that may write. */
    private boolean waitsFor(Procedure procedure) {
        if (procedure.unordered()) {
            return false;
        }
        boolean pending = path.pending() > 0 || path.owes();
        wrote &= pending;
        return pending && (wrote || !procedure.readsOnly());
    }

    private SessionCalls calls() {
        SessionCalls made = calls;
        if (made == null) {
            made = new SessionCalls(cache.calls(), this::issueForCall, this::wake);
            calls = made;
        }
        return made;
    }

    /** For a call that runs here. */
    private boolean issueForCall(
            boolean write, long address, long length, Buffer buffer, long local, Completion completion, long token) {
        wrote |= write;
        return path.issue(write, address, length, buffer, local, null, completion, token);
    }

    private boolean callsInTheWay(boolean write, long address, long length) {
        wrote |= write;
        return calls != null && calls.blocks(write, address, length);
    }

    /** Calls a procedure, and returns when it has ended. */
    public CallResult callBlocking(
            Procedure procedure,
            long address,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes) {
        BlockedCall waiting = new BlockedCall();
        while (!call(procedure, address, buffer, argumentsAt, argumentBytes, resultAt, resultBytes, waiting, 0)) {
            awaitProgress();
        }
        return waiting.await();
    }

    /** The callback of a blocking call. */
    private final class BlockedCall implements CallCompletion {

        private @Nullable CallResult result;

        @Override
        public void completed(long token, int status, int code, int resultBytes) {
            result = new CallResult(status, code, resultBytes);
        }

        CallResult await() {
            CallResult ended = result;
            while (ended == null) {
                awaitProgress();
                ended = result;
            }
            return ended;
        }
    }

    /** Requests, and calls, between issue and callback. */
    public int pending() {
        boolean entered = enter();
        try {
            return path.pending() + (calls == null ? 0 : calls.pending());
        } finally {
            exit(entered);
        }
    }

    /** Requests that wait for a migration. */
    public int held() {
        boolean entered = enter();
        try {
            return path.heldCount() + (calls == null ? 0 : calls.kept());
        } finally {
            exit(entered);
        }
    }

    /** Lets another thread use the session from now on; the caller hands it over by whatever means threads have. */
    public void release() {
        enterOutsideCallback();
        gate.exit();
        OWNER.setRelease(this, null);
    }

    /**
     * Finishes what has been posted, ends the rest with {@link Status#CLOSED}, runs all callbacks, and closes. Requests
     * that callbacks issue meanwhile are refused with {@link IllegalStateException}. Idempotent. Exceptions of
     * callbacks come out of it after the session is closed.
     *
     * @throws IllegalStateException where the session belongs to another thread, which has not called {@link #release}
     *     and runs: nothing has changed then
     */
    @Override
    public void close() {
        cache.refuseInCallback();
        if (isClosed()) {
            return;
        }
        // Outside the try: who may not use the session must not end it either.
        own();
        RuntimeException thrown = null;
        try {
            enter();
            try {
                closing = true;
                path.abandonUnposted();
                if (calls != null) {
                    calls.abandonUnposted();
                }
            } finally {
                gate.exit();
            }
            while (pending() > 0) {
                try {
                    awaitProgress();
                } catch (VerbsException e) {
                    // The device itself: nothing will complete any more.
                    throw e;
                } catch (RuntimeException e) {
                    thrown = suppress(thrown, e);
                }
            }
        } finally {
            cache.close(this);
        }
        if (thrown != null) {
            throw thrown;
        }
    }

    /** The session, as a migration sees it. */
    MigrationParticipant participant() {
        return participant;
    }

    private Links links() {
        return links;
    }

    /** A migration lets held requests go on, if there are any: the session looks at its next poll. */
    private void mayResume() {
        if (path.mayHold()) {
            resumed = true;
            wake();
        }
    }

    /** Connects to a server, before a region of it enters the table. */
    void connect(RemoteServer server) {
        links.connect(server);
    }

    /** Ends the connection to a server, if there is one; what is still in flight on it is failed. */
    void disconnect(RemoteServer server) {
        links.disconnect(server);
        gate.claim();
        try {
            if (calls != null) {
                calls.forget(server);
            }
        } finally {
            gate.unclaim();
        }
        wake();
    }

    /** What it has of a server whose lease is lost is lost, from whatever thread. */
    void lose(RemoteServer server) {
        gate.claim();
        Links current = links;
        if (calls != null) {
            calls.lose(server);
        }
        gate.unclaim();
        current.lose(server);
        wake();
    }

    /** All that it has on its way to servers is lost, and nothing of it comes to pass once they are fenced. */
    void loseAll() {
        cache.loseAll(this);
    }

    /** Whether a request uses a buffer that the cache has marked closed. */
    boolean uses(Buffer buffer) {
        gate.claim();
        try {
            return path.uses(buffer) || calls != null && calls.uses(buffer);
        } finally {
            gate.unclaim();
        }
    }

    /** Whether a request that has not been called back goes beyond an address of the cache, from whatever thread. */
    boolean reaches(long end) {
        gate.claim();
        try {
            return !closed && (path.reaches(end) || calls != null && calls.reaches(end));
        } finally {
            gate.unclaim();
        }
    }

    /** Shows where its requests go. Any thread, outside of the gate: the tables that it reads are there for good. */
    void sample(RegionHeat heat) {
        path.sample(heat);
    }

    /**
     * Frees everything, from whatever thread, and returns when that is done. The owner's next call is told that it is
     * closed.
     */
    void destroy() {
        destroying.lock();
        try {
            gate.claim();
            boolean first = !closed;
            closed = true;
            gate.unclaim();
            if (first) {
                free();
            }
        } finally {
            destroying.unlock();
        }
    }

    private void free() {
        wake();
        // Calls after what makes accesses for them.
        Closing.all(() -> forget(eventsToken), dataPath, calls, () -> {
            if (latency != null) {
                cache.latency().remove(latency);
            }
        });
    }

    private void forget(long events) {
        CompletionEvents all = cache.events();
        if (events != 0 && all != null) {
            all.remove(events);
        }
    }

    /**
     * The short path of a request that meets no obstacle; whatever is unusual is left to the ordinary path, which
     * reports it.
     */
    private int tryExecute(boolean write, long address, Buffer buffer, long offset, long length) {
        if (owner != Thread.currentThread() || (address | offset | length - 1) < 0 || inCallback()) {
            return RequestPath.DECLINED;
        }
        gate.enter();
        try {
            return !closed
                            && !closing
                            && length <= capacity.getAsLong() - address
                            && length <= buffer.usableBytes() - offset
                            && buffer.owner() == cache
                            && !callsInTheWay(write, address, length)
                    ? path.tryExecute(write, address, buffer, offset, length, blocked, blocked.ticket + 1)
                    : RequestPath.DECLINED;
        } finally {
            gate.exit();
        }
    }

    private boolean issue(
            boolean write, long address, Buffer buffer, long offset, long length, Completion completion, long token) {
        checkBuffer(buffer, offset, length);
        checkCompletion(completion);
        boolean entered = enter();
        try {
            checkRange(address, length);
            refuseWhileClosing();
            if (buffer.closed()) {
                throw new IllegalStateException("the buffer is closed");
            }
            return !callsInTheWay(write, address, length)
                    && path.issue(write, address, length, buffer, buffer.address() + offset, null, completion, token);
        } finally {
            exit(entered);
        }
    }

    private boolean issueAll(
            boolean write,
            long[] addresses,
            int count,
            Buffer buffer,
            long offset,
            int length,
            Completion completion,
            long token) {
        if (count < 1 || count > Math.min(addresses.length, path.maxRecords())) {
            throw new IllegalArgumentException(count + " records of " + addresses.length
                    + " addresses; a request may have from 1 to " + path.maxRecords());
        }
        checkBuffer(buffer, offset, (long) count * length);
        checkCompletion(completion);
        boolean entered = enter();
        try {
            for (int i = 0; i < count; i++) {
                checkRange(addresses[i], length);
            }
            refuseWhileClosing();
            if (buffer.closed()) {
                throw new IllegalStateException("the buffer is closed");
            }
            if (callsInTheWay(write, addresses, count, length)) {
                return false;
            }
            return path.issueAll(write, addresses, count, length, buffer, buffer.address() + offset, completion, token);
        } finally {
            exit(entered);
        }
    }

    private boolean issue(boolean write, long address, MemorySegment segment, Completion completion, long token) {
        if (!segment.isAccessibleBy(Thread.currentThread())) {
            throw new IllegalArgumentException("the segment belongs to another thread");
        }
        checkCompletion(completion);
        boolean entered = enter();
        try {
            checkRange(address, segment.byteSize());
            refuseWhileClosing();
            return !callsInTheWay(write, address, segment.byteSize())
                    && path.issue(write, address, segment.byteSize(), null, 0, segment, completion, token);
        } finally {
            exit(entered);
        }
    }

    /**
     * Inside the gate: whoever makes the cache smaller claims every gate afterwards, and so finds every request that
     * was let through before.
     */
    private void checkRange(long address, long length) {
        long end = capacity.getAsLong();
        if (address < 0 || length < 1 || length > end - address) {
            throw new IndexOutOfBoundsException(length + " bytes at address " + address + "; the cache has " + end
                    + " bytes, and a request at least 1");
        }
    }

    private void checkBuffer(Buffer buffer, long offset, long length) {
        if (buffer.owner() != cache) {
            throw new IllegalArgumentException("the buffer belongs to another cache");
        }
        if (offset < 0 || length > buffer.bytes() - offset) {
            throw new IndexOutOfBoundsException(
                    "bytes " + offset + " to " + (offset + length) + " of a buffer of " + buffer.bytes());
        }
    }

    private static void checkCompletion(Completion completion) {
        if (completion == null) {
            throw new NullPointerException("a request needs a completion");
        }
    }

    private void refuseWhileClosing() {
        if (closing) {
            throw new IllegalStateException("the session is closing");
        }
    }

    private boolean callsInTheWay(boolean write, long[] addresses, int count, int length) {
        wrote |= write;
        if (calls != null) {
            for (int i = 0; i < count; i++) {
                if (calls.blocks(write, addresses[i], length)) {
                    return true;
                }
            }
        }
        return false;
    }

    private int progress() {
        if (resumed) {
            resumed = false;
            path.resumeHeld();
        }
        SessionCalls made = calls;
        return made == null ? path.poll() : path.poll() + made.poll();
    }

    /**
     * @return to be handed to {@link #exit}: whether the gate was entered, and not before a callback that is running
     *     now
     */
    private boolean enter() {
        own();
        boolean entered = !inCallback();
        if (entered) {
            gate.enter();
        }
        if (closed) {
            exit(entered);
            throw new IllegalStateException("the session is closed");
        }
        return entered;
    }

    private boolean inCallback() {
        return path.inCallback() || calls != null && calls.inCallback();
    }

    private void exit(boolean entered) {
        if (entered) {
            gate.exit();
        }
    }

    private void enterOutsideCallback() {
        refuseInCallback();
        enter();
    }

    /** Throws where the calling thread is in a callback of this session. */
    void refuseInCallback() {
        if (owner == Thread.currentThread() && inCallback()) {
            throw new IllegalStateException(
                    "a callback may issue requests, but not poll, block on, release or close its session,"
                            + " nor create, close or move anything of its cache");
        }
    }

    /** Makes the calling thread the owner, or throws. */
    private void own() {
        Thread current = Thread.currentThread();
        if (owner != current) {
            own(current);
        }
    }

    private void own(Thread current) {
        Thread previous = (Thread) OWNER.compareAndExchange(this, null, current);
        if (previous == null || previous == current) {
            return;
        }
        if (previous.isAlive() || OWNER.compareAndExchange(this, previous, current) != previous) {
            throw new IllegalStateException("the session belongs to thread " + previous.getName()
                    + "; it must call release() before " + current.getName() + " may use the session");
        }
    }

    private boolean isClosed() {
        gate.claim();
        try {
            return closed;
        } finally {
            gate.unclaim();
        }
    }

    /** Sleeps until something happens, or until the thread is unparked. */
    void sleep() {
        long patience;
        RequestPath sleeping;
        CompletionEvents events = cache.events();
        sleeper = Thread.currentThread();
        try {
            enterOutsideCallback();
            try {
                if (reopened) {
                    // Perhaps after a request was refused and before we were known to sleep.
                    reopened = false;
                    return;
                }
                if (eventsToken == 0 && dataPath.channel() != null && events != null) {
                    eventsToken = events.add(dataPath.channel(), this::wake);
                }
                sleeping = path;
                patience = sleeping.listen();
                if (calls != null) {
                    patience = least(patience, calls.listen());
                }
                // What completed before raises no event.
                if (progress() > 0) {
                    return;
                }
            } finally {
                gate.exit();
            }
            sleeping.park(this, events != null && events.dead() ? UNWOKEN_NANOS : patience);
        } finally {
            sleeper = null;
        }
    }

    /** Of two times of which 0 stands for ever. */
    private static long least(long one, long other) {
        return one == 0 || other == 0 ? one + other : Math.min(one, other);
    }

    void wake() {
        Thread thread = sleeper;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    private static RuntimeException suppress(@Nullable RuntimeException first, RuntimeException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }

    /** The callback of the one blocking request that a thread can be in. */
    private final class Blocked implements Completion {

        /** Tells this request from an earlier one whose wait was cut short by an exception of another callback. */
        private long ticket;

        private boolean done;
        private int status;

        void begin() {
            refuseInCallback();
            ticket++;
            done = false;
        }

        @Override
        public void completed(long token, int status) {
            if (token == ticket) {
                this.status = status;
                done = true;
            }
        }

        void await(String operation, long address, long length) {
            // What is owed keeps others from writing, and nobody may poll for a while.
            while (!done || owes()) {
                awaitProgress();
            }
            if (status != Status.OK) {
                throw new CacheException(
                        "cannot " + operation + " " + length + " bytes at address " + address + ": "
                                + Status.describe(status),
                        status);
            }
        }
    }
}
