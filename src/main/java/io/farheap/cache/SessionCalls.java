package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.lifetime.Closing;
import io.farheap.memory.NativeMemory;
import io.farheap.migration.RegionEntry;
import io.farheap.migration.RegionTable;
import io.farheap.procedure.Call;
import io.farheap.procedure.CallFormat;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.translate.Context;
import io.farheap.remote.Outcome;
import io.farheap.remote.RemoteServer;
import io.farheap.remote.ReplyHandler;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one session, by place. A call is
 *
 * <ul>
 *   <li><b>kept</b>, while the region that it needs moves, or there is no room on the way to its server;
 *   <li><b>sent</b>, until its server answers: it has ended, or it has met an address that this server does not have,
 *       and its context comes with the answer; then it is kept or sent again;
 *   <li><b>here</b>, where no server runs it: {@link LocalCalls} makes its accesses one by one.
 * </ul>
 *
 * <p>Inside the session's gate, or with it claimed. Nothing here allocates once the session has made its first calls.
 */
final class SessionCalls implements AutoCloseable {

    /** Calls of a session that may be under way. */
    static final int MOST = 128;

    private static final byte FREE = 0;
    private static final byte KEPT = 1;
    private static final byte SENT = 2;
    private static final byte HERE = 3;

    private static final long CALL = CallFormat.CALL_BYTES;
    /** What a read-only call gets where its connection failed. */
    private static final int TRIES = 2;

    private final RegionTable table;
    private final CacheProcedures procedures;
    private final CallLinks links;
    private final LocalCalls here;
    private final Arena arena = Arena.ofShared();
    /** By place, an answer. */
    private final MemorySegment answers;

    private final MemorySegment message;

    private final ReplyHandler handler = this::answered;
    private final byte[] state = new byte[MOST];
    private final @Nullable Procedure[] procedure = new Procedure[MOST];
    /** The address whose server it is to go to. */
    private final long[] address = new long[MOST];

    private final long[] from = new long[MOST];
    private final long[] span = new long[MOST];
    private final @Nullable Buffer[] buffer = new Buffer[MOST];
    private final long[] arguments = new long[MOST];
    private final int[] argumentBytes = new int[MOST];
    private final long[] result = new long[MOST];
    private final int[] resultBytes = new int[MOST];
    private final @Nullable CallCompletion[] completion = new CallCompletion[MOST];
    private final long[] token = new long[MOST];
    /** Of the context that is at its place in {@code answers}; 0 for a call that has not begun. */
    private final int[] contextBytes = new int[MOST];

    private final byte[] tries = new byte[MOST];
    private final int[] free = new int[MOST];
    private int freeCount;
    private int kept;
    /** How many wait for earlier ones and make later ones wait, and of these how many may write. */
    private int ordered;

    private int orderedWrites;
    private boolean inCallback;
    private int ended;

    SessionCalls(CallingCache cache, LocalCalls.Requests requests, Runnable wake) {
        this.table = cache.table();
        this.procedures = cache.procedures();
        try {
            this.answers = arena.allocate((long) MOST * CallFormat.RECORD_BYTES, Long.BYTES);
            this.message = arena.allocate(CallFormat.RECORD_BYTES, Long.BYTES);
            this.links = cache.callLinks(wake);
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
        this.here = new LocalCalls(cache, requests, MOST, new Here());
        for (int i = 0; i < MOST; i++) {
            free[freeCount++] = MOST - 1 - i;
        }
    }

    /** @throws IllegalArgumentException naming what is wrong */
    void check(Procedure called, int argumentLength, int resultLength) {
        if (!called.registered() || !procedures.has(called)) {
            throw new IllegalArgumentException(
                    called + " is not registered with this cache; Cache.procedures().register(...) does that");
        }
        if (argumentLength > Call.ARGUMENT_BYTES || resultLength > Call.RESULT_BYTES) {
            throw new IllegalArgumentException(argumentLength + " bytes of arguments and " + resultLength
                    + " for the result; a call has at most " + Call.ARGUMENT_BYTES + " of each");
        }
    }

    /** Whether a request, or a call, has to wait for earlier calls. */
    boolean blocks(boolean write, long at, long length) {
        if (ordered == 0 || !write && orderedWrites == 0) {
            return false;
        }
        for (int i = 0; i < MOST; i++) {
            Procedure called = procedure[i];
            if (state[i] != FREE
                    && called != null
                    && !called.unordered()
                    && (write || !called.readsOnly())
                    && at < from[i] + span[i]
                    && from[i] < at + length) {
                return true;
            }
        }
        return false;
    }

    /**
     * Makes a call, whose numbers have been checked.
     *
     * @return false where there is no room
     */
    boolean call(
            Procedure called,
            long at,
            long footprint,
            long bytes,
            Buffer memory,
            long argumentsAt,
            int argumentLength,
            long resultAt,
            int resultLength,
            CallCompletion done,
            long itsToken) {
        if (freeCount == 0 || !called.unordered() && blocks(!called.readsOnly(), footprint, bytes)) {
            return false;
        }
        int place = free[freeCount - 1];
        procedure[place] = called;
        address[place] = at;
        from[place] = footprint;
        span[place] = bytes;
        buffer[place] = memory;
        arguments[place] = memory.address() + argumentsAt;
        argumentBytes[place] = argumentLength;
        result[place] = memory.address() + resultAt;
        resultBytes[place] = resultLength;
        completion[place] = done;
        token[place] = itsToken;
        contextBytes[place] = 0;
        tries[place] = 0;
        freeCount--;
        if (!called.unordered()) {
            ordered++;
            orderedWrites += called.readsOnly() ? 0 : 1;
        }
        state[place] = KEPT;
        kept++;
        if (!goOn(place) && links.full(server(at))) {
            // Nobody has seen it yet.
            release(place);
            return false;
        }
        return true;
    }

    private @Nullable RemoteServer server(long at) {
        RegionEntry entry = table.get(table.indexOf(at));
        return entry.isSplit() ? null : entry.copy().server();
    }

    /**
     * Sends a call that is kept, or runs it here.
     *
     * @return false where it has to be kept
     */
    // A place that is not free has all of these.
    @SuppressWarnings("NullAway")
    private boolean goOn(int place) {
        Procedure called = procedure[place];
        int region = table.indexOf(address[place]);
        if (region == procedures.moving()) {
            return false;
        }
        RemoteServer server = server(address[place]);
        if (server == null || !called.runsOn(server)) {
            move(place, HERE);
            here.begin(
                    place,
                    called,
                    from[place],
                    span[place],
                    arguments[place],
                    argumentBytes[place],
                    resultBytes[place],
                    context(place));
            return true;
        }
        CallLink link = links.to(server);
        if (!link.hasRoom()) {
            if (server.lost() != null || link.unreachable()) {
                end(place, CallStatus.LOST, 0, 0);
                return true;
            }
            return false;
        }
        message.set(JAVA_INT_UNALIGNED, 0, called.id());
        message.set(JAVA_INT_UNALIGNED, 4, resultBytes[place]);
        message.set(JAVA_LONG_UNALIGNED, 8, from[place]);
        message.set(JAVA_LONG_UNALIGNED, 16, span[place]);
        message.set(JAVA_LONG_UNALIGNED, 24, address[place]);
        int context = contextBytes[place];
        int bytes = context > 0 ? context : argumentBytes[place];
        MemorySegment.copy(
                NativeMemory.ALL,
                context > 0 ? answer(place) + CallFormat.REPLY_BYTES : arguments[place],
                message,
                CALL,
                bytes);
        move(place, SENT);
        link.call(
                context > 0 ? CallFormat.RESUME : CallFormat.CALL,
                this,
                message.address(),
                CallFormat.CALL_BYTES + bytes,
                answer(place),
                CallFormat.RECORD_BYTES,
                place);
        return true;
    }

    private void move(int place, byte next) {
        kept -= state[place] == KEPT ? 1 : 0;
        kept += next == KEPT ? 1 : 0;
        state[place] = next;
    }

    private long answer(int place) {
        return answers.address() + (long) place * CallFormat.RECORD_BYTES;
    }

    private @Nullable MemorySegment context(int place) {
        return contextBytes[place] == 0
                ? null
                : answers.asSlice((long) place * CallFormat.RECORD_BYTES + CallFormat.REPLY_BYTES, contextBytes[place]);
    }

    /**
     * Makes progress, and runs callbacks.
     *
     * @return how many
     */
    int poll() {
        if (freeCount == MOST) {
            return 0;
        }
        ended = 0;
        links.poll(handler);
        here.poll();
        if (kept > 0) {
            for (int place = 0; place < MOST && kept > 0; place++) {
                if (state[place] == KEPT) {
                    goOn(place);
                }
            }
        }
        return ended;
    }

    // As in goOn.
    @SuppressWarnings("NullAway")
    private void answered(long tag, int outcome, int bytes) {
        int place = (int) tag;
        if (outcome != Outcome.DONE || bytes < CallFormat.REPLY_BYTES) {
            // It may have run. One that reads may run again.
            boolean again = outcome == Outcome.UNKNOWN && procedure[place].readsOnly() && ++tries[place] < TRIES;
            if (again) {
                move(place, KEPT);
            } else {
                end(place, outcome == Outcome.UNKNOWN ? CallStatus.LOST : CallStatus.REFUSED, 0, 0);
            }
            return;
        }
        long at = answer(place);
        int status = NativeMemory.ALL.get(JAVA_INT_UNALIGNED, at);
        int code = NativeMemory.ALL.get(JAVA_INT_UNALIGNED, at + 4);
        long value = NativeMemory.ALL.get(JAVA_LONG_UNALIGNED, at + 8);
        if (status == CallFormat.LEFT) {
            left(place, value, bytes - CallFormat.REPLY_BYTES);
        } else if (status == CallStatus.DONE) {
            int length = Math.min(bytes - CallFormat.REPLY_BYTES, resultBytes[place]);
            MemorySegment.copy(NativeMemory.ALL, at + CallFormat.REPLY_BYTES, NativeMemory.ALL, result[place], length);
            end(place, CallStatus.DONE, code, length);
        } else {
            end(place, status, 0, 0);
        }
    }

    /** It has met an address that the server does not have. */
    // As in goOn.
    @SuppressWarnings("NullAway")
    private void left(int place, long at, int bytes) {
        if (at < from[place] || at >= from[place] + span[place] || bytes < 1) {
            end(place, CallStatus.OUT_OF_RANGE, 0, 0);
            return;
        }
        if (procedure[place].stops()
                && table.indexOf(at) != procedures.moving()
                && server(at) != null
                && server(at) != server(address[place])) {
            end(place, CallStatus.STOPPED, 0, 0);
            return;
        }
        address[place] = at;
        contextBytes[place] = bytes;
        move(place, KEPT);
    }

    private final class Here implements LocalCalls.Ended {

        @Override
        public void ended(int place, int status, int code, @Nullable MemorySegment from, int bytes) {
            if (from != null) {
                MemorySegment.copy(from, 0, NativeMemory.ALL, result[place], bytes);
            }
            end(place, status, code, bytes);
        }

        // As in goOn.
        @SuppressWarnings("NullAway")
        @Override
        public boolean takesOver(int place, Context context) {
            long at = context.address();
            int bytes = context.saveBytes();
            RemoteServer server = table.indexOf(at) == procedures.moving() ? null : server(at);
            if (server == null
                    || !procedure[place].runsOn(server)
                    || bytes > CallFormat.RECORD_BYTES - CallFormat.CALL_BYTES) {
                return false;
            }
            context.save(answers, (long) place * CallFormat.RECORD_BYTES + CallFormat.REPLY_BYTES);
            address[place] = at;
            contextBytes[place] = bytes;
            move(place, KEPT);
            return true;
        }
    }

    // As in goOn.
    @SuppressWarnings("NullAway")
    private void end(int place, int status, int code, int bytes) {
        CallCompletion done = completion[place];
        long itsToken = token[place];
        release(place);
        ended++;
        // A callback may make a call that ends at once.
        boolean outer = inCallback;
        inCallback = true;
        try {
            done.completed(itsToken, status, code, bytes);
        } finally {
            inCallback = outer;
        }
    }

    private void release(int place) {
        Procedure called = procedure[place];
        move(place, FREE);
        if (called != null && !called.unordered()) {
            ordered--;
            orderedWrites -= called.readsOnly() ? 0 : 1;
        }
        procedure[place] = null;
        buffer[place] = null;
        completion[place] = null;
        free[freeCount++] = place;
    }

    boolean inCallback() {
        return inCallback;
    }

    /** Calls between issue and callback. */
    int pending() {
        return MOST - freeCount;
    }

    /** Calls that wait for a migration, or for room. */
    int kept() {
        return kept;
    }

    void send() {
        links.send();
    }

    /**
     * As {@link RequestPath#listen}.
     *
     * @return ns to sleep at most, 0 for ever
     */
    long listen() {
        return freeCount == MOST ? 0 : links.listen(kept > 0);
    }

    boolean uses(Buffer candidate) {
        for (int i = 0; i < MOST; i++) {
            if (state[i] != FREE && buffer[i] == candidate) {
                return true;
            }
        }
        return false;
    }

    boolean reaches(long end) {
        for (int i = 0; i < MOST; i++) {
            if (state[i] != FREE && from[i] + span[i] > end) {
                return true;
            }
        }
        return false;
    }

    /** Ends what has not been sent. */
    void abandonUnposted() {
        for (int i = 0; i < MOST; i++) {
            if (state[i] == KEPT) {
                end(i, contextBytes[i] == 0 ? CallStatus.REFUSED : CallStatus.LOST, 0, 0);
            }
        }
    }

    void lose(RemoteServer server) {
        links.lose(server);
    }

    void forget(RemoteServer server) {
        links.forget(server);
    }

    @Override
    public void close() {
        Closing.all(links, here, arena);
    }
}
