package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.lifetime.Closing;
import io.farheap.memory.NativeMemory;
import io.farheap.migration.RegionEntry;
import io.farheap.migration.RegionTable;
import io.farheap.migration.SplitRegion;
import io.farheap.procedure.Call;
import io.farheap.procedure.CallFormat;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.translate.Context;
import io.farheap.remote.Outcome;
import io.farheap.remote.RemoteRegion;
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
    /** Of one {@link #callAll}: others find room beside them. */
    static final int MOST_AT_ONCE = MOST / 2;

    private static final long CALL = CallFormat.CALL_BYTES;
    /** What a read-only call gets where its connection failed. */
    private static final int TRIES = 2;
    /** A server that has not known an address of its own so often does not know it. */
    private static final int MISSES = 8;
    /** How often it is asked again where it alone may go on. */
    private static final int RETURNS = 10_000;

    private final RegionTable table;
    private final CacheProcedures procedures;
    private final CallLinks links;
    private final LocalCalls here;
    private final Arena arena = Arena.ofShared();
    /** By place, an answer. */
    private final MemorySegment answers;

    private final MemorySegment message;

    private final ReplyHandler handler = this::answered;
    private final CallTable calls = new CallTable(MOST);
    private final CallTally tally;
    private final CallTally.Counter counts;
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
        this.tally = procedures.tally();
        this.counts = tally.open();
        this.here = new LocalCalls(cache, requests, MOST, new Here());
    }

    /** @throws IllegalArgumentException naming what is wrong */
    void check(Procedure called, int argumentLength, int resultLength) {
        if (!called.registered() || !procedures.has(called)) {
            throw new IllegalArgumentException(
                    called + " is not registered with this cache; Cache.procedures().register(...) does that");
        }
        if (argumentLength > Call.ARGUMENT_BYTES || resultLength > Call.RESULT_BYTES) {
            throw new IllegalArgumentException(tooLong(argumentLength, resultLength));
        }
    }

    static String tooLong(long argumentBytes, long resultBytes) {
        return argumentBytes + " bytes of arguments and " + resultBytes + " for the result; a call has at most "
                + Call.ARGUMENT_BYTES + " of each";
    }

    /** As {@link CallTable#blocks}. */
    boolean blocks(boolean write, long at, long length) {
        return calls.blocks(write, at, length);
    }

    /**
     * Makes a call, whose numbers have been checked.
     *
     * @param memory what the arguments and the result are in; null where the caller keeps that alive
     * @param argumentsAt address of the arguments
     * @param resultAt address of the result
     * @return false where there is no room
     */
    boolean call(
            Procedure called,
            long at,
            long footprint,
            long bytes,
            @Nullable Buffer memory,
            long argumentsAt,
            int argumentLength,
            long resultAt,
            int resultLength,
            CallCompletion done,
            long itsToken) {
        if (calls.room() == 0 || calls.blocks(called, footprint, bytes)) {
            return false;
        }
        int place = calls.take(
                called,
                at,
                footprint,
                bytes,
                memory,
                argumentsAt,
                argumentLength,
                resultAt,
                resultLength,
                done,
                itsToken);
        calls.begun[place] = counts.begin();
        if (!goOn(place) && links.full(server(at))) {
            // Nobody has seen it yet.
            calls.release(place);
            return false;
        }
        return true;
    }

    /** As {@link #call}, of many: of arguments, results and tokens each call has the next. They take no order. */
    boolean callAll(
            Procedure called,
            long[] addresses,
            int count,
            long footprint,
            long bytes,
            Buffer memory,
            long argumentsAt,
            int argumentLength,
            long resultAt,
            int resultLength,
            CallCompletion done,
            long firstToken) {
        if (calls.room() < count || calls.blocks(called, footprint, bytes)) {
            return false;
        }
        // All of them first: one that ends at once is called back, and what that calls is not to have their places.
        for (int i = 0; i < count; i++) {
            int place = calls.take(
                    called,
                    addresses[i],
                    footprint,
                    bytes,
                    memory,
                    argumentsAt + (long) i * argumentLength,
                    argumentLength,
                    resultAt + (long) i * resultLength,
                    resultLength,
                    done,
                    firstToken + i);
            calls.begun[place] = counts.begin();
        }
        goOn();
        return true;
    }

    /** All that are kept, as far as there is room. */
    private void goOn() {
        for (int place = 0; place < MOST && calls.kept() > 0; place++) {
            if (calls.state(place) == CallTable.KEPT) {
                goOn(place);
            }
        }
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
        Procedure called = calls.procedure[place];
        int region = table.indexOf(calls.address[place]);
        if (region == procedures.moving()) {
            if (!calls.held[place]) {
                calls.held[place] = true;
                counts.held();
            }
            return false;
        }
        RemoteServer server = server(calls.address[place]);
        if (server == null || !called.runsOn(server) || server == calls.lacking[place]) {
            calls.move(place, CallTable.HERE);
            counts.here();
            here.begin(
                    place,
                    called,
                    calls.from[place],
                    calls.span[place],
                    calls.arguments[place],
                    calls.argumentBytes[place],
                    calls.resultBytes[place],
                    answers,
                    (long) place * CallFormat.RECORD_BYTES + CallFormat.REPLY_BYTES,
                    calls.contextBytes[place]);
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
        send(place, called, server, link);
        return true;
    }

    private void send(int place, Procedure called, RemoteServer server, CallLink link) {
        message.set(JAVA_INT_UNALIGNED, 0, called.id());
        message.set(JAVA_INT_UNALIGNED, 4, calls.resultBytes[place]);
        message.set(JAVA_LONG_UNALIGNED, 8, calls.from[place]);
        message.set(JAVA_LONG_UNALIGNED, 16, calls.span[place]);
        message.set(JAVA_LONG_UNALIGNED, 24, calls.address[place]);
        int context = calls.contextBytes[place];
        int bytes = context > 0 ? context : calls.argumentBytes[place];
        MemorySegment.copy(
                NativeMemory.ALL,
                context > 0 ? answer(place) + CallFormat.REPLY_BYTES : calls.arguments[place],
                message,
                CALL,
                bytes);
        if (calls.sentTo[place] != server) {
            calls.sentTo[place] = server;
            if (context > 0) {
                counts.movedOn();
            }
        }
        calls.move(place, CallTable.SENT);
        link.call(
                context > 0 ? CallFormat.RESUME : CallFormat.CALL,
                this,
                message.address(),
                CallFormat.CALL_BYTES + bytes,
                answer(place),
                CallFormat.RECORD_BYTES,
                place);
    }

    private long answer(int place) {
        return answers.address() + (long) place * CallFormat.RECORD_BYTES;
    }

    /**
     * Makes progress, and runs callbacks.
     *
     * @return how many
     */
    int poll() {
        if (calls.pending() == 0) {
            return 0;
        }
        ended = 0;
        links.poll(handler);
        here.poll();
        goOn();
        return ended;
    }

    // As in goOn.
    @SuppressWarnings("NullAway")
    private void answered(long tag, int outcome, int bytes) {
        int place = (int) tag;
        if (outcome != Outcome.DONE || bytes < CallFormat.REPLY_BYTES) {
            // It may have run. One that reads may run again.
            boolean again =
                    outcome == Outcome.UNKNOWN && calls.procedure[place].readsOnly() && ++calls.tries[place] < TRIES;
            if (again) {
                calls.move(place, CallTable.KEPT);
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
            int length = Math.min(bytes - CallFormat.REPLY_BYTES, calls.resultBytes[place]);
            MemorySegment.copy(
                    NativeMemory.ALL, at + CallFormat.REPLY_BYTES, NativeMemory.ALL, calls.result[place], length);
            end(place, CallStatus.DONE, code, length);
        } else {
            end(place, status, 0, 0);
        }
    }

    /** It has met an address that the server does not have. */
    // As in goOn.
    @SuppressWarnings("NullAway")
    private void left(int place, long at, int bytes) {
        if (at < calls.from[place] || at >= calls.from[place] + calls.span[place] || bytes < 1) {
            end(place, CallStatus.OUT_OF_RANGE, 0, 0);
            return;
        }
        if (calls.procedure[place].stops()
                && table.indexOf(at) != procedures.moving()
                && server(at) != null
                && server(at) != server(calls.address[place])) {
            end(place, CallStatus.STOPPED, 0, 0);
            return;
        }
        if (server(at) != calls.sentTo[place]) {
            calls.misses[place] = 0;
        } else if (++calls.misses[place] == MISSES) {
            // It could not be told of the region.
            calls.lacking[place] = server(at);
        }
        calls.address[place] = at;
        calls.contextBytes[place] = bytes;
        calls.move(place, CallTable.KEPT);
    }

    private final class Here implements LocalCalls.Ended {

        @Override
        public void ended(int place, int status, int code, long from, int bytes) {
            MemorySegment.copy(NativeMemory.ALL, from, NativeMemory.ALL, calls.result[place], bytes);
            end(place, status, code, bytes);
        }

        /** Not while the region moves: the server that it goes to may run the procedure. */
        // As in goOn.
        @SuppressWarnings("NullAway")
        @Override
        public int atomic(int place, long at) {
            if (table.indexOf(at) == procedures.moving()) {
                return LocalCalls.MAY_LATER;
            }
            RegionEntry entry = table.get(table.indexOf(at));
            SplitRegion split = entry.split();
            RemoteRegion copy = split == null ? entry.copy() : split.copy(true, table.offsetOf(at));
            if (copy == null) {
                return LocalCalls.MAY_LATER;
            }
            if (!calls.procedure[place].runsOn(copy.server())) {
                return LocalCalls.MAY;
            }
            // The server changes the word. It is asked once more: it may have been told of the region by now.
            if (copy.server() == calls.lacking[place]) {
                if (++calls.returns[place] == RETURNS) {
                    return LocalCalls.MAY_NOT;
                }
                calls.lacking[place] = null;
                calls.misses[place] = 0;
            }
            return LocalCalls.MAY_LATER;
        }

        // As in goOn.
        @SuppressWarnings("NullAway")
        @Override
        public boolean takesOver(int place, Context context) {
            long at = context.address();
            int bytes = context.saveBytes();
            RemoteServer server = table.indexOf(at) == procedures.moving() ? null : server(at);
            if (server == null
                    || !calls.procedure[place].runsOn(server)
                    || server == calls.lacking[place]
                    || bytes > CallFormat.RECORD_BYTES - CallFormat.CALL_BYTES) {
                return false;
            }
            context.save(answers, (long) place * CallFormat.RECORD_BYTES + CallFormat.REPLY_BYTES);
            calls.address[place] = at;
            calls.contextBytes[place] = bytes;
            calls.move(place, CallTable.KEPT);
            return true;
        }
    }

    // As in goOn.
    @SuppressWarnings("NullAway")
    private void end(int place, int status, int code, int bytes) {
        CallCompletion done = calls.completion[place];
        long itsToken = calls.token[place];
        counts.ended(status, calls.begun[place]);
        calls.release(place);
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

    boolean inCallback() {
        return inCallback;
    }

    /** Calls between issue and callback. */
    int pending() {
        return calls.pending();
    }

    /** Calls that wait for a migration, or for room. */
    int kept() {
        return calls.kept();
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
        return calls.pending() == 0 ? 0 : links.listen(calls.kept() > 0);
    }

    boolean uses(Buffer candidate) {
        return calls.uses(candidate);
    }

    boolean reaches(long end) {
        return calls.reaches(end);
    }

    /** Ends what has not been sent. */
    void abandonUnposted() {
        for (int i = 0; i < MOST; i++) {
            if (calls.state(i) == CallTable.KEPT) {
                end(i, calls.contextBytes[i] == 0 ? CallStatus.REFUSED : CallStatus.LOST, 0, 0);
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
        Closing.all(() -> tally.close(counts), links, here, arena);
    }
}
