package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.lifetime.Closing;
import io.farheap.memory.NativeMemory;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.VerbsException;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The client's end of a pair of message rings (Redy, section 4.2): collects requests into batches, writes them into the
 * server's ring with one-sided WRITEs, and takes the answers from its own, in order. Nothing on the path of a request
 * allocates.
 *
 * <p>A request is an <em>entry</em>, a number from its being added until {@link #finish}: the caller keeps what else it
 * knows of a request in columns of {@link #entries} places. A batch is <em>open</em> while requests are added to it,
 * then sent, then answered, and finished when the caller has taken all of its entries.
 *
 * <p>One thread at a time. It has a protection domain of its own, so that what this server may write to is its answers
 * and nothing else. What the server writes is checked against what was asked for.
 */
public final class BatchConnection implements AutoCloseable {

    /** An entry's status: the connection failed before it was answered, so that its outcome is unknown. */
    public static final byte LOST = -1;

    /** Where the server's asleep word is in the client's ring: odd while it sleeps and wants the bell. */
    public static final long ASLEEP = 0;
    /** Where bells are written to in the server's ring, and where probes are. */
    public static final long BELL = 0;

    private static final long PROBE = 8;
    /**
     * Where the client says that it is about to sleep: how many it has said it before, and how many messages it had
     * seen then.
     */
    public static final long WANTED = 16;

    private static final int WANTED_SHIFT = 32;

    private static final int RESERVED_REQUESTS = 2;
    /**
     * Ids of completions: how many requests have left the send queue, with a flag for bells and probes; and the
     * receive's.
     */
    private static final int CALL = -1;

    private static final long CONTROL_ID = 1L << 32;
    private static final long RECEIVE_ID = -1;
    private static final int COMPLETION_BATCH = 16;
    private static final int CHECK_MASK = 0xFF;
    private static final int REAP_MASK = 3;
    private static final long PROBE_NANOS = 100_000_000L;
    private static final long TORN_NANOS = 1_000_000_000L;

    private static final VarHandle OPEN_COUNT;

    static {
        try {
            OPEN_COUNT = MethodHandles.lookup().findVarHandle(BatchConnection.class, "openCount", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final RingShape shape;
    private final int batch;
    private final int slots;
    private final int recordBytes;
    private final int requestSlotBytes;
    private final int responseSlotBytes;

    private final ProtectionDomain domain;
    private CompletionQueue completions;
    private QueuePair queuePair;
    private SendRequests requests;
    private RegisteredMemory staged;
    private RegisteredMemory responses;
    private MemorySegment out;
    private MemorySegment in;
    private long outAddress;
    private long inAddress;
    /** Null where it is off. */
    private @Nullable AnswerTrace trace;

    private int sendDepth;
    private int signalEvery;

    private long ringAddress;
    private int ringKey;

    /** Batches up to these have been sent, answered, finished. The open one is the next to be sent. */
    private long sent;

    private long answered;
    private long finished;
    /** Of those sent and not finished, how many have no request and only ask for a wake-up. */
    private int empty;

    private int openSlot;
    private int openCount;
    private int openLimit;
    /** Where the next request goes in the staged memory, and the hash of what is there. */
    private long openAt;

    private long openHash;

    private int answerSlot;
    private int headSlot;
    private int headIndex;

    /** By slot: requests of the batch, and whether all of them succeeded. */
    private final int[] counts;

    private final boolean[] succeeded;
    /**
     * By entry: a read's bytes, 0 for a write, below that {@link #CALL} less what its reply may have; and where they
     * go: an address, or minus the place in the response.
     */
    private final int[] readBytes;

    private final long[] locals;
    private final byte[] statuses;

    private int inSendQueue;
    private int unsignaled;
    private boolean failed;
    /** A bell or a probe is on its way: there is one work request for both. */
    private boolean controlling;

    private boolean notifying;
    private long rungFor;
    private int fruitless;
    private long waitingSince;
    /** How many probes were due since the server answered last, and how many are to be before it is given up. */
    private int probes;

    private int mostProbes = Integer.MAX_VALUE;
    /** How long an answer may have begun to arrive before it is taken for torn for good. */
    private long tornNanos = TORN_NANOS;

    private long tornSince;

    /** Null where there are no calls. */
    private final @Nullable AwaitedReplies replies;

    private long asks;

    private BatchConnection(Context context, @Nullable CompletionChannel channel, RingShape shape, int inlineBytes) {
        this.shape = shape;
        this.batch = shape.batch();
        this.slots = shape.slots();
        this.recordBytes = shape.recordBytes();
        this.requestSlotBytes = shape.requestSlotBytes();
        this.responseSlotBytes = shape.responseSlotBytes();
        this.counts = new int[slots];
        this.succeeded = new boolean[slots];
        this.readBytes = new int[slots * batch];
        this.locals = new long[slots * batch];
        this.statuses = new byte[slots * batch];
        this.replies = shape.calls() ? new AwaitedReplies(shape) : null;
        this.domain = context.allocateProtectionDomain();
        try {
            sendDepth = Math.min(slots + RESERVED_REQUESTS, context.limits().maxQueuePairRequests());
            signalEvery = Math.max(1, sendDepth / 4);
            completions = context.createCompletionQueue(sendDepth + 2, COMPLETION_BATCH, channel);
            queuePair = domain.createQueuePair(completions, sendDepth, inlineBytes);
            requests = new SendRequests(slots + 1);
            staged = RegisteredMemory.allocate(domain, "farheap-batches", shape.requestRingBytes(), Access.LOCAL_WRITE);
            responses = RegisteredMemory.allocate(
                    domain, "farheap-answers", shape.responseRingBytes(), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
            out = staged.segment();
            in = responses.segment();
            outAddress = staged.address();
            inAddress = responses.address();
            trace = AnswerTrace.ENABLED ? new AnswerTrace(in, shape) : null;
        } catch (Throwable e) {
            Closing.after(e, this);
            throw e;
        }
        this.answerSlot = slot(1);
        this.headSlot = slot(1);
        open();
    }

    /**
     * @param channel on which answers that were {@linkplain #requestWakeUp asked for} and errors raise events, or null
     * @param inlineBytes batches up to this size should travel in the work request; the device grants more or none
     */
    public static BatchConnection create(
            Context context, @Nullable CompletionChannel channel, RingShape shape, int inlineBytes) {
        return new BatchConnection(context, channel, shape, inlineBytes);
    }

    public RingShape shape() {
        return shape;
    }

    /**
     * How long a batch may go unanswered before the connection fails, although the server can be reached: its thread
     * hangs. Counted in probes, so that time in which this process was stopped does not count.
     */
    public void giveUpAfter(long nanos) {
        mostProbes = (int) Math.min(Integer.MAX_VALUE, Math.max(1, nanos / PROBE_NANOS));
        // A server that is stopped in the middle of an answer goes on with it.
        tornNanos = Math.max(TORN_NANOS, nanos);
    }

    /** What the server needs to connect its side. */
    public Endpoint endpoint() {
        return queuePair.endpoint();
    }

    /** Where the server writes responses to. */
    public long responseAddress() {
        return responses.address();
    }

    /** The rkey that the server needs for it. */
    public int responseKey() {
        return responses.remoteKey();
    }

    /**
     * Connects to the server's ring, and reaches it once: a device that maps a peer's memory on first use does it now.
     * Where that fails, so has the connection.
     *
     * @throws VerbsException where the device refuses
     */
    public void connect(Endpoint server, long ringAddress, int ringKey) {
        this.ringAddress = ringAddress;
        this.ringKey = ringKey;
        queuePair.connect(server);
        queuePair.postReceive(RECEIVE_ID);
        probe();
        while (controlling && !failed) {
            Thread.onSpinWait();
            reap();
        }
    }

    /** How many places columns by entry need. */
    public int entries() {
        return slots * batch;
    }

    /** The largest record that goes into a batch, in bytes. */
    public int recordBytes() {
        return recordBytes;
    }

    /** Whether a request may be added. */
    public boolean hasRoom() {
        return openCount < openLimit;
    }

    /** Whether the open batch takes no more requests, and wants to be sent. */
    public boolean isFull() {
        return openCount == batch;
    }

    /** Requests that wait in the open batch. */
    public int waiting() {
        return openCount;
    }

    /** Batches sent and not answered. */
    public int unanswered() {
        return (int) (sent - answered);
    }

    /**
     * Whether nothing is waiting or unanswered. Another thread is told no, or what holds of all that was added before
     * it knew the owner to be out.
     */
    public boolean isAnswered() {
        // A batch counts as sent before it stops being open.
        return (int) OPEN_COUNT.getAcquire(this) == 0 && answered == sent;
    }

    /** Whether nothing is waiting, unanswered or unfinished. */
    public boolean isIdle() {
        return openCount == 0 && finished == sent;
    }

    /** How many requests may be added, as far as slots go: batches that fill have to be sent in between. */
    public int room() {
        return failed ? 0 : Math.max(0, free() * batch - openCount);
    }

    /** What {@link #room} says while nothing is on its way. */
    public int mostRoom() {
        return shape.queueDepth() * batch;
    }

    /** A mark behind everything that was added so far; see {@link #answered(long)}. */
    public long mark() {
        return openCount == 0 ? sent : sent + 1;
    }

    /** Whether everything before a mark is answered, lost or {@linkplain #withdraw withdrawn}. */
    public boolean answered(long mark) {
        return answered >= mark || isAnswered();
    }

    /**
     * Whether the connection failed: nothing is sent any more, and what was unanswered is {@linkplain #succeeded not
     * succeeded}.
     */
    public boolean failed() {
        return failed;
    }

    /**
     * Adds a read. There must be {@linkplain #hasRoom room}.
     *
     * @param bytes 1 to {@link #recordBytes}
     * @param local where they go, or 0 to fetch them with {@link #copyTo}
     * @return the entry
     */
    public int addRead(int region, long offset, int bytes, long local) {
        long at = openAt;
        long request = BatchFormat.request(BatchFormat.READ, region, bytes);
        stage(at, request, offset);
        openHash = BatchFormat.mix(openHash, request, offset);
        openAt = at + BatchFormat.REQUEST_BYTES;
        int entry = nextEntry();
        readBytes[entry] = bytes;
        locals[entry] = local;
        openCount++;
        return entry;
    }

    /**
     * Adds a write from native memory, which is copied at once. There must be {@linkplain #hasRoom room}.
     *
     * @return the entry
     */
    public int addWrite(int region, long offset, int bytes, long local) {
        int entry = beginWrite(region, offset, bytes);
        openHash = Payload.fromMemory(local, outAddress + openAt, bytes, openHash);
        return endWrite(entry, bytes);
    }

    /** As {@link #addWrite(int, long, int, long)} from any segment, on the heap too. */
    public int addWrite(int region, long offset, MemorySegment source) {
        int bytes = (int) source.byteSize();
        int padded = BatchFormat.padded(bytes);
        // Copied first: a segment that cannot be accessed must leave the batch as it is.
        MemorySegment.copy(source, 0, out, openAt + BatchFormat.REQUEST_BYTES, bytes);
        for (int i = bytes; i < padded; i++) {
            out.set(JAVA_BYTE, openAt + BatchFormat.REQUEST_BYTES + i, (byte) 0);
        }
        int entry = beginWrite(region, offset, bytes);
        openHash = Payload.hash(outAddress + openAt, bytes, openHash);
        return endWrite(entry, bytes);
    }

    /**
     * Adds a call, whose arguments are copied at once. There must be {@linkplain #hasRoom room}, and the connection be
     * one with calls.
     *
     * @param bytes of arguments, 0 to {@link #recordBytes}
     * @param local where they are
     * @param replyLocal where the reply goes
     * @param replyBytes how long it may be, 0 to {@link #recordBytes}
     * @return the entry; {@link #replyBytes} has the reply's length when it has come
     */
    // The connection is one with calls.
    @SuppressWarnings("NullAway")
    public int addCall(int operation, long local, int bytes, long replyLocal, int replyBytes) {
        long request = BatchFormat.request(BatchFormat.CALL, operation, bytes);
        stage(openAt, request, replyBytes);
        openHash = Payload.fromMemory(
                local,
                outAddress + openAt + BatchFormat.REQUEST_BYTES,
                bytes,
                BatchFormat.mix(openHash, request, replyBytes));
        openAt += BatchFormat.REQUEST_BYTES + BatchFormat.padded(bytes);
        int entry = nextEntry();
        readBytes[entry] = CALL - replyBytes;
        locals[entry] = replyLocal;
        replies.later[entry] = false;
        openCount++;
        return entry;
    }

    /**
     * Adds reads of one length from chosen places, or writes, whose payloads are copied at once: as many as the open
     * batch has room for. Their entries follow one another.
     *
     * @param which the records, by number
     * @param from the first in {@code which}
     * @param count how many are wanted
     * @param region of the record in each place of {@code which}
     * @param offset in it
     * @param local where record 0 goes, or comes from; record {@code n} does {@code n * bytes} behind it
     * @return how many were added
     */
    public int addAll(
            boolean write, int[] which, int from, int count, int[] region, long[] offset, int bytes, long local) {
        int operation = write ? BatchFormat.WRITE : BatchFormat.READ;
        int added = Math.min(count, openLimit - openCount);
        int entry = nextEntry();
        long to = outAddress + openAt;
        long hash = openHash;
        for (int i = from; i < from + added; i++, entry++) {
            long request = BatchFormat.request(operation, region[i], bytes);
            long place = local + (long) which[i] * bytes;
            NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, to, request);
            NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, to + Long.BYTES, offset[i]);
            hash = BatchFormat.mix(hash, request, offset[i]);
            to += BatchFormat.REQUEST_BYTES;
            if (write) {
                hash = Payload.fromMemory(place, to, bytes, hash);
                to += BatchFormat.padded(bytes);
                readBytes[entry] = 0;
            } else {
                readBytes[entry] = bytes;
                locals[entry] = place;
            }
        }
        openAt = to - outAddress;
        openHash = hash;
        openCount += added;
        return added;
    }

    /** The entry that the next request will be. */
    public int nextEntry() {
        return openSlot * batch + openCount;
    }

    /** Where there is room, the memory is there: one check for both words, and none of the segment's own. */
    private void stage(long at, long request, long offset) {
        if (openCount >= openLimit) {
            throw new IllegalStateException("there is no room for a request");
        }
        NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, outAddress + at, request);
        NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, outAddress + at + Long.BYTES, offset);
    }

    private int beginWrite(int region, long offset, int bytes) {
        long at = openAt;
        long request = BatchFormat.request(BatchFormat.WRITE, region, bytes);
        stage(at, request, offset);
        openHash = BatchFormat.mix(openHash, request, offset);
        openAt = at + BatchFormat.REQUEST_BYTES;
        return nextEntry();
    }

    private int endWrite(int entry, int bytes) {
        readBytes[entry] = 0;
        openAt += BatchFormat.padded(bytes);
        openCount++;
        return entry;
    }

    /** The first entry of the open batch, if there is one. */
    public int first() {
        return openSlot * batch;
    }

    /** Takes back the only request of the open batch, so that it can go another way. */
    public void withdraw() {
        open();
    }

    /**
     * Sends the open batch, where there is one and the send queue has room.
     *
     * @return false where there is no room yet: try again
     */
    public boolean send() {
        return openCount == 0 || send(0);
    }

    /**
     * Makes the server answer with an event on the channel when everything sent so far is answered; the open batch is
     * sent. Call it before sleeping, after {@link #requestNotification}.
     *
     * @return false where there is no room yet, so that no event is certain
     */
    public boolean requestWakeUp() {
        lookBeforeSleep();
        if (openCount == 0 && (notifying || sent == answered)) {
            return true;
        }
        // The one that asked last has been answered by an event, so the answers are there, or the server is wrong: no
        // place of a batch
        // that it owes goes to another.
        if (openCount == 0 && (counts[slot(sent)] == 0 || sent - finished >= slots)) {
            return false;
        }
        // One at a time: there is one receive for it. Whoever is woken by the earlier one asks again.
        return send(notifying ? 0 : BatchFormat.NOTIFY);
    }

    /**
     * As {@link #requestWakeUp}, on a connection with calls: the next message of the server's raises an event, whatever
     * it answers.
     *
     * @return false where there is no room yet, so that no event is certain
     */
    // The connection is one with calls.
    @SuppressWarnings("NullAway")
    public boolean requestWakeUpByAny() {
        lookBeforeSleep();
        if (!send() || failed) {
            return failed;
        }
        if (notifying || !expecting()) {
            return true;
        }
        if (controlling || inSendQueue >= sendDepth) {
            return false;
        }
        notifying = true;
        controlling = true;
        out.set(JAVA_LONG, WANTED, ++asks << WANTED_SHIFT | replies.messages() & 0xFFFFFFFFL);
        // With an immediate, which wakes the server's thread where it sleeps.
        post(slots, SendRequests.WRITE_WITH_IMMEDIATE, WANTED, Long.BYTES);
        return true;
    }

    private void lookBeforeSleep() {
        reap();
        receive();
        if (expecting()) {
            // Who sleeps polls too seldom to come to it by counting.
            checkOnServer();
        }
    }

    private boolean send(int flags) {
        if (failed) {
            loseOpen();
            return true;
        }
        if (inSendQueue >= sendDepth - 1) {
            reap();
            if (failed || inSendQueue >= sendDepth - 1) {
                return failed;
            }
        }
        if (AnswerTrace.ENABLED && trace != null) {
            trace.check(openSlot, responseSlot(openSlot));
        }
        long slot = requestSlot(openSlot);
        int bytes = (int) (openAt - slot);
        long sequence = sent + 1;
        BatchFormat.header(out, slot, sequence, BatchFormat.summary(bytes, openCount, flags), openHash);
        counts[openSlot] = openCount;
        if (openCount == 0) {
            empty++;
        }
        long asleep = in.get(JAVA_LONG, ASLEEP);
        boolean ring = flags != 0 || (asleep & 1) != 0 && asleep != rungFor;
        if (ring) {
            rungFor = asleep;
            notifying |= flags != 0;
        }
        if (sent == answered) {
            waitingSince = 0;
            fruitless = 0;
            probes = 0;
        }
        sent = sequence;
        int request = openSlot;
        open();
        post(request, ring ? SendRequests.WRITE_WITH_IMMEDIATE : SendRequests.WRITE, slot, bytes);
        return true;
    }

    private void post(int request, int opcode, long where, int bytes) {
        boolean control = request == slots;
        int flags = bytes <= queuePair.inlineBytes() ? SendRequests.INLINE : 0;
        if (++unsignaled >= signalEvery || control) {
            flags |= SendRequests.SIGNALED;
            // Its completion says that those before it have completed.
            requests.id(request, unsignaled | (control ? CONTROL_ID : 0));
            unsignaled = 0;
        }
        inSendQueue++;
        requests.prepare(
                request,
                opcode,
                flags,
                staged.address() + where,
                bytes,
                staged.localKey(),
                ringAddress + where,
                ringKey);
        int error = control ? queuePair.postUnbounded(requests, request) : queuePair.post(requests, request, bytes);
        if (error != 0) {
            fail();
        }
    }

    private void open() {
        openSlot = slot(sent + 1);
        openAt = requestSlot(openSlot) + BatchFormat.HEADER_BYTES;
        openHash = BatchFormat.start();
        OPEN_COUNT.setRelease(this, 0);
        limit();
    }

    private void limit() {
        openLimit = !failed && free() > 0 ? batch : 0;
    }

    /** How many batches there is room for, beside one that asks for a wake-up: such a one keeps no request out. */
    private int free() {
        int unfinished = (int) (sent - finished);
        return Math.min(shape.queueDepth() - (unfinished - empty), slots - 1 - unfinished);
    }

    /**
     * Takes the answers that have arrived: reads' payloads are copied to where they go. May run on another thread than
     * the owner's while the owner is kept out.
     *
     * @return how many batches were answered
     */
    public int receive() {
        int received = 0;
        while (answered < sent && answer()) {
            received++;
        }
        boolean later = replies != null && replies.awaited() > 0 && receiveLater(replies);
        if (received > 0 || later) {
            fruitless = 0;
            waitingSince = 0;
            probes = 0;
            finishEmpty();
        } else if (expecting() && (++fruitless & CHECK_MASK) == 0) {
            checkOnServer();
        } else if (expecting()) {
            if (inSendQueue > 0 && (fruitless & REAP_MASK) == 0) {
                // Some devices work while they are polled, and need a thread of their own where nobody does.
                reap();
            }
            ringIfAsleep();
        }
        return received;
    }

    private boolean expecting() {
        return answered < sent || replies != null && replies.awaited() > 0;
    }

    // Only calls have a negative length.
    @SuppressWarnings("NullAway")
    private boolean answer() {
        long slot = responseSlot(answerSlot);
        long sequence = answered + 1;
        if (BatchFormat.sequence(in, slot) != sequence) {
            return false;
        }
        long summary = BatchFormat.summary(in, slot);
        int count = counts[answerSlot];
        int first = answerSlot * batch;
        long at = slot + BatchFormat.HEADER_BYTES;
        long hash = BatchFormat.start();
        for (int entry = first; entry < first + count; entry++) {
            int bytes = readBytes[entry];
            if (bytes > 0) {
                hash = take(entry, at, bytes, hash);
                at += BatchFormat.padded(bytes);
            } else if (bytes < 0) {
                long length = in.get(JAVA_LONG, at);
                if (length < 0 || length > CALL - bytes) {
                    torn();
                    return false;
                }
                hash = Payload.toMemory(
                        inAddress + at + Long.BYTES, locals[entry], (int) length, BatchFormat.mix(hash, length));
                at += Long.BYTES + BatchFormat.padded((int) length);
                replies.bytes[entry] = (int) length;
            }
        }
        boolean statuses = BatchFormat.flags(summary) == BatchFormat.STATUSES;
        if (statuses) {
            hash = Payload.hash(inAddress + at, BatchFormat.padded(count), hash);
            MemorySegment.copy(in, JAVA_BYTE, at, this.statuses, first, count);
            at += BatchFormat.padded(count);
        }
        if (summary != BatchFormat.summary((int) (at - slot), count, statuses ? BatchFormat.STATUSES : 0)
                || !BatchFormat.complete(in, slot, sequence, summary, hash)
                || replies != null && !settle(statuses, first, count)) {
            torn();
            return false;
        }
        tornSince = 0;
        if (AnswerTrace.ENABLED) {
            trace(slot, sequence, (int) (at - slot));
        }
        succeeded[answerSlot] = !statuses;
        if (replies != null) {
            replies.seen();
            if (statuses) {
                awaitLater(replies, first, count, sequence);
            }
        }
        answered = sequence;
        answerSlot = answerSlot + 1 == slots ? 0 : answerSlot + 1;
        return true;
    }

    // Called where answers are traced; only calls have a negative length.
    @SuppressWarnings("NullAway")
    private void trace(long slot, long sequence, int bytes) {
        trace.accept(answerSlot, slot, sequence, bytes);
        long at = BatchFormat.HEADER_BYTES;
        int first = answerSlot * batch;
        for (int entry = first; entry < first + counts[answerSlot]; entry++) {
            int length = readBytes[entry];
            if (length < 0) {
                length = replies.bytes[entry];
                at += Long.BYTES;
            }
            if (length != 0 && locals[entry] > 0) {
                trace.read(answerSlot, at, locals[entry], length);
            }
            at += BatchFormat.padded(length);
        }
    }

    /**
     * Of a connection with calls each entry has a status, also where all are done.
     *
     * @return false where one is none that there is
     */
    private boolean settle(boolean told, int first, int count) {
        if (!told) {
            Arrays.fill(statuses, first, first + count, BatchFormat.DONE);
            return true;
        }
        for (int entry = first; entry < first + count; entry++) {
            if (statuses[entry] < BatchFormat.DONE || statuses[entry] > BatchFormat.LATER) {
                return false;
            }
        }
        return true;
    }

    private void awaitLater(AwaitedReplies replies, int first, int count, long sequence) {
        for (int entry = first; entry < first + count; entry++) {
            if (statuses[entry] == BatchFormat.LATER) {
                replies.await(entry, sequence);
            }
        }
    }

    /**
     * Takes answers to calls that were put off.
     *
     * @return whether one came
     */
    private boolean receiveLater(AwaitedReplies replies) {
        boolean came = false;
        for (int i = replies.awaited() - 1; i >= 0 && !failed; i--) {
            int entry = replies.entry(i);
            long at = responseSlot(entry / batch) + shape.laterAt(entry % batch);
            long sequence = replies.sequence(i);
            if (BatchFormat.sequence(in, at) != sequence) {
                continue;
            }
            long summary = BatchFormat.summary(in, at);
            int length = BatchFormat.bytes(summary);
            int status = BatchFormat.flags(summary);
            if (length < 0
                    || length > CALL - readBytes[entry]
                    || BatchFormat.count(summary) != entry % batch
                    || status != BatchFormat.DONE && status != BatchFormat.FAILED) {
                torn();
                continue;
            }
            long hash = Payload.toMemory(
                    inAddress + at + BatchFormat.HEADER_BYTES, locals[entry], length, BatchFormat.start());
            if (!BatchFormat.complete(in, at, sequence, summary, hash)) {
                torn();
                continue;
            }
            tornSince = 0;
            statuses[entry] = (byte) status;
            replies.bytes[entry] = length;
            replies.arrive(i);
            came = true;
        }
        return came;
    }

    private long take(int entry, long at, int bytes, long hash) {
        long local = locals[entry];
        if (local > 0) {
            return Payload.toMemory(inAddress + at, local, bytes, hash);
        }
        locals[entry] = -at;
        return Payload.hash(inAddress + at, bytes, hash);
    }

    /** A batch that has begun to arrive and is not whole: it may still be on its way. */
    private void torn() {
        long now = System.nanoTime();
        if (tornSince == 0) {
            tornSince = now;
        } else if (now - tornSince > tornNanos) {
            fail();
        }
    }

    private void ringIfAsleep() {
        long asleep = in.get(JAVA_LONG, ASLEEP);
        if ((asleep & 1) != 0 && asleep != rungFor && inSendQueue < sendDepth && !controlling) {
            rungFor = asleep;
            controlling = true;
            post(slots, SendRequests.WRITE_WITH_IMMEDIATE, BELL, Long.BYTES);
        }
    }

    /** No answer for a while: has the connection failed, does the server sleep, is it still there? */
    private void checkOnServer() {
        reap();
        if (failed) {
            return;
        }
        ringIfAsleep();
        long now = System.nanoTime();
        if (waitingSince == 0) {
            waitingSince = now;
        } else if (now - waitingSince > PROBE_NANOS) {
            waitingSince = now;
            // A call may take as long as it likes once its batch is answered.
            if (answered < sent && ++probes > mostProbes) {
                fail();
            } else if (!controlling && inSendQueue < sendDepth) {
                probe();
            }
        }
    }

    private void probe() {
        controlling = true;
        post(slots, SendRequests.WRITE, PROBE, Long.BYTES);
    }

    /** Takes completions: room in the send queue, errors, wake-ups. */
    public void reap() {
        int polled = completions.poll();
        for (int i = 0; i < polled; i++) {
            long id = completions.id(i);
            if (completions.status(i) != WcStatus.SUCCESS) {
                fail();
            } else if (id == RECEIVE_ID) {
                notifying = false;
                if (!failed) {
                    queuePair.postReceive(RECEIVE_ID);
                }
            } else {
                inSendQueue -= (int) id;
                controlling &= id < CONTROL_ID;
            }
        }
    }

    /** Asks for one event on the channel at the next completion. */
    public void requestNotification() {
        completions.requestNotification();
    }

    /** Ends the connection at this end: what was sent and not answered has an unknown outcome. */
    public void fail() {
        if (!failed) {
            failed = true;
            queuePair.fail();
            loseUnanswered();
            loseAwaited();
        }
    }

    private void loseAwaited() {
        while (replies != null && replies.awaited() > 0) {
            int last = replies.awaited() - 1;
            statuses[replies.entry(last)] = LOST;
            replies.arrive(last);
        }
    }

    private void loseUnanswered() {
        while (answered < sent) {
            lose(answerSlot);
            answered++;
            answerSlot = answerSlot + 1 == slots ? 0 : answerSlot + 1;
        }
        loseOpen();
        finishEmpty();
    }

    /** What waits in the open batch ends with those that were sent. */
    private void loseOpen() {
        if (openCount > 0) {
            counts[openSlot] = openCount;
            lose(openSlot);
            sent++;
            answered++;
            answerSlot = slot(answered + 1);
        }
        open();
    }

    private void lose(int slot) {
        succeeded[slot] = false;
        Arrays.fill(statuses, slot * batch, slot * batch + counts[slot], LOST);
    }

    /** How many entries, from {@link #head} on, are answered and to be finished, within one batch. */
    public int ready() {
        return finished < answered ? counts[headSlot] - headIndex : 0;
    }

    /** The oldest entry that is not finished. */
    public int head() {
        return headSlot * batch + headIndex;
    }

    /** Whether all requests of the head's batch succeeded. */
    public boolean succeeded() {
        return succeeded[headSlot];
    }

    /** One of {@link BatchFormat#DONE}, {@link BatchFormat#NOT_HELD}, {@link #LOST}. */
    public byte status(int entry) {
        return statuses[entry];
    }

    /** How long the reply to a call is that is done. */
    // The connection is one with calls.
    @SuppressWarnings("NullAway")
    public int replyBytes(int entry) {
        return replies.bytes[entry];
    }

    /** Calls whose batches are answered and that are not. */
    public int awaited() {
        return replies == null ? 0 : replies.awaited();
    }

    /**
     * An entry that had the status {@link BatchFormat#LATER} and has its own now; -1 where there is none. Each once,
     * before its batch is finished.
     */
    public int takeArrived() {
        return replies == null ? -1 : replies.takeArrived();
    }

    /** Whether {@link #takeArrived} has one. */
    public boolean hasArrived() {
        return replies != null && replies.hasArrived();
    }

    /** Whether an entry of an answered batch is answered by itself, whether or not that has come. */
    public boolean later(int entry) {
        return replies != null && replies.later[entry];
    }

    /** Copies what a read without a local address has read. Before {@link #finish}. */
    public void copyTo(int entry, MemorySegment destination) {
        MemorySegment.copy(in, -locals[entry], destination, 0, readBytes[entry]);
    }

    /** The sequence of the open batch: of all that are not finished, the last. */
    public long lastBatch() {
        return sent + 1;
    }

    public long firstUnanswered() {
        return answered + 1;
    }

    public long firstUnfinished() {
        return finished + 1;
    }

    /** The first entry of a batch that is not finished yet. */
    public int firstEntry(long sequence) {
        return slot(sequence) * batch + (sequence == finished + 1 ? headIndex : 0);
    }

    /** The end of a batch's entries. */
    public int endEntry(long sequence) {
        int slot = slot(sequence);
        return slot * batch + (sequence > sent ? openCount : counts[slot]);
    }

    /** The places of so many entries from the head on, all of its batch, may be used again. */
    public void finish(int entries) {
        headIndex += entries;
        if (headIndex == counts[headSlot]) {
            nextHead();
            finishEmpty();
        }
    }

    /** Batches that asked for a wake-up have nobody who finishes them. */
    private void finishEmpty() {
        while (finished < answered && counts[headSlot] == 0) {
            empty--;
            nextHead();
        }
    }

    private void nextHead() {
        headIndex = 0;
        headSlot = headSlot + 1 == slots ? 0 : headSlot + 1;
        finished++;
        limit();
    }

    @Override
    public void close() {
        failed = true;
        openLimit = 0;
        Closing.all(queuePair, responses, staged, requests, completions, domain);
    }

    private int slot(long sequence) {
        return (int) (sequence % slots);
    }

    private long requestSlot(int slot) {
        return RingShape.CONTROL_BYTES + (long) slot * requestSlotBytes;
    }

    private long responseSlot(int slot) {
        return RingShape.CONTROL_BYTES + (long) slot * responseSlotBytes;
    }
}
