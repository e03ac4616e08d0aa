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
 * Messages, answers and contexts of a session's calls. By place there are two records: an answer comes into one while
 * the other has the context that the call was sent with. An answer is written before it is known to be whole, and may
 * never be, so a context that is in its way could not be sent again. One thread at a time.
 */
final class CallMemory implements AutoCloseable {

    private final Arena arena = Arena.ofShared();
    private final long bytes;
    private final MemorySegment first;
    /** Made with the first context: most calls have none. */
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

    /** Where the next answer to a call comes. */
    long answer(SessionCall call) {
        return records(call.answersOther).address() + at(call);
    }

    /** What has {@linkplain #contextAt there} the context of a call, where it has one. */
    MemorySegment contexts(SessionCall call) {
        return call.contextBytes > 0 ? records(!call.answersOther) : first;
    }

    /** Where a context is, or is put in place of an answer's. */
    static long contextAt(SessionCall call) {
        return at(call) + CallFormat.REPLY_BYTES;
    }

    /** Where a context may be put that is {@linkplain #keep kept} then. */
    MemorySegment answers(SessionCall call) {
        return records(call.answersOther);
    }

    /** The context that has come with an answer, or was put there, is the call's; the next answer comes elsewhere. */
    void keep(SessionCall call, int contextBytes) {
        if (second == null) {
            second = arena.allocate(bytes, Long.BYTES);
        }
        call.contextBytes = contextBytes;
        call.answersOther = !call.answersOther;
    }

    /** Where {@link #write} writes. */
    long message() {
        return message;
    }

    /**
     * Writes what a server is sent: a call with its arguments, or with its context.
     *
     * @return bytes
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
