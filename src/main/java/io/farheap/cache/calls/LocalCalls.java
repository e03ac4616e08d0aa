package io.farheap.cache.calls;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.NativeMemory;
import io.farheap.migration.region.RegionTable;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.running.CallContext;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls in the client if no server runs their procedure: the same translated code, in which each access is a read,
 * a write or an atomic of the session. The device's atomics are not atomic with those of a server's procedures, so an
 * atomic on a word of a server that runs the procedure is left to that server; a set of many words ends the call.
 * Inside the session's gate.
 */
public final class LocalCalls implements AutoCloseable, Completion {

    /** Issues accesses as requests of the session; returns false if there is no room. */
    public interface AccessIssuer {
        boolean issue(
                boolean write,
                long address,
                long length,
                RequestBuffer buffer,
                long local,
                Completion done,
                long token);

        /** As {@link RequestPath#issueAtomic}. */
        boolean issueAtomic(
                boolean swap,
                long address,
                long compareOrAdd,
                long value,
                RequestBuffer buffer,
                long local,
                Completion done,
                long token);
    }

    /** Receives the events of local calls. */
    interface LocalCallListener {

        /**
         * A call has ended; its result is at an address until this returns.
         *
         * @param address as {@link io.farheap.cache.contract.CallResult#address}
         * @param line as {@link io.farheap.cache.contract.CallResult#line}
         */
        void ended(int place, int status, int code, long from, int bytes, long address, int line);

        /** Whether a server has taken over a call that is about to access an address. */
        boolean takesOver(int place, CallContext context);

        /** Whether the device's atomics may change a word: {@link #MAY}, {@link #MAY_LATER} or {@link #MAY_NOT}. */
        int atomic(int place, long address);
    }

    static final int MAY = 0;
    static final int MAY_LATER = 1;
    static final int MAY_NOT = 2;

    private static final int ACCESS_BYTES = 4096;
    private static final int SLICE_FUEL = 10_000;

    private static final byte IDLE = 0;
    /** The call continues with the next poll. */
    private static final byte READY = 1;
    /** The call has an access to make, for which there was no room yet. */
    private static final byte WANTS = 2;
    /** The call's access is in flight. */
    private static final byte WAITS = 3;

    /**
     * The memory of the contexts. These keep only addresses of it, so an automatic arena would free it while it is
     * used.
     */
    private final Arena arena = Arena.ofShared();

    private final RegionTable table;
    private final CallHost cache;
    private final AccessIssuer requests;
    private final LocalCallListener ended;
    private final byte[] state;
    private final @Nullable CallContext[] contexts;
    private final int[] statuses;
    private @Nullable MemorySegment nowhere;
    private @Nullable RequestBuffer buffer;
    private int active;

    LocalCalls(CallHost cache, AccessIssuer requests, int most, LocalCallListener ended) {
        this.table = cache.table();
        this.cache = cache;
        this.requests = requests;
        this.ended = ended;
        this.state = new byte[most];
        this.contexts = new CallContext[most];
        this.statuses = new int[most];
    }

    /**
     * Allocates the memory that a call in a place needs, before it {@linkplain #begin begins}.
     *
     * @throws RuntimeException if there is no memory, or it cannot be registered; nothing has happened then
     */
    void prepare(int place) {
        if (contexts[place] == null) {
            contexts[place] = new CallContext(arena.allocate(CallContext.MEMORY_BYTES, Long.BYTES));
        }
        if (buffer == null) {
            buffer = cache.register((long) state.length * ACCESS_BYTES);
        }
        nowhere();
    }

    /**
     * Begins a call in a place that is {@linkplain #prepare prepared}.
     *
     * @param saved contains the context that the call continues with
     * @param savedBytes length of the context; 0 to begin
     */
    // As in run.
    @SuppressWarnings("NullAway")
    void begin(
            int place,
            RegisteredProcedure procedure,
            long from,
            long span,
            long arguments,
            int argumentBytes,
            int resultCapacity,
            MemorySegment saved,
            long savedAt,
            int savedBytes) {
        CallContext context = contexts[place];
        context.begin(procedure.translation().code(), from, span, argumentBytes, resultCapacity, CallFormat.FUEL_LIMIT);
        MemorySegment.copy(NativeMemory.ALL, arguments, NativeMemory.ALL, context.argumentsAddress(), argumentBytes);
        state[place] = READY;
        statuses[place] = CallStatus.DONE;
        if (savedBytes > 0 && !context.load(saved, savedAt, savedBytes)) {
            // The server has sent an invalid context.
            statuses[place] = CallStatus.LOST;
        }
        active++;
    }

    /** Whether a call continues with the next poll. */
    boolean runs() {
        return any(READY);
    }

    /** Whether a call has an access to make for which there was no room. */
    boolean wants() {
        return any(WANTS);
    }

    private boolean any(byte wanted) {
        for (int place = 0; active > 0 && place < state.length; place++) {
            if (state[place] == wanted) {
                return true;
            }
        }
        return false;
    }

    /** Runs the calls that are ready, and issues accesses. */
    void poll() {
        for (int place = 0; active > 0 && place < state.length; place++) {
            if (state[place] == READY) {
                run(place);
            } else if (state[place] == WANTS) {
                proceed(place);
            }
        }
    }

    // A place that is in use has a context.
    @SuppressWarnings("NullAway")
    private void run(int place) {
        CallContext context = contexts[place];
        if (statuses[place] != CallStatus.DONE) {
            end(place, statuses[place], 0, 0, CallResult.NOWHERE, 0);
            return;
        }
        context.map(nowhere().address(), entries(), Long.numberOfTrailingZeros(table.regionBytes()));
        switch (context.run(SLICE_FUEL)) {
            case CallContext.RETURNED ->
                end(place, CallStatus.DONE, context.code(), context.resultBytes(), CallResult.NOWHERE, 0);
            case CallContext.ENDED -> end(place, context.status(), 0, 0, context.endAddress(), context.line());
            case CallContext.ACCESS -> proceed(place);
            default -> {
                // The call has used up its slice, and continues with the next poll.
            }
        }
    }

    // As in run.
    @SuppressWarnings("NullAway")
    private void proceed(int place) {
        CallContext context = contexts[place];
        if (ended.takesOver(place, context)) {
            forget(place);
        } else if (context.accessKind() == CallContext.COMPARE_AND_SET || context.accessKind() == CallContext.ADD) {
            atomic(place, context);
        } else {
            access(place);
        }
    }

    // As in run.
    @SuppressWarnings("NullAway")
    private void atomic(int place, CallContext context) {
        long address = context.address();
        int may = cache.atomics() ? ended.atomic(place, address) : MAY_NOT;
        if (may == MAY_NOT) {
            endAtAtomic(place, context);
            return;
        }
        boolean swap = context.accessKind() == CallContext.COMPARE_AND_SET;
        state[place] = WAITS;
        if (may == MAY_LATER
                || !requests.issueAtomic(
                        swap,
                        address,
                        swap ? context.expected() : context.value(),
                        context.value(),
                        buffer,
                        buffer.address() + (long) place * ACCESS_BYTES,
                        this,
                        place)) {
            state[place] = WANTS;
        }
    }

    private int entries() {
        return CallContext.entries(table.size());
    }

    /** A table in which no region is in this process. */
    private MemorySegment nowhere() {
        long bytes = (long) entries() * Long.BYTES;
        MemorySegment zeros = nowhere;
        if (zeros == null || zeros.byteSize() < bytes) {
            zeros = Arena.ofAuto().allocate(bytes, Long.BYTES);
            nowhere = zeros;
        }
        return zeros;
    }

    // As in run.
    @SuppressWarnings("NullAway")
    private void access(int place) {
        CallContext context = contexts[place];
        long local = buffer.address() + (long) place * ACCESS_BYTES;
        int bytes = context.accessBytes();
        boolean write = false;
        switch (context.accessKind()) {
            case CallContext.READ, CallContext.COPY_TO_SCRATCH -> {}
            case CallContext.WRITE -> {
                write = true;
                NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, local, context.value());
            }
            case CallContext.COPY_FROM_SCRATCH -> {
                write = true;
                MemorySegment.copy(
                        NativeMemory.ALL,
                        context.scratchAddress() + context.scratchAt(),
                        NativeMemory.ALL,
                        local,
                        bytes);
            }
            default -> {
                endAtAtomic(place, context);
                return;
            }
        }
        if (bytes == 0) {
            done(context, local, 0);
            state[place] = READY;
            return;
        }
        state[place] = WAITS;
        if (!requests.issue(write, context.address(), bytes, buffer, local, this, place)) {
            state[place] = WANTS;
        }
    }

    @Override
    // As in run.
    @SuppressWarnings("NullAway")
    public void completed(long token, int status) {
        int place = (int) token;
        CallContext context = contexts[place];
        if (state[place] != WAITS) {
            return;
        }
        if (status == Status.OK) {
            done(context, buffer.address() + (long) place * ACCESS_BYTES, context.accessBytes());
        } else {
            statuses[place] = CallStatus.LOST;
        }
        // The call continues with the next poll, not here: another callback may be running.
        state[place] = READY;
    }

    private static void done(CallContext context, long local, int bytes) {
        long found = 0;
        switch (context.accessKind()) {
            case CallContext.COPY_TO_SCRATCH ->
                MemorySegment.copy(
                        NativeMemory.ALL,
                        local,
                        NativeMemory.ALL,
                        context.scratchAddress() + context.scratchAt(),
                        bytes);
            case CallContext.READ ->
                found = NativeMemory.ALL.get(JAVA_LONG_UNALIGNED, local) & -1L >>> Long.SIZE - Byte.SIZE * bytes;
            case CallContext.ADD -> found = NativeMemory.ALL.get(JAVA_LONG_UNALIGNED, local);
            case CallContext.COMPARE_AND_SET ->
                found = NativeMemory.ALL.get(JAVA_LONG_UNALIGNED, local) == context.expected() ? 1 : 0;
            default -> {
                // A write has no result.
            }
        }
        context.accessDone(found);
    }

    private void endAtAtomic(int place, CallContext context) {
        end(place, CallStatus.INCOMPLETE, CallStatus.NO_ATOMIC, 0, context.address(), context.suspendedLine());
    }

    // As in run.
    @SuppressWarnings("NullAway")
    private void end(int place, int status, int code, int bytes, long address, int line) {
        forget(place);
        ended.ended(place, status, code, contexts[place].resultAddress(), bytes, address, line);
    }

    // As in run.
    @SuppressWarnings("NullAway")
    private void forget(int place) {
        state[place] = IDLE;
        active--;
        contexts[place].end();
    }

    @Override
    public void close() {
        Arrays.fill(state, IDLE);
        RequestBuffer registered = buffer;
        buffer = null;
        Closeables.all(
                () -> {
                    if (registered != null) {
                        registered.free();
                    }
                },
                arena);
    }
}
