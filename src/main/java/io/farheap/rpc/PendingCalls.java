package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.rpc.message.BatchFormat;
import io.farheap.rpc.message.PayloadCopier;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one message ring that are answered later. The server thread alone uses it, except for {@link #answered}
 * and {@link #cancelled}, which any thread may call.
 *
 * <p>Answers travel to the server thread by a stack: an answering thread pushes its call with a compare-and-set of
 * {@code answered}, then wakes the server thread; that takes the whole stack with one getAndSet and reverses it.
 */
final class PendingCalls {

    private static final VarHandle ANSWERED;

    static {
        try {
            ANSWERED = MethodHandles.lookup().findVarHandle(PendingCalls.class, "answered", PendingCall.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Runnable wake;
    private final int most;
    private long sequence;
    private int slot;

    /** Calls that were put off and whose answers have not been sent. */
    private int deferred;

    /** Answered calls, the latest first: any thread pushes, the server thread takes all of them. */
    @SuppressWarnings("unused")
    private volatile @Nullable PendingCall answered;
    /** Answered calls that the server thread has taken, in the order in which they were answered. */
    private @Nullable PendingCall toSend;
    /** Objects that serve another call, linked by {@code next}. */
    private @Nullable PendingCall spare;

    private volatile boolean cancelled;

    /** @param wake makes the server thread look at its rings, if it sleeps; any thread calls it */
    PendingCalls(RingShape shape, Runnable wake) {
        this.wake = wake;
        this.most = shape.slots() * shape.batch();
    }

    /**
     * Sets the batch of the calls that follow. The server thread calls it before the first call of a batch is executed.
     */
    void begin(long batch, int itsSlot) {
        sequence = batch;
        slot = itsSlot;
    }

    PendingCall later(int index, int most) {
        return new PendingCall(this, false).of(sequence, slot, index, most);
    }

    PendingCall goesOn(int index, int most) {
        PendingCall call = spare;
        if (call == null) {
            call = new PendingCall(this, true);
        } else {
            spare = call.next;
            call.next = null;
        }
        return call.of(sequence, slot, index, most);
    }

    /** Counts a call whose handler has returned without an answer. */
    void putOff() {
        deferred++;
    }

    /** Whether more calls are put off than a client that respects the queue depth can have. */
    boolean tooMany() {
        return deferred > most;
    }

    /** The next answer to send, which stays the next until {@link #sent}; null if no call has been answered. */
    @Nullable
    PendingCall nextAnswer() {
        if (toSend == null && answered != null) {
            PendingCall last = (PendingCall) ANSWERED.getAndSet(this, null);
            while (last != null) {
                PendingCall before = last.next;
                last.next = toSend;
                toSend = last;
                last = before;
            }
        }
        while (toSend != null && toSend.dropped) {
            take();
        }
        return toSend;
    }

    // nextAnswer has returned one, so toSend is not null.
    @SuppressWarnings("NullAway")
    private void take() {
        PendingCall taken = toSend;
        toSend = taken.next;
        taken.next = null;
        if (taken.reused) {
            taken.next = spare;
            spare = taken;
        }
    }

    void sent() {
        take();
        deferred--;
    }

    /**
     * Stages an answer in the ring.
     *
     * @return its bytes, header included
     */
    static int write(PendingCall call, MemorySegment out, long at) {
        int length = call.length;
        MemorySegment.copy(call.reply, 0, out, JAVA_BYTE, at + BatchFormat.HEADER_BYTES, length);
        long payload = out.address() + at + BatchFormat.HEADER_BYTES;
        BatchFormat.pad(payload, length);
        long hash = PayloadCopier.hash(payload, length, BatchFormat.start());
        BatchFormat.header(out, at, call.sequence, BatchFormat.summary(length, call.index, call.status), hash);
        return BatchFormat.HEADER_BYTES + BatchFormat.padded(length);
    }

    boolean answered(PendingCall call) {
        if (cancelled) {
            return false;
        }
        // A sleeping thread is not missed: it announces its sleep before it looks here once more, and this pushes
        // before wake asks whether the thread sleeps.
        PendingCall before;
        do {
            before = answered;
            call.next = before;
        } while (!ANSWERED.compareAndSet(this, before, call));
        wake.run();
        return true;
    }

    boolean cancelled() {
        return cancelled;
    }

    /** Drops all answers: the client receives none any more. */
    void cancel() {
        cancelled = true;
        answered = null;
        toSend = null;
    }
}
