package io.farheap.rpc.batch;

import io.farheap.lifetime.Closeables;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The client's end of a pair of message rings (Redy, section 4.2): it collects requests into batches, writes them into
 * the server's ring with one-sided WRITEs, and takes the answers from its own ring, in order.
 * {@link io.farheap.rpc.MessageRing} explains the protocol. Nothing on the path of a request allocates.
 *
 * <p>A request is an <em>entry</em>, a number that is its own from when it is added until {@link #finish}: a caller
 * keeps its own state of requests in arrays of {@link #entries} elements, by entry. A batch is <em>open</em> while
 * requests are added to it, then sent, then answered, and finished when the caller has taken all of its entries.
 *
 * <p>One thread at a time. The connection has a protection domain of its own, so that this server can write to the
 * answers and to nothing else. Each answer is checked against its requests.
 */
public final class BatchConnection implements AutoCloseable {

    /** An entry's status: the connection failed before the request was answered, so its outcome is unknown. */
    public static final byte LOST = -1;
    /** An entry's status: the connection failed before the request was sent, so it has no effect and never will. */
    public static final byte UNSENT = -2;

    private final RingShape shape;
    private final int batch;
    private final RingWriter writer;
    private final BatchWindow window;
    private final OpenBatch open;
    private final AnswerReader answers;
    private final AnswerWatch watch = new AnswerWatch();
    private final BatchEntries entries;
    /** Null if the connection has no calls. */
    private final @Nullable AwaitedReplies replies;
    /** Whether a batch had been answered when the connection failed. */
    private boolean worked;

    /**
     * @param channel the channel on which answers that were {@linkplain #requestWakeUp asked for} and errors raise
     *     events, or null
     * @param inlineBytes size up to which batches should travel in the work request; the device may grant more, or none
     */
    public BatchConnection(Context context, @Nullable CompletionChannel channel, RingShape shape, int inlineBytes) {
        this.shape = shape;
        this.batch = shape.batch();
        this.entries = new BatchEntries(shape);
        this.window = new BatchWindow(shape, entries);
        this.replies = entries.replies;
        this.writer = new RingWriter(context, channel, shape, inlineBytes);
        try {
            this.open = new OpenBatch(shape, writer.out(), entries);
            this.answers = new AnswerReader(shape, writer.in(), window, entries);
        } catch (Throwable e) {
            Closeables.after(e, writer);
            throw e;
        }
        open();
    }

    /**
     * Sets how long a batch may stay unanswered before the connection fails although the server is reachable, as its
     * thread hangs. Time is counted in probes, so that time in which this process was stopped does not count.
     */
    public void giveUpAfter(long nanos) {
        watch.giveUpAfter(nanos);
        answers.outlast(nanos);
    }

    /** The client's endpoint, which the server needs to connect its queue pair. */
    public Endpoint endpoint() {
        return writer.endpoint();
    }

    /** The address of the ring to which the server writes responses. */
    public long responseAddress() {
        return writer.responseAddress();
    }

    /** The rkey of the response ring. */
    public int responseKey() {
        return writer.responseKey();
    }

    /**
     * Connects to the server's ring and probes it once, so that a device that maps a peer's memory on first use does it
     * now. If the probe fails, the connection has failed.
     *
     * @throws VerbsException if the device refuses the server's end
     */
    public void connect(Endpoint server, long ringAddress, int ringKey) {
        writer.connect(server, ringAddress, ringKey);
        failUnless(writer.probe());
        while (writer.isControlling() && !writer.failed()) {
            Thread.onSpinWait();
            reap();
        }
    }

    /** The number of entries. */
    public int entries() {
        return entries.statuses.length;
    }

    /** The largest record that goes into a batch, in bytes. */
    public int recordBytes() {
        return shape.recordBytes();
    }

    /** Whether a request may be added. */
    public boolean hasRoom() {
        return open.hasRoom();
    }

    /**
     * Makes room for a request if there is none: sends the open batch if it is full, and a batch without requests if
     * calls keep all entries of its slot.
     *
     * @return whether a request may be added
     */
    public boolean makeRoom() {
        while (!open.hasRoom() && mayMakeRoom()) {
            if (!send(0)) {
                return false;
            }
        }
        return open.hasRoom();
    }

    /** Whether there is room for a request, or {@link #makeRoom} would send a batch to make some. */
    public boolean mayMakeRoom() {
        return open.hasRoom() || open.isFull() && openLimit() > 0 && (replies == null || replies.held() < entries());
    }

    /**
     * Whether its batch leaves out an entry, since a call of an earlier batch of the same slot keeps it for its late
     * answer.
     */
    public boolean leavesOut(int entry) {
        return entries.leftOut[entry];
    }

    /** Whether the open batch takes no more requests and should be sent. */
    public boolean isFull() {
        return open.isFull();
    }

    /** How many requests are in the open batch. */
    public int waiting() {
        return open.count();
    }

    /** How many batches are sent and not answered. */
    public int unanswered() {
        return window.unanswered();
    }

    /**
     * Whether nothing is waiting or unanswered. Another thread than the owner gets false, or a result that is true of
     * all requests that were added before it learned that the owner is outside its gate.
     */
    public boolean isAnswered() {
        // The count of sent batches grows before the open batch becomes empty, so no request is invisible in between.
        return open.isEmpty() && window.allAnswered();
    }

    /** Whether a batch without requests is unfinished: it finishes when {@link #receive} takes its answer. */
    public boolean awaitsEmpty() {
        return window.empty() > 0;
    }

    /** Whether nothing is waiting, unanswered or unfinished. */
    public boolean isIdle() {
        return open.count() == 0 && window.allFinished();
    }

    /** How many requests may be added, as far as slots allow; a batch that becomes full must be sent in between. */
    public int room() {
        int batches = window.free();
        if (writer.failed() || batches <= 0) {
            return 0;
        }
        int room = open.freeEntries();
        if (room > 0 || open.count() > 0) {
            batches--;
        }
        if (replies == null || replies.held() == 0) {
            return room + batches * batch;
        }
        // A slot that calls keep wholly gets a batch without requests, which is none of these.
        for (int i = 1; batches > 0 && i < window.freeSlots(); i++) {
            int entries = batch - replies.heldBySlot(window.openSlot(i));
            room += entries;
            batches -= entries > 0 ? 1 : 0;
        }
        return room;
    }

    /** The value of {@link #room} on an idle connection. */
    public int mostRoom() {
        return shape.queueDepth() * batch;
    }

    /** A mark behind every request that was added so far; see {@link #answered(long)}. */
    public long mark() {
        return open.count() == 0 ? window.sent() : window.sent() + 1;
    }

    /** Whether every request before a mark is answered, lost or {@linkplain #withdraw withdrawn}. */
    public boolean answered(long mark) {
        return window.answered(mark) || isAnswered();
    }

    /**
     * Whether the connection has failed: it sends nothing any more, and its unanswered batches have not
     * {@linkplain #succeeded succeeded}.
     */
    public boolean failed() {
        return writer.failed();
    }

    /**
     * Adds a read. There must be {@linkplain #hasRoom room}.
     *
     * @param bytes 1 to {@link #recordBytes}
     * @param local the destination's address, or 0 to fetch the bytes with {@link #copyTo}
     * @return the entry
     */
    public int addRead(int region, long offset, int bytes, long local) {
        return open.addRead(region, offset, bytes, local);
    }

    /**
     * Adds a write from native memory, which is copied before this returns. There must be {@linkplain #hasRoom room}.
     *
     * @return the entry
     */
    public int addWrite(int region, long offset, int bytes, long local) {
        return open.addWrite(region, offset, bytes, local);
    }

    /** As {@link #addWrite(int, long, int, long)}, from any segment, also one on the heap. */
    public int addWrite(int region, long offset, MemorySegment source) {
        return open.addWrite(region, offset, source);
    }

    /**
     * Adds a call, whose arguments are copied before this returns. There must be {@linkplain #hasRoom room}, and the
     * connection must be one with calls.
     *
     * @param bytes length of the arguments, 0 to {@link #recordBytes}
     * @param local address of the arguments
     * @param replyLocal address that the reply is copied to
     * @param replyBytes the most bytes of reply, 0 to {@link #recordBytes}
     * @return the entry; once the reply has arrived, {@link AwaitedReplies#bytes(int)} has its length
     */
    public int addCall(int operation, long local, int bytes, long replyLocal, int replyBytes) {
        return open.addCall(operation, local, bytes, replyLocal, replyBytes);
    }

    /**
     * Adds reads of one length, or writes, whose payloads are copied before this returns: as many as the open batch has
     * room for. Their entries are consecutive.
     *
     * @param which the records, by number
     * @param from index of the first in {@code which}
     * @param count how many requests are wanted
     * @param region the region of each element of {@code which}, by index
     * @param offset its offset in that region
     * @param local the address of record 0 in this process; record {@code n} is {@code n * bytes} behind it
     * @return how many were added
     */
    public int addAll(
            boolean write, int[] which, int from, int count, int[] region, long[] offset, int bytes, long local) {
        return open.addAll(write, which, from, count, region, offset, bytes, local);
    }

    /** The entry that the next request will have. */
    public int nextEntry() {
        return open.nextEntry();
    }

    /** The first entry of the open batch, if it has one. */
    public int first() {
        return open.firstEntry();
    }

    /** Removes the requests of the open batch, so that the caller can send them another way. */
    public void withdraw() {
        open();
    }

    /**
     * Sends the open batch, if it has requests and the send queue has room.
     *
     * @return false if there is no room: try again later
     */
    public boolean send() {
        return open.count() == 0 || send(0);
    }

    /**
     * Asks the server for an event on the channel when everything sent so far is answered; sends the open batch. Call
     * it before sleeping, after {@link #requestNotification}.
     *
     * @return false if there is no room to ask, so that no event is certain
     */
    public boolean requestWakeUp() {
        lookBeforeSleep();
        if (open.count() == 0 && (writer.isNotifying() || window.allAnswered())) {
            return true;
        }
        // The batch that asked last was answered with an event, so all earlier answers have arrived, or the server is
        // wrong. Never reuse the slot of a batch that it has not answered.
        if (open.count() == 0 && (window.lastIsEmpty() || window.isFull())) {
            return false;
        }
        // One request at a time, since there is one receive. A thread that the earlier one wakes asks again.
        return send(writer.isNotifying() ? 0 : BatchFormat.NOTIFY);
    }

    /**
     * As {@link #requestWakeUp}, on a connection with calls: the next message of the server raises an event, whether it
     * answers a batch or a call.
     *
     * @return false if there is no room to ask, so that no event is certain
     */
    public boolean requestWakeUpByAny() {
        lookBeforeSleep();
        if (!send() || writer.failed()) {
            return writer.failed();
        }
        if (writer.isNotifying() || !expecting()) {
            return true;
        }
        if (!writer.canControl()) {
            return false;
        }
        failUnless(writer.want(replies().messages()));
        return true;
    }

    private void lookBeforeSleep() {
        reap();
        receive();
        if (expecting()) {
            // A thread that sleeps polls too seldom for the count of looks to bring it there.
            checkOnServer();
        }
    }

    private boolean send(int flags) {
        if (writer.failed()) {
            loseOpen();
            return true;
        }
        if (!writer.hasRoom()) {
            reap();
            if (writer.failed() || !writer.hasRoom()) {
                return writer.failed();
            }
        }
        int slot = open.slot();
        answers.release(slot);
        open.seal(window.sent() + 1, flags);
        long where = open.start();
        int bytes = open.bytes();
        if (window.allAnswered()) {
            watch.begin();
        }
        window.send(open.count());
        open();
        failUnless(writer.send(slot, where, bytes, flags != 0));
        return true;
    }

    private void open() {
        open.open(window.openSlot(), openLimit());
    }

    private int openLimit() {
        return !writer.failed() && window.free() > 0 ? batch : 0;
    }

    /**
     * Takes the answers that have arrived and copies the payloads of reads to their destinations. Another thread may
     * call it while it keeps the owner out.
     *
     * @return how many batches were answered
     */
    public int receive() {
        int received = 0;
        while (!window.allAnswered() && answers.take()) {
            received++;
        }
        boolean later = replies != null && replies.awaited() > 0 && answers.takeLater(replies);
        failUnless(!answers.tornForGood());
        if (received > 0 || later) {
            watch.begin();
            finishEmpty();
        } else if (expecting() && watch.missed()) {
            checkOnServer();
        } else if (expecting()) {
            if (writer.isSending() && watch.reaps()) {
                // Some devices make progress only while they are polled, or need a thread of their own if no thread
                // polls.
                reap();
            }
            failUnless(writer.ringIfAsleep());
        }
        return received;
    }

    private boolean expecting() {
        return !window.allAnswered() || replies != null && replies.awaited() > 0;
    }

    /**
     * After a while without an answer: checks whether the connection has failed, rings if the server thread sleeps, and
     * probes whether the server is still there.
     */
    private void checkOnServer() {
        reap();
        if (writer.failed()) {
            return;
        }
        failUnless(writer.ringIfAsleep());
        if (!watch.isProbeDue()) {
            return;
        }
        // Once its batch is answered, a call may take any time.
        if (!window.allAnswered() && watch.givesUp()) {
            fail();
        } else if (writer.canControl()) {
            failUnless(writer.probe());
        }
    }

    /** Takes completions: of sends, which makes room in the send queue, of errors, and of wake-ups. */
    public void reap() {
        failUnless(writer.reap());
    }

    /** Asks for one event on the channel at the next completion. */
    public void requestNotification() {
        writer.requestNotification();
    }

    private void failUnless(boolean sound) {
        if (!sound) {
            fail();
        }
    }

    /** Ends the connection at this end: the outcome of each request that was sent and not answered is unknown. */
    public void fail() {
        if (!writer.failed()) {
            writer.fail();
            worked = window.unanswered() < window.sent();
            while (!window.allAnswered()) {
                window.lose(LOST);
            }
            loseOpen();
            finishEmpty();
            entries.loseAwaited();
        }
    }

    /** Whether the server had answered a batch when the connection failed. */
    public boolean hasWorked() {
        return worked;
    }

    /** The requests in the open batch were never sent. */
    private void loseOpen() {
        if (open.count() > 0) {
            window.send(open.count());
            window.lose(UNSENT);
        }
        open();
    }

    /** How many entries from {@link #head} on are answered and can be finished, within one batch. */
    public int ready() {
        return window.ready();
    }

    /** The oldest entry that is not finished. */
    public int head() {
        return window.head();
    }

    /** Whether all requests of the batch at the head succeeded. */
    public boolean succeeded() {
        return window.succeeded();
    }

    /** Whether all requests of an unfinished batch succeeded. */
    public boolean succeeded(long sequence) {
        return window.succeeded(sequence);
    }

    /** The address that a read's bytes are copied to; not positive if it was added without one. */
    public long local(int entry) {
        return entries.locals[entry];
    }

    /**
     * The entry's status: one of {@link BatchFormat#DONE}, {@link BatchFormat#NOT_HELD}, {@link #LOST},
     * {@link #UNSENT}; of a call also the others of {@link BatchFormat}.
     */
    public byte status(int entry) {
        return entries.statuses[entry];
    }

    /**
     * The state of calls beside their status.
     *
     * @throws IllegalStateException if the connection has no calls
     */
    public AwaitedReplies replies() {
        if (replies == null) {
            throw new IllegalStateException("the connection has no calls");
        }
        return replies;
    }

    /** Copies the bytes of a read that was added without a local address. Call it before {@link #finish}. */
    public void copyTo(int entry, MemorySegment destination) {
        answers.copyTo(entry, destination);
    }

    /** The sequence of the open batch, the last one that is not finished. */
    public long lastBatch() {
        return window.sent() + 1;
    }

    public long firstUnanswered() {
        return window.firstUnanswered();
    }

    public long firstUnfinished() {
        return window.firstUnfinished();
    }

    /** The first entry of an unfinished batch. */
    public int firstEntry(long sequence) {
        return window.firstEntry(sequence);
    }

    /** The index behind a batch's last entry. */
    public int endEntry(long sequence) {
        return window.endEntry(sequence, open.count());
    }

    /** Frees so many entries from the head on, all of its batch: their places may be used again. */
    public void finish(int entries) {
        if (window.finish(entries)) {
            open.limit(openLimit());
        }
    }

    private void finishEmpty() {
        window.finishEmpty();
        open.limit(openLimit());
    }

    @Override
    public void close() {
        open.limit(0);
        writer.close();
    }
}
