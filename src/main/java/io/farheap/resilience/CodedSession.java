package io.farheap.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.resilience.contract.CodedCompletion;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.session.CodedRequests;
import io.farheap.resilience.session.CodedSessionContext;
import io.farheap.resilience.session.PageOps;
import io.farheap.resilience.table.SpaceState;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;

/**
 * Reads and writes of a {@link CodedSpace}, of any length at any address, by one thread at a time. A request takes
 * effect after the earlier ones of its session that overlap it; callbacks come in the order of issue. A read returns
 * what the last completed write to that address stored, for each aligned 8 bytes, whichever session wrote it. A larger
 * read may be torn between pages, never within one.
 *
 * <p>The session's thread itself copies to and from the memory of a request, before the request's callback. The memory
 * may therefore be of any kind, on the heap too, and nothing touches it after the callback. The device reads and writes
 * only the session's own registered memory. A request allocates nothing.
 */
public final class CodedSession implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(CodedSession.class.getName());

    /** Splits in flight on all connections together; further ones wait. */
    private static final int MOST_IN_FLIGHT = 1024;

    /** Slots in addition to one for each operation: they hold late splits. */
    private static final int LATE_SLOTS = 136;

    private static final int POLLS_PER_TICK = 16;
    private static final int SPINS = 4_000;
    private static final long NAP_NANOS = 200_000;
    /** Between polls of the writes that continue after the session was closed. */
    private static final long REST_NANOS = 1_000_000;

    private final SpaceState space;
    private final RemoteQueue queue;
    private final CodedSessionContext parts;
    private final CodedRequests requests;
    private final PageOps ops;
    private final Runnable waker;
    /** Polls since something ended, while the session is being closed. */
    private int idle;

    private int polls;
    /**
     * Whether it has slept since the latest look at times. Then the next poll looks, as 16 polls that each sleep last
     * longer than the clock advances in one step.
     */
    private boolean slept;

    private boolean inCallback;
    private boolean closed;
    /** Whether {@link #abandonUnposted} was called, and {@link #closingSince} is when. */
    private boolean closing;

    private long closingSince;

    /** The number of the latest blocking call. The request of an earlier one may end later, if a callback threw. */
    private long blockingCall;

    private boolean blockingEnded;

    private int blockingStatus;
    private final CodedCompletion blocking = (token, status) -> {
        if (token == blockingCall) {
            blockingEnded = true;
            blockingStatus = status;
        }
    };

    /**
     * @param queue of {@link #connect}; the session closes it from now on
     * @param most requests between issue and callback, a power of two
     */
    CodedSession(SpaceState space, RemoteQueue queue, int most, long seed) {
        this.space = space;
        this.queue = queue;
        this.requests = new CodedRequests(most);
        Resilience resilience = space.resilience;
        int slots = PageOps.CAPACITY + LATE_SLOTS;
        int splits = resilience.splits();
        try (CloseStack opened = new CloseStack()) {
            opened.add(queue);
            RegisteredBuffer buffer =
                    opened.add(space.memory.register((long) slots * splits * resilience.splitBytes()));
            this.parts = new CodedSessionContext(space, queue, buffer, slots, seed);
            opened.keep();
        }
        this.ops = new PageOps(space, parts, requests);
        this.waker = queue::wake;
        space.sessions.add(parts.lines);
        space.counts.add(parts.counts);
        space.words.add(waker);
    }

    /** Opens the queue of a session, connected to all servers. Takes as long as the servers take to answer. */
    static RemoteQueue connect(SpaceState space) {
        int depth = Math.min(PageOps.CAPACITY, space.memory.maxQueueDepth());
        return space.memory.openQueue(new QueueOptions(depth, MOST_IN_FLIGHT, QueueOptions.DEFAULT.inlineBytes()));
    }

    /**
     * Begins to read.
     *
     * @param address in the space, in bytes
     * @param memory receives the bytes, from {@code at} on; its content is undefined before the callback
     * @param token for the callback
     * @return false if too many requests are pending: nothing has happened, poll and try again
     * @throws IndexOutOfBoundsException if a range is outside the space or the memory
     * @throws IllegalArgumentException if the memory is read-only
     * @throws IllegalStateException if the session is closed
     */
    public boolean read(
            long address, MemorySegment memory, long at, long length, CodedCompletion completion, long token) {
        return issue(false, address, memory, at, length, completion, token);
    }

    /** Begins to write. The memory must not change before the callback. Otherwise as {@link #read}. */
    public boolean write(
            long address, MemorySegment memory, long at, long length, CodedCompletion completion, long token) {
        return issue(true, address, memory, at, length, completion, token);
    }

    private boolean issue(
            boolean write,
            long address,
            MemorySegment memory,
            long at,
            long length,
            CodedCompletion completion,
            long token) {
        if (closed) {
            throw new IllegalStateException("the session is closed");
        }
        if (length < 1 || address < 0 || address > space.capacity() - length) {
            throw new IndexOutOfBoundsException(length + " bytes at " + address + " are outside the space, which has "
                    + space.capacity() + " bytes; a request has at least 1");
        }
        if (at < 0 || at > memory.byteSize() - length) {
            throw new IndexOutOfBoundsException(
                    length + " bytes at " + at + " are outside the memory, which has " + memory.byteSize() + " bytes");
        }
        if (!write && memory.isReadOnly()) {
            throw new IllegalArgumentException("a read into a read-only segment; give it one that may be written");
        }
        if (requests.isFull()) {
            return false;
        }
        CodedRequests.CodedRequest request = requests.add();
        request.write = write;
        request.address = address;
        request.length = length;
        request.cut = 0;
        request.open = 0;
        request.status = CodedStatus.OK;
        request.memory = memory;
        request.at = at;
        request.completion = completion;
        request.token = token;
        ops.cut();
        return true;
    }

    /**
     * Makes progress, and runs callbacks.
     *
     * @return how many ran
     * @throws IllegalStateException if a callback calls it
     */
    public int poll() {
        if (inCallback) {
            throw new IllegalStateException("poll from a callback; issue requests there, and return");
        }
        int came = queue.poll(ops);
        parts.lines.mend(parts.clock());
        polls++;
        boolean idle = came == 0 && !ops.isEmpty();
        if (slept || polls % POLLS_PER_TICK == 0 && (idle || polls % (8 * POLLS_PER_TICK) == 0)) {
            slept = false;
            ops.tick();
        }
        ops.retryHeld();
        ops.cut();
        if (closing && space.isCloseOver(closingSince)) {
            ops.abandonAll();
        }
        return callBack();
    }

    private int callBack() {
        inCallback = true;
        try {
            return requests.callBack();
        } finally {
            inCallback = false;
        }
    }

    /**
     * Reads, and returns when the bytes are there, with the request's status. Callbacks of earlier requests run
     * meanwhile.
     *
     * @return one of {@link CodedStatus}
     * @throws IllegalStateException if a callback calls it; other errors are those of {@link #read}
     */
    public int readBlocking(long address, MemorySegment memory, long at, long length) {
        return block(false, address, memory, at, length);
    }

    /**
     * Writes, and returns with the request's status when the write has ended and no split is owed. It awaits the owed
     * splits because the caller may not poll for a while, and pages whose splits are owed are closed to other writers.
     * Callbacks of earlier requests run meanwhile.
     */
    public int writeBlocking(long address, MemorySegment memory, long at, long length) {
        return block(true, address, memory, at, length);
    }

    private int block(boolean write, long address, MemorySegment memory, long at, long length) {
        if (inCallback) {
            throw new IllegalStateException("a blocking request from a callback");
        }
        blockingEnded = false;
        long call = ++blockingCall;
        while (!issue(write, address, memory, at, length, blocking, call)) {
            poll();
        }
        int idle = 0;
        while (!blockingEnded || ops.owing() > 0) {
            if (poll() > 0) {
                idle = 0;
            } else if (++idle > SPINS) {
                await(NAP_NANOS);
            } else {
                Thread.onSpinWait();
            }
        }
        return blockingStatus;
    }

    /** Sleeps until something may have happened, at most this long, in ns; the caller polls afterwards. */
    public void await(long nanos) {
        slept = true;
        if (ops.held() == 0) {
            queue.await(ops.isEmpty() ? nanos : Math.min(nanos, NAP_NANOS));
            return;
        }
        space.words.beginWaiting();
        try {
            ops.retryHeld();
            queue.await(ops.held() == 0 ? 0 : Math.min(nanos, NAP_NANOS));
        } finally {
            space.words.endWaiting();
        }
    }

    /** Polls until no request is pending, and no write that was called back early owes a split. */
    public void drain() {
        int idle = 0;
        while (requests.pending() > 0 || ops.owing() > 0) {
            if (poll() > 0) {
                idle = 0;
            } else if (++idle > SPINS) {
                await(NAP_NANOS);
            }
        }
    }

    /**
     * Requests between issue and callback. If writes complete early ({@link Resilience#writeWaitsFor}), a caller must
     * {@linkplain #drain drain} the session before it stops polling, even if this is 0.
     */
    public int pending() {
        return requests.pending();
    }

    /** How many more requests can be issued now. */
    public int room() {
        return requests.room();
    }

    /** Whether writes that have completed still have splits on their way; if so, the session must be polled. */
    public boolean owes() {
        return ops.owing() > 0;
    }

    /** Whether splits are on their way, awaited by a request or not, or a connection is to be fenced or reconnected. */
    public boolean unsettled() {
        return parts.anyOutstanding() || parts.lines.unsettled();
    }

    /**
     * Prepares to close the session: ends the requests that have nothing on their way. These are the ones that have not
     * begun, and the ones that wait for another session's write, for servers that can be reached or, if strict, for new
     * slabs; requests that begin to wait for one of these later are ended then. Their status is
     * {@link CodedStatus#CLOSED}, at the next poll. After ten seconds the requests whose splits are on their way end in
     * the same way.
     */
    public void abandonUnposted() {
        if (!closing) {
            closing = true;
            closingSince = System.nanoTime();
        }
        requests.closeUncut();
        ops.abandonUnposted();
    }

    /**
     * The same for the requests with some tokens, while the session's others continue. Ends those that have nothing on
     * their way now. After ten seconds it ends them all, and runs their callbacks, even before those of earlier
     * requests with other tokens. To be called repeatedly until they have ended. Writes whose splits are on their way
     * continue, since other operations on their pages wait for them.
     *
     * @param since when they were first to end, by {@link System#nanoTime}
     */
    public void abandon(LongPredicate tokens, long since) {
        boolean all = space.isCloseOver(since);
        requests.closeUncut(tokens);
        ops.abandon(tokens, all);
        if (all) {
            inCallback = true;
            try {
                requests.callBack(tokens);
            } finally {
                inCallback = false;
            }
        }
    }

    /**
     * The operations that it has posted since it was opened, one for each split, late ones included. The session's
     * thread.
     */
    public VerbCounts posted() {
        return queue.posted();
    }

    /** How many operations wait for a stripe word, for an earlier request, for room or for a connection. */
    public int held() {
        return ops.held();
    }

    /** Whether a request that is pending uses some memory. */
    public boolean uses(MemorySegment memory) {
        return requests.uses(memory);
    }

    /** Whether a callback is running now. */
    public boolean inCallback() {
        return inCallback;
    }

    /** Splits that are posted and have not come back. */
    int outstanding() {
        return parts.queue.inFlight();
    }

    /** Whether nothing of it is under way, owed splits included. */
    boolean isQuiet() {
        return ops.isEmpty() && ops.held() == 0;
    }

    /**
     * Ends requests that have nothing on their way with {@link CodedStatus#CLOSED}, awaits the others, and closes.
     * Idempotent. A request that has not ended within ten seconds also completes as CLOSED. If it is a write with
     * splits on their way, which happens when more servers cannot be reached than a range can do without, the write
     * continues in the background, since other operations on its page wait for it; it ends once enough servers are
     * back, or are lost. An exception from a callback is thrown after everything is closed.
     *
     * @throws IllegalStateException if called from a callback; nothing is closed then
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        if (inCallback) {
            throw new IllegalStateException("close from a callback; close once it has returned");
        }
        closed = true;
        List<AutoCloseable> ends = new ArrayList<>();
        boolean going = tryTo(this::abandonUnposted, ends);
        while (going && (!isQuiet() || requests.pending() > 0) && !space.isCloseOver(closingSince)) {
            going = tryTo(this::pollOrNap, ends);
        }
        tryTo(ops::abandonAll, ends);
        int before;
        do {
            before = requests.pending();
            tryTo(this::callBack, ends);
        } while (requests.pending() > 0 && requests.pending() < before);
        ends.add(ops.anyActive() ? () -> space.unfinished.add(this::finish) : this::free);
        ends.add(space.open::decrementAndGet);
        Closeables.all(ends);
    }

    /** Continues the writes that had not ended when the session was closed. Runs on a thread of the space. */
    private void finish(BooleanSupplier over) {
        try {
            while (ops.anyActive() && !over.getAsBoolean()) {
                slept = true;
                poll();
                LockSupport.parkNanos(REST_NANOS);
            }
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "writes of a closed session cannot continue", e);
            ops.giveUp();
        } finally {
            free();
        }
    }

    private void free() {
        Closeables.all(
                () -> space.words.remove(waker),
                parts.lines::beginClosing,
                queue,
                () -> space.sessions.remove(parts.lines),
                () -> space.counts.ended(parts.counts),
                parts::close);
    }

    private void pollOrNap() {
        idle = poll() > 0 ? 0 : idle + 1;
        if (idle > SPINS) {
            await(NAP_NANOS);
        }
    }

    /**
     * Runs a step of close, and keeps its exception, which is thrown at the end.
     *
     * @return whether another step may follow: not if this one threw, unless it ran a callback
     */
    private boolean tryTo(Runnable step, List<AutoCloseable> ends) {
        int pending = requests.pending();
        try {
            step.run();
            return true;
        } catch (RuntimeException | Error e) {
            ends.add(() -> {
                throw e;
            });
            return requests.pending() < pending;
        }
    }
}
