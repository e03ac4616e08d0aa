package io.farheap.cache.calls;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.memory.NativeMemory;
import io.farheap.procedure.format.CallFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The memory for messages, answers and contexts of a session's calls. Each place has two records: an answer is written
 * into one while the other contains the context that the call was sent with. An answer is written before it is known to
 * be complete, and may never be, so it must not overwrite a context that may have to be sent again. One thread at a
 * time.
 */
final class CallMemory implements AutoCloseable {

    /** A context may have so many bytes: a message to a server with it fits into a record. */
    static final int MOST_CONTEXT_BYTES = CallFormat.RECORD_BYTES - CallFormat.CALL_BYTES;

    private final Arena arena = Arena.ofShared();
    private final long bytes;
    private final MemorySegment first;
    /** Allocated with the first context: most calls have none. */
    private @Nullable MemorySegment second;

    private final long message;

    CallMemory(int places) {
        bytes = (long) places * CallFormat.RECORD_BYTES;
        try {
            first = arena.allocate(bytes, Long.BYTES);
            message = arena.allocate(CallFormat.RECORD_BYTES, Long.BYTES).address();
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
    }

    private MemorySegment records(boolean other) {
        return other ? Objects.requireNonNull(second) : first;
    }

    private static long at(SessionCall call) {
        return (long) call.place * CallFormat.RECORD_BYTES;
    }

    /** The address of the record that the next answer to a call is written to. */
    long answer(SessionCall call) {
        return records(call.answersOther).address() + at(call);
    }

    /** The records that contain the context of a call, at {@link #contextAt}, if it has one. */
    MemorySegment contexts(SessionCall call) {
        return call.contextBytes > 0 ? records(!call.answersOther) : first;
    }

    /** The offset of a context in its records: that of an answer's payload. */
    static long contextAt(SessionCall call) {
        return at(call) + CallFormat.REPLY_BYTES;
    }

    /** The records into which a context may be written that is {@linkplain #keep kept} then. */
    MemorySegment answers(SessionCall call) {
        return records(call.answersOther);
    }

    /**
     * Keeps the context that came with an answer, or was written in its place, as the call's; the next answer is
     * written into the other record.
     */
    void keep(SessionCall call, int contextBytes) {
        if (second == null) {
            second = arena.allocate(bytes, Long.BYTES);
        }
        call.contextBytes = contextBytes;
        call.answersOther = !call.answersOther;
    }

    /** As {@link StoppedCalls#keep}. */
    long stop(SessionCall call, StoppedCalls stops) {
        return stops.keep(call, contexts(call), contextAt(call), arena);
    }

    /** Gives a call that has no context that of one that has stopped. */
    void resume(SessionCall call, StoppedCalls.StoppedCall stopped) {
        MemorySegment.copy(stopped.context(), 0, answers(call), contextAt(call), stopped.contextBytes);
        keep(call, stopped.contextBytes);
    }

    /** The address that {@link #write} writes to. */
    long message() {
        return message;
    }

    /**
     * Writes the message to a server: a call with its arguments, or with its context.
     *
     * @return its length in bytes
     */
    int write(SessionCall call, RegisteredProcedure called) {
        NativeMemory.ALL.set(JAVA_INT_UNALIGNED, message, called.id());
        NativeMemory.ALL.set(JAVA_INT_UNALIGNED, message + 4, call.resultBytes);
        NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, message + 8, call.from);
        NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, message + 16, call.span);
        NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, message + 24, call.address);
        long to = message + CallFormat.CALL_BYTES;
        if (call.contextBytes > 0) {
            MemorySegment.copy(contexts(call), contextAt(call), NativeMemory.ALL, to, call.contextBytes);
            return CallFormat.CALL_BYTES + call.contextBytes;
        }
        MemorySegment.copy(NativeMemory.ALL, call.arguments, NativeMemory.ALL, to, call.argumentBytes);
        return CallFormat.CALL_BYTES + call.argumentBytes;
    }

    @Override
    public void close() {
        arena.close();
    }
}
