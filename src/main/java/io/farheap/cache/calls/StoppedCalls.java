package io.farheap.cache.calls;

import io.farheap.cache.contract.CallResult;
import io.farheap.procedure.format.CallFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a session that have stopped at memory of another server, until the application resumes or drops them
 * (CompuCache, CIDR 2022: stop and return). Of such a call there is only its context, here: no server has any of it, no
 * request waits for it, and it uses no buffer of the application. One thread at a time; a place allocates memory when
 * it is used first.
 */
final class StoppedCalls {

    /** The most stopped calls of a session; a call beyond them ends where it meets the memory. */
    static final int MOST = 64;

    private static final int PLACE_BITS = 6;
    /** A session takes so many handles at once, so that sessions seldom meet at the counter. */
    private static final int BLOCK = 1 << 16;

    private static final AtomicLong BLOCKS = new AtomicLong();

    /** A stopped call; the object is then reused for another. */
    static final class StoppedCall {

        private final int place;
        private long handle = CallResult.NO_HANDLE;
        private @Nullable RegisteredProcedure procedure;
        private @Nullable MemorySegment context;
        /** The address at which it has stopped. */
        long address;
        /** The line of its source at which it has stopped. */
        int line;

        long from;
        private long span;
        int resultBytes;
        int contextBytes;

        private StoppedCall(int place) {
            this.place = place;
        }

        // A stopped call has a procedure.
        @SuppressWarnings("NullAway")
        RegisteredProcedure procedure() {
            return procedure;
        }

        // As in procedure.
        @SuppressWarnings("NullAway")
        MemorySegment context() {
            return context;
        }

        /** How many bytes of its footprint are in a cache that has become smaller. */
        long span(long capacity) {
            return Math.max(0, Math.min(span, capacity - from));
        }
    }

    private final StoppedCall[] all = new StoppedCall[MOST];
    private final StoppedCall[] free = new StoppedCall[MOST];
    private int freeCount;
    /** The numbers that the next handle has, and that the first of another block would have. */
    private long next;

    private long blockEnd;

    StoppedCalls() {
        for (int place = MOST - 1; place >= 0; place--) {
            all[place] = new StoppedCall(place);
            free[freeCount++] = all[place];
        }
    }

    int count() {
        return MOST - freeCount;
    }

    /**
     * Keeps a call that has stopped at its address.
     *
     * @param records contains the call's context
     * @param arena of the memory for contexts
     * @return the call's handle, or {@link CallResult#NO_HANDLE} if there is no room or no memory for it
     */
    long keep(SessionCall call, MemorySegment records, long contextAt, Arena arena) {
        if (freeCount == 0) {
            return CallResult.NO_HANDLE;
        }
        StoppedCall stopped = free[freeCount - 1];
        MemorySegment memory = stopped.context;
        if (memory == null) {
            try {
                memory = arena.allocate(CallFormat.RECORD_BYTES, Long.BYTES);
            } catch (OutOfMemoryError e) {
                return CallResult.NO_HANDLE;
            }
            stopped.context = memory;
        }
        MemorySegment.copy(records, contextAt, memory, 0, call.contextBytes);
        freeCount--;
        stopped.procedure = call.procedure;
        stopped.address = call.address;
        stopped.line = call.line;
        stopped.from = call.from;
        stopped.span = call.span;
        stopped.resultBytes = call.resultBytes;
        stopped.contextBytes = call.contextBytes;
        stopped.handle = number() << PLACE_BITS | stopped.place;
        return stopped.handle;
    }

    /** No two calls of a process have the same, so a handle of another session is none of this one. */
    private long number() {
        if (next == blockEnd) {
            next = BLOCKS.getAndIncrement() * BLOCK + 1;
            blockEnd = next + BLOCK;
        }
        return next++;
    }

    /** The stopped call that has a handle; null if there is none. */
    @Nullable
    StoppedCall find(long handle) {
        StoppedCall call = all[(int) (handle & MOST - 1)];
        return handle != CallResult.NO_HANDLE && call.handle == handle ? call : null;
    }

    /** Forgets a call: its handle is that of no call from now on. */
    void forget(StoppedCall call) {
        call.handle = CallResult.NO_HANDLE;
        call.procedure = null;
        free[freeCount++] = call;
    }
}
