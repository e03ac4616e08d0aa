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
import java.util.ArrayList;
import java.util.List;
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

    private final long answersAddress;
    /** Where a call is written before it goes into a batch. */
    private final long message;

    private final ReplyHandler handler = this::answered;
    private final CallTable calls = new CallTable(MOST);
    private final CallTally tally;
    private final CallTally.Counter counts;
    private int ended;

    SessionCalls(CallingCache cache, LocalCalls.Requests requests, Runnable wake) {
        this.table = cache.table();
        this.procedures = cache.procedures();
        try {
            this.answers = arena.allocate((long) MOST * CallFormat.RECORD_BYTES, Long.BYTES);
            this.answersAddress = answers.address();
            this.message = arena.allocate(CallFormat.RECORD_BYTES, Long.BYTES).address();
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
        SessionCall call = calls.take(called, at, footprint, bytes, memory, done, itsToken);
        give(call, argumentsAt, argumentLength, resultAt, resultLength);
        if (!goOn(call) && links.full(server(at))) {
            // Nobody has seen it yet.
            calls.release(call);
            return false;
        }
        return true;
    }

    private void give(SessionCall call, long argumentsAt, int argumentLength, long resultAt, int resultLength) {
        call.arguments = argumentsAt;
        call.argumentBytes = argumentLength;
        call.result = resultAt;
        call.resultBytes = resultLength;
        call.begun = counts.begin();
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
            SessionCall call = calls.take(called, addresses[i], footprint, bytes, memory, done, firstToken + i);
            give(
                    call,
                    argumentsAt + (long) i * argumentLength,
                    argumentLength,
                    resultAt + (long) i * resultLength,
                    resultLength);
        }
        goOn();
        return true;
    }

    /** All that are kept, as far as there is room. */
    private void goOn() {
        for (int place = 0; place < MOST && calls.kept() > 0; place++) {
            if (calls.get(place).state == CallTable.KEPT) {
                goOn(calls.get(place));
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
    // One that is pending has a procedure.
    @SuppressWarnings("NullAway")
    private boolean goOn(SessionCall call) {
        Procedure called = call.procedure;
        if (table.indexOf(call.address) == procedures.moving()) {
            if (!call.held) {
                call.held = true;
                counts.held();
            }
            return false;
        }
        RemoteServer server = server(call.address);
        CallLink link = server == null ? null : links.find(server);
        if (server == null
                || server == call.lacking
                || !(link == null ? called.runsOn(server) : link.serverRuns(called))) {
            runHere(call, called);
            return true;
        }
        if (link == null) {
            link = links.add(server);
        }
        if (!link.hasRoom()) {
            if (server.lost() != null || link.unreachable()) {
                end(call, CallStatus.LOST, 0, 0);
                return true;
            }
            return false;
        }
        send(call, called, server, link);
        return true;
    }

    private void runHere(SessionCall call, Procedure called) {
        calls.move(call, CallTable.HERE);
        counts.here();
        here.begin(
                call.place,
                called,
                call.from,
                call.span,
                call.arguments,
                call.argumentBytes,
                call.resultBytes,
                answers,
                (long) call.place * CallFormat.RECORD_BYTES + CallFormat.REPLY_BYTES,
                call.contextBytes);
    }

    private void send(SessionCall call, Procedure called, RemoteServer server, CallLink link) {
        NativeMemory.ALL.set(JAVA_INT_UNALIGNED, message, called.id());
        NativeMemory.ALL.set(JAVA_INT_UNALIGNED, message + 4, call.resultBytes);
        NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, message + 8, call.from);
        NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, message + 16, call.span);
        NativeMemory.ALL.set(JAVA_LONG_UNALIGNED, message + 24, call.address);
        int context = call.contextBytes;
        int bytes = context > 0 ? context : call.argumentBytes;
        long answer = answer(call.place);
        MemorySegment.copy(
                NativeMemory.ALL,
                context > 0 ? answer + CallFormat.REPLY_BYTES : call.arguments,
                NativeMemory.ALL,
                message + CallFormat.CALL_BYTES,
                bytes);
        if (call.sentTo != server) {
            call.sentTo = server;
            if (context > 0) {
                counts.movedOn();
            }
        }
        calls.move(call, CallTable.SENT);
        link.call(
                context > 0 ? CallFormat.RESUME : CallFormat.CALL,
                this,
                message,
                CallFormat.CALL_BYTES + bytes,
                answer,
                CallFormat.RECORD_BYTES,
                call.place);
    }

    private long answer(int place) {
        return answersAddress + (long) place * CallFormat.RECORD_BYTES;
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
        SessionCall call = calls.get((int) tag);
        if (outcome != Outcome.DONE || bytes < CallFormat.REPLY_BYTES) {
            // It may have run. One that reads may run again.
            boolean again = outcome == Outcome.UNKNOWN && call.procedure.readsOnly() && ++call.tries < TRIES;
            if (again) {
                calls.move(call, CallTable.KEPT);
            } else {
                end(call, outcome == Outcome.UNKNOWN ? CallStatus.LOST : CallStatus.REFUSED, 0, 0);
            }
            return;
        }
        long at = answer(call.place);
        int status = NativeMemory.ALL.get(JAVA_INT_UNALIGNED, at);
        int code = NativeMemory.ALL.get(JAVA_INT_UNALIGNED, at + 4);
        long value = NativeMemory.ALL.get(JAVA_LONG_UNALIGNED, at + 8);
        if (status == CallFormat.LEFT) {
            left(call, value, bytes - CallFormat.REPLY_BYTES);
        } else if (status == CallStatus.DONE) {
            int length = Math.min(bytes - CallFormat.REPLY_BYTES, call.resultBytes);
            MemorySegment.copy(NativeMemory.ALL, at + CallFormat.REPLY_BYTES, NativeMemory.ALL, call.result, length);
            end(call, CallStatus.DONE, code, length);
        } else {
            end(call, status, 0, 0);
        }
    }

    /** It has met an address that the server does not have. */
    // As in goOn.
    @SuppressWarnings("NullAway")
    private void left(SessionCall call, long at, int bytes) {
        if (at < call.from || at >= call.from + call.span || bytes < 1) {
            end(call, CallStatus.OUT_OF_RANGE, 0, 0);
            return;
        }
        if (call.procedure.stops()
                && table.indexOf(at) != procedures.moving()
                && server(at) != null
                && server(at) != server(call.address)) {
            end(call, CallStatus.STOPPED, 0, 0);
            return;
        }
        if (server(at) != call.sentTo) {
            call.misses = 0;
        } else if (++call.misses == MISSES) {
            // It could not be told of the region.
            call.lacking = server(at);
        }
        call.address = at;
        call.contextBytes = bytes;
        calls.move(call, CallTable.KEPT);
    }

    private final class Here implements LocalCalls.Ended {

        @Override
        public void ended(int place, int status, int code, long from, int bytes) {
            SessionCall call = calls.get(place);
            MemorySegment.copy(NativeMemory.ALL, from, NativeMemory.ALL, call.result, bytes);
            end(call, status, code, bytes);
        }

        /** Not while the region moves: the server that it goes to may run the procedure. */
        // As in goOn.
        @SuppressWarnings("NullAway")
        @Override
        public int atomic(int place, long at) {
            SessionCall call = calls.get(place);
            if (table.indexOf(at) == procedures.moving()) {
                return LocalCalls.MAY_LATER;
            }
            RegionEntry entry = table.get(table.indexOf(at));
            SplitRegion split = entry.split();
            RemoteRegion copy = split == null ? entry.copy() : split.copy(true, table.offsetOf(at));
            if (copy == null) {
                return LocalCalls.MAY_LATER;
            }
            if (!call.procedure.runsOn(copy.server())) {
                return LocalCalls.MAY;
            }
            // The server changes the word. It is asked once more: it may have been told of the region by now.
            if (copy.server() == call.lacking) {
                if (++call.returns == RETURNS) {
                    return LocalCalls.MAY_NOT;
                }
                call.lacking = null;
                call.misses = 0;
            }
            return LocalCalls.MAY_LATER;
        }

        // As in goOn.
        @SuppressWarnings("NullAway")
        @Override
        public boolean takesOver(int place, Context context) {
            SessionCall call = calls.get(place);
            long at = context.address();
            int bytes = context.saveBytes();
            RemoteServer server = table.indexOf(at) == procedures.moving() ? null : server(at);
            if (server == null
                    || !call.procedure.runsOn(server)
                    || server == call.lacking
                    || bytes > CallFormat.RECORD_BYTES - CallFormat.CALL_BYTES) {
                return false;
            }
            context.save(answers, (long) place * CallFormat.RECORD_BYTES + CallFormat.REPLY_BYTES);
            call.address = at;
            call.contextBytes = bytes;
            calls.move(call, CallTable.KEPT);
            return true;
        }
    }

    // As in goOn.
    @SuppressWarnings("NullAway")
    private void end(SessionCall call, int status, int code, int bytes) {
        CallCompletion done = call.completion;
        long itsToken = call.token;
        counts.ended(status, call.begun);
        calls.release(call);
        ended++;
        done.completed(itsToken, status, code, bytes);
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
        if (calls.pending() == 0) {
            return 0;
        }
        // What is to run here raises no event.
        return here.runs() ? 1 : links.listen(calls.kept() > 0 || here.wants());
    }

    boolean uses(Buffer candidate) {
        return calls.uses(candidate);
    }

    boolean reaches(long end) {
        return calls.reaches(end);
    }

    /** Ends what has not been sent, all of it, whatever callbacks throw; that comes out in the end. */
    void abandonUnposted() {
        List<AutoCloseable> ends = new ArrayList<>();
        for (int i = 0; i < MOST; i++) {
            SessionCall call = calls.get(i);
            if (call.state == CallTable.KEPT) {
                ends.add(() -> end(call, call.contextBytes == 0 ? CallStatus.REFUSED : CallStatus.LOST, 0, 0));
            }
        }
        Closing.all(ends);
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
