package io.farheap.rpc.batch;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.rpc.message.PayloadCopier;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Takes answers from the client's ring: checks each against its requests, copies the bytes that were read to their
 * destination, and records the status of each request. The server may write anything: an answer that is not whole is
 * looked at again, until it has had time enough to arrive. One thread at a time.
 */
final class AnswerReader {

    private static final long TORN_NANOS = 1_000_000_000L;

    private final RingShape shape;
    private final int batch;
    private final int responseSlotBytes;
    private final MemorySegment in;
    private final long inAddress;
    private final BatchWindow window;
    private final int[] readBytes;
    private final long[] locals;
    private final byte[] statuses;
    private final boolean[] leftOut;
    /** Null if the connection has no calls. */
    private final @Nullable AwaitedReplies replies;
    /** Null if the trace is off. */
    private final @Nullable AnswerTrace trace;

    /** How long an answer may take to arrive after its first word, before the connection fails. */
    private long tornNanos = TORN_NANOS;

    private long tornSince;
    private boolean tornForGood;

    /** @param in the client's ring */
    AnswerReader(RingShape shape, MemorySegment in, BatchWindow window, BatchEntries entries) {
        this.shape = shape;
        this.batch = shape.batch();
        this.responseSlotBytes = shape.responseSlotBytes();
        this.in = in;
        this.inAddress = in.address();
        this.window = window;
        this.readBytes = entries.readBytes;
        this.locals = entries.locals;
        this.statuses = entries.statuses;
        this.leftOut = entries.leftOut;
        this.replies = entries.replies;
        this.trace = AnswerTrace.ENABLED ? new AnswerTrace(in, shape) : null;
    }

    /**
     * Sets how long an incomplete answer is waited for: a server that was stopped in the middle of one continues it
     * later.
     */
    void outlast(long nanos) {
        tornNanos = Math.max(TORN_NANOS, nanos);
    }

    /** Whether an answer stayed incomplete for too long: the connection has failed. */
    boolean tornForGood() {
        return tornForGood;
    }

    /**
     * Compares the slot's last accepted answer once more, if the trace is on, before the server may write to the slot
     * again.
     */
    void release(int slot) {
        if (AnswerTrace.ENABLED && trace != null) {
            trace.check(slot, responseSlot(slot));
        }
    }

    /**
     * Takes the answer to the oldest unanswered batch, which must have been sent.
     *
     * @return false if the answer has not arrived, or is not whole
     */
    // Only calls have a negative length.
    @SuppressWarnings("NullAway")
    boolean take() {
        int answerSlot = window.answerSlot();
        long slot = responseSlot(answerSlot);
        long sequence = window.firstUnanswered();
        if (BatchFormat.sequence(in, slot) != sequence) {
            return false;
        }
        long summary = BatchFormat.summary(in, slot);
        int count = window.answerCount();
        int first = answerSlot * batch;
        long at = slot + BatchFormat.HEADER_BYTES;
        long hash = BatchFormat.start();
        for (int entry = first; entry < first + count; entry++) {
            int bytes = readBytes[entry];
            if (bytes > 0) {
                hash = takeRead(entry, at, bytes, hash);
                at += BatchFormat.padded(bytes);
            } else if (bytes < 0) {
                long length = in.get(JAVA_LONG, at);
                if (length < 0 || length > (leftOut[entry] ? 0 : BatchEntries.CALL - bytes)) {
                    torn();
                    return false;
                }
                hash = PayloadCopier.toMemory(
                        inAddress + at + Long.BYTES, locals[entry], (int) length, BatchFormat.mix(hash, length));
                at += Long.BYTES + BatchFormat.padded((int) length);
                if (!leftOut[entry]) {
                    replies.bytes[entry] = (int) length;
                }
            }
        }
        boolean told = BatchFormat.flags(summary) == BatchFormat.STATUSES;
        if (told) {
            hash = PayloadCopier.hash(inAddress + at, BatchFormat.padded(count), hash);
            for (int i = 0; i < count; i++) {
                if (!leftOut[first + i]) {
                    statuses[first + i] = in.get(JAVA_BYTE, at + i);
                }
            }
            at += BatchFormat.padded(count);
        }
        if (summary != BatchFormat.summary((int) (at - slot), count, told ? BatchFormat.STATUSES : 0)
                || !BatchFormat.complete(in, slot, sequence, summary, hash)
                || replies != null && !settle(told, first, count)) {
            torn();
            return false;
        }
        tornSince = 0;
        if (AnswerTrace.ENABLED) {
            trace(answerSlot, slot, sequence, (int) (at - slot));
        }
        if (replies != null) {
            replies.seen();
            if (told) {
                awaitLater(replies, first, count, sequence);
            }
        }
        window.answer(!told);
        return true;
    }

    // Called only if the trace is on; only calls have a negative length.
    @SuppressWarnings("NullAway")
    private void trace(int answerSlot, long slot, long sequence, int bytes) {
        trace.accept(answerSlot, slot, sequence, bytes);
        long at = BatchFormat.HEADER_BYTES;
        int first = answerSlot * batch;
        for (int entry = first; entry < first + window.answerCount(); entry++) {
            int length = readBytes[entry];
            if (length < 0) {
                length = leftOut[entry] ? 0 : replies.bytes[entry];
                at += Long.BYTES;
            }
            if (length != 0 && locals[entry] > 0) {
                trace.read(answerSlot, at, locals[entry], length);
            }
            at += BatchFormat.padded(length);
        }
    }

    /**
     * On a connection with calls every entry gets a status, even if all requests are done.
     *
     * @return false if a status is out of bounds
     */
    private boolean settle(boolean told, int first, int count) {
        for (int entry = first; entry < first + count; entry++) {
            if (leftOut[entry]) {
                continue;
            }
            if (!told) {
                statuses[entry] = BatchFormat.DONE;
            } else if (statuses[entry] < BatchFormat.DONE || statuses[entry] > BatchFormat.LATER) {
                return false;
            }
        }
        return true;
    }

    private void awaitLater(AwaitedReplies replies, int first, int count, long sequence) {
        for (int entry = first; entry < first + count; entry++) {
            if (statuses[entry] == BatchFormat.LATER && !leftOut[entry]) {
                replies.await(entry, sequence);
            }
        }
    }

    /**
     * Takes late answers to calls.
     *
     * @return whether one has arrived
     */
    boolean takeLater(AwaitedReplies replies) {
        boolean came = false;
        for (int i = replies.awaited() - 1; i >= 0 && !tornForGood; i--) {
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
                    || length > BatchEntries.CALL - readBytes[entry]
                    || BatchFormat.count(summary) != entry % batch
                    || status != BatchFormat.DONE && status != BatchFormat.FAILED) {
                torn();
                continue;
            }
            long hash = PayloadCopier.toMemory(
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

    private long takeRead(int entry, long at, int bytes, long hash) {
        long local = locals[entry];
        if (local > 0) {
            return PayloadCopier.toMemory(inAddress + at, local, bytes, hash);
        }
        locals[entry] = -at;
        return PayloadCopier.hash(inAddress + at, bytes, hash);
    }

    /** Notes a message that has begun to arrive and is not whole: it may still be on its way. */
    private void torn() {
        long now = System.nanoTime();
        if (tornSince == 0) {
            tornSince = now;
        } else if (now - tornSince > tornNanos) {
            tornForGood = true;
        }
    }

    /** Copies the bytes of a read that was added without a local address. */
    void copyTo(int entry, MemorySegment destination) {
        MemorySegment.copy(in, -locals[entry], destination, 0, readBytes[entry]);
    }

    private long responseSlot(int slot) {
        return RingShape.CONTROL_BYTES + (long) slot * responseSlotBytes;
    }
}
