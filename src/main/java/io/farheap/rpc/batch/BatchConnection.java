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
 * The client's end of a pair of message rings (Redy, section 4.2): collects requests into batches, writes them into the
 * server's ring with one-sided WRITEs, and takes the answers from its own, in order. Nothing on the path of a request
 * allocates.
 *
 * <p>A request is an <em>entry</em>, a number from its being added until {@link #finish}: the caller keeps what else it
 * knows of a request by entry, in {@link #entries} places. A batch is <em>open</em> while requests are added to it,
 * then sent, then answered, and finished when the caller has taken all of its entries.
 *
 * <p>One thread at a time. It has a protection domain of its own, so that what this server may write to is its answers
 * and nothing else. What the server writes is checked against what was asked for.
 */
public final class BatchConnection implements AutoCloseable {

    /** An entry's status: the connection failed before it was answered, so that its outcome is unknown. */
    public static final byte LOST = -1;

    private final RingShape shape;
    private final int batch;
    private final RingWriter writer;
    private final BatchWindow window;
    private final OpenBatch open;
    private final AnswerReader answers;
    private final AnswerWatch watch = new AnswerWatch();
    private final BatchEntries entries;
    /** Null where there are no calls. */
    private final @Nullable AwaitedReplies replies;

    /**
     * @param channel on which answers that were {@linkplain #requestWakeUp asked for} and errors raise events, or null
     * @param inlineBytes batches up to this size should travel in the work request; the device grants more or none
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
     * How long a batch may go unanswered before the connection fails, although the server can be reached: its thread
     * hangs. Counted in probes, so that time in which this process was stopped does not count.
     */
    public void giveUpAfter(long nanos) {
        watch.giveUpAfter(nanos);
        answers.outlast(nanos);
    }

    /** What the server needs to connect its side. */
    public Endpoint endpoint() {
        return writer.endpoint();
    }

    /** Where the server writes responses to. */
    public long responseAddress() {
        return writer.responseAddress();
    }

    /** The rkey that the server needs for it. */
    public int responseKey() {
        return writer.responseKey();
    }

    /**
     * Connects to the server's ring, and reaches it once: a device that maps a peer's memory on first use does it now.
     * Where that fails, so has the connection.
     *
     * @throws VerbsException where the device refuses
     */
    public void connect(Endpoint server, long ringAddress, int ringKey) {
        writer.connect(server, ringAddress, ringKey);
        failUnless(writer.probe());
        while (writer.isControlling() && !writer.failed()) {
            Thread.onSpinWait();
            reap();
        }
    }

    /** How many entries there are. */
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

    /** Whether the open batch takes no more requests, and wants to be sent. */
    public boolean isFull() {
        return open.isFull();
    }

    /** Requests that wait in the open batch. */
    public int waiting() {
        return open.count();
    }

    /** Batches sent and not answered. */
    public int unanswered() {
        return window.unanswered();
    }

    /**
     * Whether nothing is waiting or unanswered. Another thread is told no, or what holds of all that was added before
     * it knew the owner to be out.
     */
    public boolean isAnswered() {
        // A batch counts as sent before it stops being open.
        return open.isEmpty() && window.allAnswered();
    }

    /** Whether nothing is waiting, unanswered or unfinished. */
    public boolean isIdle() {
        return open.count() == 0 && window.allFinished();
    }

    /** How many requests may be added, as far as slots go: batches that fill have to be sent in between. */
    public int room() {
        return writer.failed() ? 0 : Math.max(0, window.free() * batch - open.count());
    }

    /** What {@link #room} says while nothing is on its way. */
    public int mostRoom() {
        return shape.queueDepth() * batch;
    }

    /** A mark behind everything that was added so far; see {@link #answered(long)}. */
    public long mark() {
        return open.count() == 0 ? window.sent() : window.sent() + 1;
    }

    /** Whether everything before a mark is answered, lost or {@linkplain #withdraw withdrawn}. */
    public boolean answered(long mark) {
        return window.answered(mark) || isAnswered();
    }

    /**
     * Whether the connection failed: nothing is sent any more, and what was unanswered is {@linkplain #succeeded not
     * succeeded}.
     */
    public boolean failed() {
        return writer.failed();
    }

    /**
     * Adds a read. There must be {@linkplain #hasRoom room}.
     *
     * @param bytes 1 to {@link #recordBytes}
     * @param local where they go, or 0 to fetch them with {@link #copyTo}
     * @return the entry
     */
    public int addRead(int region, long offset, int bytes, long local) {
        return open.addRead(region, offset, bytes, local);
    }

    /**
     * Adds a write from native memory, which is copied at once. There must be {@linkplain #hasRoom room}.
     *
     * @return the entry
     */
    public int addWrite(int region, long offset, int bytes, long local) {
        return open.addWrite(region, offset, bytes, local);
    }

    /** As {@link #addWrite(int, long, int, long)} from any segment, on the heap too. */
    public int addWrite(int region, long offset, MemorySegment source) {
        return open.addWrite(region, offset, source);
    }

    /**
     * Adds a call, whose arguments are copied at once. There must be {@linkplain #hasRoom room}, and the connection be
     * one with calls.
     *
     * @param bytes of arguments, 0 to {@link #recordBytes}
     * @param local where they are
     * @param replyLocal where the reply goes
     * @param replyBytes how long it may be, 0 to {@link #recordBytes}
     * @return the entry; {@link AwaitedReplies#bytes(int)} has the reply's length when it has come
     */
    public int addCall(int operation, long local, int bytes, long replyLocal, int replyBytes) {
        return open.addCall(operation, local, bytes, replyLocal, replyBytes);
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
        return open.addAll(write, which, from, count, region, offset, bytes, local);
    }

    /** The entry that the next request will be. */
    public int nextEntry() {
        return open.nextEntry();
    }

    /** The first entry of the open batch, if there is one. */
    public int first() {
        return open.firstEntry();
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
        return open.count() == 0 || send(0);
    }

    /**
     * Makes the server answer with an event on the channel when everything sent so far is answered; the open batch is
     * sent. Call it before sleeping, after {@link #requestNotification}.
     *
     * @return false where there is no room yet, so that no event is certain
     */
    public boolean requestWakeUp() {
        lookBeforeSleep();
        if (open.count() == 0 && (writer.isNotifying() || window.allAnswered())) {
            return true;
        }
        // The one that asked last has been answered by an event, so the answers are there, or the server is wrong: no
        // place of a batch that it owes goes to another.
        if (open.count() == 0 && (window.lastIsEmpty() || window.isFull())) {
            return false;
        }
        // One at a time: there is one receive for it. Whoever is woken by the earlier one asks again.
        return send(writer.isNotifying() ? 0 : BatchFormat.NOTIFY);
    }

    /**
     * As {@link #requestWakeUp}, on a connection with calls: the next message of the server's raises an event, whatever
     * it answers.
     *
     * @return false where there is no room yet, so that no event is certain
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
            // Who sleeps polls too seldom to come to it by counting.
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
     * Takes the answers that have arrived: reads' payloads are copied to where they go. May run on another thread than
     * the owner's while the owner is kept out.
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
                // Some devices work while they are polled, and need a thread of their own where nobody does.
                reap();
            }
            failUnless(writer.ringIfAsleep());
        }
        return received;
    }

    private boolean expecting() {
        return !window.allAnswered() || replies != null && replies.awaited() > 0;
    }

    /** No answer for a while: has the connection failed, does the server sleep, is it still there? */
    private void checkOnServer() {
        reap();
        if (writer.failed()) {
            return;
        }
        failUnless(writer.ringIfAsleep());
        if (!watch.isProbeDue()) {
            return;
        }
        // A call may take as long as it likes once its batch is answered.
        if (!window.allAnswered() && watch.givesUp()) {
            fail();
        } else if (writer.canControl()) {
            failUnless(writer.probe());
        }
    }

    /** Takes completions: room in the send queue, errors, wake-ups. */
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

    /** Ends the connection at this end: what was sent and not answered has an unknown outcome. */
    public void fail() {
        if (!writer.failed()) {
            writer.fail();
            while (!window.allAnswered()) {
                window.lose();
            }
            loseOpen();
            finishEmpty();
            entries.loseAwaited();
        }
    }

    /** What waits in the open batch ends with those that were sent. */
    private void loseOpen() {
        if (open.count() > 0) {
            window.send(open.count());
            window.lose();
        }
        open();
    }

    /** How many entries, from {@link #head} on, are answered and to be finished, within one batch. */
    public int ready() {
        return window.ready();
    }

    /** The oldest entry that is not finished. */
    public int head() {
        return window.head();
    }

    /** Whether all requests of the head's batch succeeded. */
    public boolean succeeded() {
        return window.succeeded();
    }

    /** One of {@link BatchFormat#DONE}, {@link BatchFormat#NOT_HELD}, {@link #LOST}. */
    public byte status(int entry) {
        return entries.statuses[entry];
    }

    /**
     * What is known of calls beside their status.
     *
     * @throws IllegalStateException where the connection is one without
     */
    public AwaitedReplies replies() {
        if (replies == null) {
            throw new IllegalStateException("the connection has no calls");
        }
        return replies;
    }

    /** Copies what a read without a local address has read. Before {@link #finish}. */
    public void copyTo(int entry, MemorySegment destination) {
        answers.copyTo(entry, destination);
    }

    /** The sequence of the open batch: of all that are not finished, the last. */
    public long lastBatch() {
        return window.sent() + 1;
    }

    public long firstUnanswered() {
        return window.firstUnanswered();
    }

    public long firstUnfinished() {
        return window.firstUnfinished();
    }

    /** The first entry of a batch that is not finished yet. */
    public int firstEntry(long sequence) {
        return window.firstEntry(sequence);
    }

    /** The end of a batch's entries. */
    public int endEntry(long sequence) {
        return window.endEntry(sequence, open.count());
    }

    /** The places of so many entries from the head on, all of its batch, may be used again. */
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
