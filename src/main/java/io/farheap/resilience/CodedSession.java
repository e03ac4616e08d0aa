package io.farheap.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import io.farheap.remote.CompletionHandler;
import io.farheap.remote.Outcome;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.VerbCounts;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads and writes of a {@link CodedSpace}, of any length at any address, by one thread at a time. A request takes
 * effect after the earlier ones of its session that overlap it; callbacks come in the order of issue. A read returns
 * what the last completed write to that address stored, for each aligned 8 bytes, whichever session wrote; a larger one
 * may be torn between pages, never within one.
 *
 * <p>The memory of a request is read before its callback, or written before it, by this thread alone: it may be of any
 * kind, on the heap too, and nothing touches it afterwards. What the device reads and writes is the session's own.
 * Nothing is allocated by a request.
 */
public final class CodedSession implements AutoCloseable {

    /** Pages that are under way at once. */
    private static final int OPERATIONS = 128;

    /** Splits of all of them; more wait for their turn. */
    private static final int MOST_IN_FLIGHT = 1024;

    /** Slots beside one for each operation: those of late splits. */
    private static final int LATE_SLOTS = 136;

    private static final int POLLS_PER_TICK = 16;
    private static final int SPINS = 4_000;
    private static final long NAP_NANOS = 200_000;
    private static final long CLOSE_NANOS = 10_000_000_000L;
    private static final Requests.Request NOBODY = new Requests.Request();

    private final SpaceState space;
    private final RemoteQueue queue;
    private final Parts parts;
    private final Gather gather;
    private final PageReads reads;
    private final PageWrites writes;
    private final Requests requests;
    private final Order order = new Order(OPERATIONS);
    private final CompletionHandler handler = this::partEnded;
    private final Runnable waker;

    private final PageOp[] ops = new PageOp[OPERATIONS];
    private final int[] free = new int[OPERATIONS];
    private int freeCount;
    /** Operations that nothing will tell when they can go on, in the order of issue. */
    private final PageOp[] waiting = new PageOp[OPERATIONS];

    private int waitingCount;
    /** Writes that have been called back and have not all their splits yet: their words are taken until they do. */
    private int owing;

    /** Polls since something ended, while it is being closed. */
    private int idle;

    private int polls;
    /** Since the latest look at times: 16 polls, each with a sleep, are longer than the clock goes on at once. */
    private boolean slept;

    private boolean inCallback;
    private boolean closed;

    /** The number of the latest blocking call: an earlier one's request may end later, where a callback threw. */
    private long blockingCall;

    private boolean blockingEnded;

    private int blockingStatus;
    private final CodedCompletion blocking = (token, status) -> {
        if (token == blockingCall) {
            blockingEnded = true;
            blockingStatus = status;
        }
    };

    /** @param most requests between issue and callback, a power of two */
    CodedSession(SpaceState space, int most, long seed) {
        this.space = space;
        this.requests = new Requests(most);
        Resilience resilience = space.resilience;
        int slots = OPERATIONS + LATE_SLOTS;
        int splits = resilience.splits();
        int depth = Math.min(OPERATIONS, space.memory.maxQueueDepth());
        try (CloseStack opened = new CloseStack()) {
            this.queue = opened.add(space.memory.openQueue(
                    new QueueOptions(depth, MOST_IN_FLIGHT, QueueOptions.DEFAULT.inlineBytes())));
            RegisteredBuffer buffer =
                    opened.add(space.memory.register((long) slots * splits * resilience.splitBytes()));
            this.parts = new Parts(space, queue, buffer, slots, seed);
            opened.keep();
        }
        this.gather = new Gather(parts);
        this.reads = new PageReads(parts, gather);
        this.writes = new PageWrites(parts, gather, this::calledEarly);
        for (int i = OPERATIONS - 1; i >= 0; i--) {
            ops[i] = new PageOp(i);
            free[freeCount++] = i;
        }
        this.waker = queue::wake;
        space.sessions.add(parts.lines);
        space.counts.add(parts.counts);
        space.words.add(waker);
    }

    /**
     * Begins to read.
     *
     * @param address in the space, in bytes
     * @param memory where the bytes go, at {@code at}; not to be looked at before the callback
     * @param token for the callback
     * @return false where too many requests are pending: nothing has happened, poll and try again
     * @throws IndexOutOfBoundsException where a range is outside the space or the memory
     * @throws IllegalArgumentException where the memory is read-only
     */
    public boolean read(
            long address, MemorySegment memory, long at, long length, CodedCompletion completion, long token) {
        return issue(false, address, memory, at, length, completion, token);
    }

    /** Begins to write; the memory is not to be changed before the callback. Otherwise as {@link #read}. */
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
        Requests.Request request = requests.add();
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
        cut();
        return true;
    }

    /** Makes operations of requests, in their order, and begins them. */
    private void cut() {
        while (freeCount > 0) {
            Requests.Request request = requests.cutting();
            if (request == null) {
                return;
            }
            PageOp op = ops[free[--freeCount]];
            op.begin();
            op.request = requests.cuttingPlace();
            aim(op, request);
            request.open++;
            request.cut += op.bytes;
            order.add(op);
            step(op, begin(op, request));
        }
    }

    private void aim(PageOp op, Requests.Request request) {
        Resilience resilience = space.resilience;
        int pageBytes = resilience.pageBytes();
        int splitBytes = resilience.splitBytes();
        long address = request.address + request.cut;
        op.write = request.write;
        op.page = address / pageBytes;
        op.range = (int) (op.page / space.pagesPerSlab);
        op.slabOffset = op.page % space.pagesPerSlab * splitBytes;
        op.pageFrom = (int) (address % pageBytes);
        op.bytes = (int) Math.min(pageBytes - op.pageFrom, request.length - request.cut);
        op.memoryAt = request.cut;
        int firstSplit = op.pageFrom / splitBytes;
        int lastSplit = (op.pageFrom + op.bytes - 1) / splitBytes;
        boolean one = firstSplit == lastSplit;
        op.touched = (2 << lastSplit) - (1 << firstSplit);
        op.columnFrom = one ? op.pageFrom % splitBytes : 0;
        op.columnBytes = one ? op.bytes : splitBytes;
        op.whole = op.bytes == pageBytes || resilience.dataSplits() == 1;
        if (!op.write) {
            op.want = op.touched;
        } else {
            op.want = one ? op.touched | space.code.parity() : space.code.data();
        }
    }

    private int begin(PageOp op, Requests.Request request) {
        if (order.waits(op)) {
            return PageReads.NOT_YET;
        }
        return op.write ? writes.begin(op, request) : reads.begin(op, request);
    }

    private Requests.Request requestOf(PageOp op) {
        return op.request < 0 ? NOBODY : requests.at(op.request);
    }

    /** What becomes of an operation after it was looked at. */
    private void step(PageOp op, int status) {
        if (status != PageReads.NOT_YET) {
            end(op, status);
            return;
        }
        Slot slot = op.slot;
        boolean tellsNobody = op.state != PageOp.GATHERING && op.state != PageOp.SENDING
                || op.failed != 0
                || slot != null && slot.unposted != 0;
        if (tellsNobody && !op.listed) {
            op.listed = true;
            waiting[waitingCount++] = op;
        }
    }

    private void end(PageOp op, int status) {
        op.active = false;
        owing -= op.called ? 1 : 0;
        order.remove(op);
        if (op.request >= 0) {
            requests.ended(op.request, status);
        }
        if (op.listed) {
            // It leaves the list, and is free, when that is next gone through.
            op.state = PageOp.ENDED;
        } else {
            free[freeCount++] = op.index;
        }
    }

    private void calledEarly(PageOp op) {
        requests.ended(op.request, CodedStatus.OK);
        op.request = -1;
        owing++;
    }

    private void partEnded(long tag, int outcome) {
        if (Lines.isReconnect(tag)) {
            parts.lines.reconnected(tag, outcome, parts.clock());
            return;
        }
        int split = (int) tag & Parts.SPLIT_MASK;
        Slot slot = parts.slot((int) (tag >>> Parts.SPLIT_BITS));
        boolean done = outcome == Outcome.DONE;
        if (!done) {
            parts.lines.broke(slot.slabs[split].region().server(), parts.clock());
        }
        int waits = parts.returned(slot, split);
        if (waits == Slot.NOBODY) {
            return;
        }
        PageOp op = ops[waits];
        int status;
        if (op.state == PageOp.GATHERING) {
            status = op.write
                    ? writes.arrived(op, slot, split, done, requestOf(op))
                    : reads.arrived(op, slot, split, done, requestOf(op));
        } else {
            status = writes.written(op, slot, split, done);
        }
        step(op, status);
    }

    /** Tries again what nothing tells. */
    private void goThroughWaiting() {
        int count = waitingCount;
        waitingCount = 0;
        for (int i = 0; i < count; i++) {
            PageOp op = waiting[i];
            op.listed = false;
            if (op.state == PageOp.ENDED) {
                free[freeCount++] = op.index;
            } else {
                step(op, again(op));
            }
        }
    }

    private int again(PageOp op) {
        Slot slot = op.slot;
        if (op.state == PageOp.WAITING) {
            return begin(op, requestOf(op));
        }
        if (op.state == PageOp.GATHERING && slot != null) {
            gather.retry(op, slot);
            int found = gather.look(op, slot);
            return op.write
                    ? writes.gathered(op, slot, requestOf(op), found)
                    : reads.after(op, slot, requestOf(op), found);
        }
        return writes.again(op, requestOf(op));
    }

    /** Looks at times: what is late, and whose servers are gone. */
    private void tick() {
        long now = parts.step();
        parts.lines.tick(parts.clock());
        for (PageOp op : ops) {
            Slot slot = op.slot;
            if (slot == null) {
                continue;
            }
            if (op.state == PageOp.GATHERING && !op.hedged && now - op.hedgeAt >= 0) {
                gather.hedge(op, slot);
                int found = gather.look(op, slot);
                step(
                        op,
                        op.write
                                ? writes.gathered(op, slot, requestOf(op), found)
                                : reads.after(op, slot, requestOf(op), found));
            } else if (op.state == PageOp.SENDING) {
                step(op, writes.tick(op, slot));
            }
        }
    }

    /**
     * Makes progress, and runs callbacks.
     *
     * @return how many ran
     */
    public int poll() {
        if (inCallback) {
            throw new IllegalStateException("poll from a callback; issue requests there, and return");
        }
        int came = queue.poll(handler);
        parts.lines.mend(parts.clock());
        polls++;
        boolean idle = came == 0 && freeCount < OPERATIONS;
        if (slept || polls % POLLS_PER_TICK == 0 && (idle || polls % (8 * POLLS_PER_TICK) == 0)) {
            slept = false;
            tick();
        }
        if (waitingCount > 0) {
            goThroughWaiting();
        }
        if (freeCount > 0) {
            cut();
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

    /** Reads, and returns when the bytes are there. Callbacks of earlier requests run meanwhile. */
    public int readBlocking(long address, MemorySegment memory, long at, long length) {
        return block(false, address, memory, at, length);
    }

    /**
     * Writes, and returns when that is done, and no split is owed: nobody may poll for a while then, and pages that a
     * session owes are kept from other writers. Callbacks of earlier requests run meanwhile.
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
        while (!blockingEnded || owing > 0) {
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

    /** Sleeps until something may have happened, at most so many ns; to be polled then. */
    public void await(long nanos) {
        slept = true;
        if (waitingCount == 0) {
            queue.await(freeCount == OPERATIONS ? nanos : Math.min(nanos, NAP_NANOS));
            return;
        }
        space.words.beginWaiting();
        try {
            goThroughWaiting();
            queue.await(waitingCount == 0 ? 0 : Math.min(nanos, NAP_NANOS));
        } finally {
            space.words.endWaiting();
        }
    }

    /** Polls until no request is pending, and no write that was called back early owes a split. */
    public void drain() {
        int idle = 0;
        while (requests.pending() > 0 || owing > 0) {
            if (poll() > 0) {
                idle = 0;
            } else if (++idle > SPINS) {
                await(NAP_NANOS);
            }
        }
    }

    /**
     * Requests between issue and callback. Where writes are called back early ({@link Resilience#writeWaitsFor}) a
     * session that is to rest at 0 is to {@linkplain #drain drain} first.
     */
    public int pending() {
        return requests.pending();
    }

    /** How many more requests it takes now. */
    public int room() {
        return requests.room();
    }

    /** Whether writes that have been called back have splits that are not there yet: it is to be polled until not. */
    public boolean owes() {
        return owing > 0;
    }

    /** Whether splits are to come that nobody waits for. */
    public boolean unsettled() {
        return parts.anyOutstanding();
    }

    /**
     * Ends what has nothing on its way: what has not begun, and what waits for another session's write, for servers
     * that can be reached or, strict, for new slabs. It is called back as {@link CodedStatus#CLOSED} at the next poll.
     */
    public void abandonUnposted() {
        requests.closeUncut();
        for (PageOp op : ops) {
            if (op.state == PageOp.WAITING || op.state == PageOp.STARVED || op.state == PageOp.STRICT) {
                abandon(op);
            }
        }
    }

    /** Operations that it has posted since it was opened: splits, those that came late included. Its thread. */
    public VerbCounts posted() {
        return queue.posted();
    }

    /** Operations that wait for a stripe word, for an earlier request, for room or for a connection. */
    public int held() {
        return waitingCount;
    }

    /** Whether a request that is pending uses some memory. */
    public boolean uses(MemorySegment memory) {
        return requests.uses(memory);
    }

    /** Whether it runs a callback. */
    public boolean inCallback() {
        return inCallback;
    }

    /** Whether nothing of it is under way, splits that are owed included. */
    boolean isQuiet() {
        return freeCount == OPERATIONS && waitingCount == 0;
    }

    /**
     * Ends what has not begun with {@link CodedStatus#CLOSED}, awaits the rest, and closes. Idempotent. Where writes
     * cannot be ended within ten seconds, what they have not written is void. What callbacks throw comes out when all
     * is closed.
     *
     * @throws IllegalStateException from a callback; nothing is closed then
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
        long deadline = System.nanoTime() + CLOSE_NANOS;
        while (going && (!isQuiet() || requests.pending() > 0) && System.nanoTime() - deadline < 0) {
            going = tryTo(this::pollOrNap, ends);
        }
        for (PageOp op : ops) {
            tryTo(() -> abandon(op), ends);
        }
        int before;
        do {
            before = requests.pending();
            tryTo(this::callBack, ends);
        } while (requests.pending() > 0 && requests.pending() < before);
        ends.add(() -> space.words.remove(waker));
        ends.add(parts.lines::beginClosing);
        ends.add(queue);
        ends.add(() -> space.sessions.remove(parts.lines));
        ends.add(() -> space.counts.ended(parts.counts));
        ends.add(parts::close);
        ends.add(space.open::decrementAndGet);
        Closing.all(ends);
    }

    private void pollOrNap() {
        idle = poll() > 0 ? 0 : idle + 1;
        if (idle > SPINS) {
            await(NAP_NANOS);
        }
    }

    /**
     * A step of the end, whatever it throws: that comes out at last.
     *
     * @return whether there may be another: not where it threw, and no callback did
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

    private void abandon(PageOp op) {
        if (!op.active) {
            return;
        }
        if (op.write) {
            writes.abandon(op);
        } else {
            reads.abandon(op);
        }
        end(op, CodedStatus.CLOSED);
    }
}
