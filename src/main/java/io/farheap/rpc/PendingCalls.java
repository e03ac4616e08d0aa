package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.rpc.message.BatchFormat;
import io.farheap.rpc.message.PayloadCopier;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one message ring that are answered later. Its server thread alone uses it, but for {@link #answered} and
 * {@link #cancelled}, which any thread may call.
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

    /** Put off and not sent yet. */
    private int deferred;

    /** Answered, the last one first; any thread adds, the server thread takes all of them. */
    @SuppressWarnings("unused")
    private volatile @Nullable PendingCall answered;
    /** Taken, in their order. */
    private @Nullable PendingCall toSend;
    /** To be used again. */
    private @Nullable PendingCall spare;

    private volatile boolean cancelled;

    /** @param wake makes the server thread look at its rings, if it sleeps; any thread calls it */
    PendingCalls(RingShape shape, Runnable wake) {
        this.wake = wake;
        this.most = shape.slots() * shape.batch();
    }

    /** Before the first call of a batch is executed. */
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

    /** A handler has returned, and its call is answered later. */
    void putOff() {
        deferred++;
    }

    /** Whether more are put off than a client that keeps to the queue depth can have. */
    boolean tooMany() {
        return deferred > most;
    }

    /** The next that can be sent, which stays until {@link #sent}; null where there is none. */
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

    // There is one.
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
     * Writes an answer.
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
        // The thread says that it sleeps before it looks here once more; this adds before it asks whether the thread
        // sleeps.
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

    /** Nobody hears answers any more. */
    void cancel() {
        cancelled = true;
        answered = null;
        toSend = null;
    }
}
