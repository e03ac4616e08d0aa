package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one message ring: those of the batch under way, in columns, and those that are answered later. Its
 * server thread alone uses it, but for {@link #answered} and {@link #cancelled}, which any thread may call.
 */
final class ServedCalls implements AutoCloseable {

    private static final VarHandle ANSWERED;

    static {
        try {
            ANSWERED = MethodHandles.lookup().findVarHandle(ServedCalls.class, "answered", PendingCall.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final RpcHandlers handlers;
    private final HeldRegions held;
    private final Runnable wake;
    private final int most;
    /** Arguments are copied here while they are checked: the client may write to the ring at any time. */
    private final Arena arena = Arena.ofShared();

    private final MemorySegment scratch;
    private final int stride;
    private final Arguments arguments;
    private final Reply reply;

    private final RpcHandler[] handler;
    /** Which was found last, and who executes its calls on this thread: most of a ring are of one operation. */
    private @Nullable RpcHandler found;

    private @Nullable RpcHandler own;
    private final int[] operation;
    private final int[] bytes;
    private final int[] capacity;
    private final byte[] status;
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

    /**
     * @param out where replies go
     * @param wake makes the server thread look at its rings, if it sleeps; any thread calls it
     */
    ServedCalls(RpcHandlers handlers, HeldRegions held, RingShape shape, MemorySegment out, Runnable wake) {
        this.handlers = handlers;
        this.held = held;
        this.wake = wake;
        this.most = shape.slots() * shape.batch();
        this.stride = BatchFormat.padded(shape.recordBytes());
        this.handler = new RpcHandler[shape.batch()];
        this.operation = new int[shape.batch()];
        this.bytes = new int[shape.batch()];
        this.capacity = new int[shape.batch()];
        this.status = new byte[shape.batch()];
        this.scratch = arena.allocate((long) stride * shape.batch(), Long.BYTES);
        this.arguments = new Arguments(scratch);
        this.reply = new Reply(this, out);
    }

    /**
     * Takes a call of a batch that is being checked.
     *
     * @return the hash of the batch so far
     */
    long take(int index, int number, long from, int length, int replyBytes, long hash) {
        operation[index] = number;
        bytes[index] = length;
        capacity[index] = replyBytes;
        return Payload.fromMemory(from, scratch.address() + (long) index * stride, length, hash);
    }

    /** Before the first call of a batch is executed. */
    void begin(long batch, int itsSlot) {
        sequence = batch;
        slot = itsSlot;
    }

    /** @return where a word is that the call will need, in the server's memory, or {@link RpcHandler#NOWHERE} */
    long touch(int index) {
        status[index] = BatchFormat.DONE;
        try {
            RpcHandler own = find(operation[index]);
            handler[index] = own;
            if (own == null) {
                status[index] = BatchFormat.NO_OPERATION;
                return RpcHandler.NOWHERE;
            }
            long place = own.touch(held, arguments(index));
            if (place >= RpcHandler.NOWHERE && place < held.memory().byteSize()) {
                return place;
            }
            failed(index, new IllegalStateException("a word at " + place + " of the server's memory"));
        } catch (NotHeldException e) {
            status[index] = BatchFormat.NOT_HELD;
        } catch (Throwable e) {
            failed(index, e);
        } finally {
            arguments.end();
        }
        return RpcHandler.NOWHERE;
    }

    private @Nullable RpcHandler find(int number) {
        RpcHandler now = handlers.find(number);
        if (now != found) {
            own = now == null ? null : now.onThread();
            found = now;
        }
        return own;
    }

    private Arguments arguments(int index) {
        arguments.set((long) index * stride, bytes[index], capacity[index]);
        return arguments;
    }

    /**
     * @param to where the reply goes in the ring.
     * @return its bytes; {@link #status} says more
     */
    int execute(int index, long to) {
        if (status[index] != BatchFormat.DONE) {
            return 0;
        }
        reply.set(index, to, capacity[index]);
        try {
            int length = handler[index].execute(held, arguments(index), reply);
            if (length == RpcHandler.LATER && reply.deferred()) {
                status[index] = BatchFormat.LATER;
                deferred++;
                return 0;
            }
            reply.drop();
            if (length >= 0 && length <= capacity[index]) {
                return length;
            }
            failed(
                    index,
                    new IllegalStateException("a reply of " + length + " bytes; there is room for " + capacity[index]));
        } catch (NotHeldException e) {
            reply.drop();
            status[index] = BatchFormat.NOT_HELD;
        } catch (Throwable e) {
            reply.drop();
            failed(index, e);
        } finally {
            // One that keeps them must not reach what comes after.
            arguments.end();
            reply.end();
        }
        return 0;
    }

    /** In the request batch, padded. */
    int argumentBytes(int index) {
        return BatchFormat.padded(bytes[index]);
    }

    byte status(int index) {
        return status[index];
    }

    /** Zeroes what lies between a reply's end and the next whole word. */
    static void pad(long at, int length) {
        for (int i = length; i < BatchFormat.padded(length); i++) {
            NativeMemory.ALL.set(JAVA_BYTE, at + i, (byte) 0);
        }
    }

    private void failed(int index, Throwable cause) {
        status[index] = BatchFormat.FAILED;
        handlers.failed(operation[index], held.client(), cause);
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
        pad(payload, length);
        long hash = Payload.hash(payload, length, BatchFormat.start());
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

    /** May be called again. */
    @Override
    public void close() {
        cancel();
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
