package io.farheap.cache.calls;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.cache.calls.StoppedCalls.StoppedCall;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallCompletion.RangeCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.CallResult.ResultJoiner;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.NativeMemory;
import io.farheap.migration.region.RegionEntry;
import io.farheap.migration.region.RegionTable;
import io.farheap.migration.region.SplitRegion;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.running.CallContext;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.thread.OwnerGate;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one session, by place. A call is
 *
 * <ul>
 *   <li><b>kept</b>, while the region that it needs moves, or there is no room on the way to its server or at it;
 *   <li><b>sent</b>, until its server answers. Either it has ended, or it has accessed an address that this server does
 *       not have: then its context comes with the answer, and it is kept or sent to another server;
 *   <li><b>here</b>, if no server runs it: {@link LocalCalls} makes its accesses one by one;
 *   <li><b>answered</b>, if the cache has left its server, until the next poll handles the answer;
 *   <li><b>unfenced</b>, if the connection that it was sent over has failed, until it can no longer take effect: then
 *       it is called back as lost.
 * </ul>
 *
 * <p>A call that stops at memory of another server gives up its place: its context is in {@link StoppedCalls} until the
 * application resumes it, as a call that is kept, or drops it.
 *
 * <p>A range ({@link SessionRanges}) makes a call for each of its pieces, up to half of the places at a time. Several
 * ranges may have some more.
 *
 * <p>Inside the session's gate, or with it claimed. Nothing here allocates once the session has made its first calls.
 */
public final class SessionCalls implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(SessionCalls.class.getName());
    /** The most calls of a session between issue and callback. */
    public static final int MOST = 128;
    /** The most calls of one {@link #callAll}, so that other calls find room. */
    public static final int MOST_AT_ONCE = MOST / 2;
    /** The most arguments of a range's calls behind those of the piece, in bytes. */
    public static final int MOST_RANGE_ARGUMENT_BYTES = RangeCall.MOST_ARGUMENT_BYTES;

    /** After this time a call that has begun looks again for memory to run here: a registration is expensive. */
    private static final long MEMORY_PAUSE_NANOS = 1_000_000;
    /** How often a read-only call is tried if its connection fails. */
    private static final int TRIES = 2;
    /** After this many answers that it does not have an address of its own, a server counts as not knowing it. */
    private static final int MISSES = 8;
    /** How often such a server is tried again if no other may execute the access. */
    private static final int RETURNS = 10_000;
    /**
     * How often a call that has begun is sent again to a server that refuses it and does not say that it has too many
     * calls for now, as servers of earlier releases do not.
     */
    private static final int MOST_REFUSALS = 1 << 20;

    private final RegionTable table;
    private final CacheProcedures procedures;
    private final CallLinks links;
    private final LocalCalls here;
    private final CallMemory memory = new CallMemory(MOST);
    private final ReplyHandler handler = this::answered;
    private final ReplyHandler keeper = this::keepAnswer;
    private final CallTable calls = new CallTable(MOST);
    private final SessionRanges ranges;
    private final StoppedCalls stops = new StoppedCalls();
    private final CallTally tally;
    private final CallTally.Counter counts;
    private int ended;
    /** Whether the session closes: a call that stops then has no handle, since nothing could resume it. */
    private boolean closing;

    public SessionCalls(CallHost cache, LocalCalls.AccessIssuer requests, OwnerGate gate, Runnable wake) {
        this.table = cache.table();
        this.procedures = cache.procedures();
        try {
            this.links = cache.callLinks(gate, wake);
        } catch (Throwable e) {
            memory.close();
            throw e;
        }
        this.tally = procedures.tally();
        this.counts = tally.open();
        this.here = new LocalCalls(cache, requests, MOST, new LocalCallHandler());
        this.ranges = new SessionRanges(new PieceCallHandler(), table, procedures);
    }

    /** As {@link CacheProcedures#requireCall}. */
    public void check(RegisteredProcedure called, int argumentLength, int resultLength) {
        procedures.requireCall(called, argumentLength, resultLength);
    }

    /** Whether a request has to wait for a call or a range whose footprint it overlaps, if one of the two writes. */
    boolean blocks(boolean write, long at, long length) {
        return calls.blocks(write, at, length) || ranges.blocks(write, at, length);
    }

    private boolean blocks(RegisteredProcedure called, long footprint, long bytes) {
        return !called.unordered() && blocks(!called.readsOnly(), footprint, bytes);
    }

    /**
     * Makes a call that has been checked.
     *
     * @param user the buffer of the arguments and the result; null if the caller keeps other memory alive
     * @param argumentsAt address of the arguments
     * @param resultAt address of the result
     * @return false if there is no room
     */
    public boolean call(
            RegisteredProcedure called,
            long at,
            long footprint,
            long bytes,
            @Nullable RequestBuffer user,
            long argumentsAt,
            int argumentLength,
            long resultAt,
            int resultLength,
            CallCompletion done,
            long itsToken) {
        if (calls.room() == 0 || blocks(called, footprint, bytes)) {
            return false;
        }
        SessionCall call = calls.take(called, at, footprint, bytes, user, done, itsToken);
        give(call, argumentsAt, argumentLength, resultAt, resultLength);
        if (!goOn(call, false) && links.full(server(at))) {
            // The call has had no effect yet.
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

    /**
     * As {@link #call}, for many calls; each has the next arguments, result and token. There is no order among them.
     */
    public boolean callAll(
            RegisteredProcedure called,
            long[] addresses,
            int count,
            long footprint,
            long bytes,
            RequestBuffer user,
            long argumentsAt,
            int argumentLength,
            long resultAt,
            int resultLength,
            CallCompletion done,
            long firstToken) {
        if (calls.room() < count || blocks(called, footprint, bytes)) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            SessionCall call = calls.take(called, addresses[i], footprint, bytes, user, done, firstToken + i);
            give(
                    call,
                    argumentsAt + (long) i * argumentLength,
                    argumentLength,
                    resultAt + (long) i * resultLength,
                    resultLength);
        }
        goOn(false);
        return true;
    }

    /**
     * Calls a procedure for each piece of a range that has been checked.
     *
     * @param user the buffer of the further arguments and the result
     * @param argumentsAt address of the arguments behind those of the piece
     * @param resultAt address of the result
     * @param ordered what the joiner says, if there is one
     * @return false if there is no room, or an earlier call is in the way
     */
    public boolean callRange(
            RegisteredProcedure called,
            long from,
            long bytes,
            long piece,
            RequestBuffer user,
            long argumentsAt,
            int argumentLength,
            long resultAt,
            int resultLength,
            @Nullable ResultJoiner joiner,
            boolean ordered,
            RangeCompletion done,
            long itsToken) {
        return !blocks(called, from, bytes)
                && ranges.call(
                        called,
                        from,
                        bytes,
                        piece,
                        user,
                        argumentsAt,
                        argumentLength,
                        resultAt,
                        resultLength,
                        joiner,
                        ordered,
                        done,
                        itsToken);
    }

    /** Continues all calls that are kept, as far as there is room; as {@link #goOn(SessionCall, boolean)}. */
    private void goOn(boolean polled) {
        for (int place = 0; place < MOST && calls.kept() > 0; place++) {
            if (calls.get(place).state == SessionCall.KEPT) {
                goOn(calls.get(place), polled);
            }
        }
    }

    /**
     * The server of an address. Null if it is in a region that is split, or in none: the address that a call was sent
     * to may be outside of its footprint, and keeps no cache from becoming smaller.
     */
    private @Nullable RemoteServer server(long at) {
        RegionEntry entry = table.find(table.indexOf(at));
        return entry == null || entry.isSplit() ? null : entry.copy().server();
    }

    /**
     * Sends a call that is kept, or runs it here.
     *
     * @param polled whether it may end, and be called back; if not, a call that cannot continue is kept until the next
     *     poll
     * @return false if it has to be kept
     */
    // A pending call has a procedure.
    @SuppressWarnings("NullAway")
    private boolean goOn(SessionCall call, boolean polled) {
        RegisteredProcedure called = call.procedure;
        if (call.end != CallStatus.DONE) {
            if (polled) {
                endUnresumed(call);
            }
            return polled;
        }
        if (table.indexOf(call.address) == procedures.moving()) {
            if (!call.held) {
                call.held = true;
                counts.held();
            }
            return false;
        }
        RemoteServer server = server(call.address);
        if (call.crosses) {
            if (server != null && server != server(call.origin)) {
                if (polled) {
                    stop(call);
                }
                return polled;
            }
            call.crosses = false;
        }
        CallLink link = server == null ? null : links.find(server);
        if (server == null
                || server == call.lacking
                || !(link == null ? called.runsOn(server) : link.serverRuns(called))) {
            return tryToRunHere(call, called, polled);
        }
        if (link == null) {
            link = links.add(server);
        }
        if (!link.hasRoom()) {
            if (polled && server.lost() != null) {
                giveUp(call, CallStatus.UNREACHABLE, CallStatus.SERVER_GONE);
            } else if (polled && link.unreachable()) {
                giveUp(call, CallStatus.UNREACHABLE, CallStatus.NO_CONNECTION);
            } else {
                return false;
            }
            return true;
        }
        if (call.waitsForPlace && server == call.sentTo && !link.mayRepeat()) {
            return false;
        }
        send(call, called, server, link);
        return true;
    }

    /**
     * @return false if there is no memory for it, and it has to be kept: until it may end or, if it has run at a
     *     server, until there is memory or a server runs it
     */
    private boolean tryToRunHere(SessionCall call, RegisteredProcedure called, boolean polled) {
        if (call.waitsForMemory && System.nanoTime() - call.memoryAt < 0) {
            return false;
        }
        call.waitsForMemory = false;
        try {
            here.prepare(call.place);
        } catch (RuntimeException | OutOfMemoryError e) {
            boolean ends = polled && call.contextBytes == 0;
            if (ends) {
                LOG.log(System.Logger.Level.WARNING, called + " is refused: no server runs it, nor is there memory", e);
                giveUp(call, CallStatus.REFUSED, CallStatus.NO_MEMORY);
            } else if (call.contextBytes > 0) {
                call.waitsForMemory = true;
                call.memoryAt = System.nanoTime() + MEMORY_PAUSE_NANOS;
            }
            return ends;
        }
        runHere(call, called);
        return true;
    }

    /**
     * Ends a call that cannot continue, and of which nothing can take effect any more.
     *
     * @param untouched its status if it was never sent, or was refused before it ran
     * @param reason one of {@link CallStatus}
     */
    private void giveUp(SessionCall call, int untouched, int reason) {
        if (call.contextBytes > 0) {
            end(call, CallStatus.INCOMPLETE, reason, 0, call.address, 0);
        } else if (call.wasLost) {
            lose(call);
        } else {
            end(call, untouched, reason, 0, call.address, 0);
        }
    }

    private void lose(SessionCall call) {
        end(call, CallStatus.LOST, 0, 0, CallResult.NOWHERE, 0);
    }

    private void runHere(SessionCall call, RegisteredProcedure called) {
        calls.move(call, SessionCall.HERE);
        counts.here();
        here.begin(
                call.place,
                called,
                call.from,
                call.span,
                call.arguments,
                call.argumentBytes,
                call.resultBytes,
                memory.contexts(call),
                CallMemory.contextAt(call),
                call.contextBytes);
    }

    private void send(SessionCall call, RegisteredProcedure called, RemoteServer server, CallLink link) {
        int bytes = memory.write(call, called);
        boolean begun = call.contextBytes > 0;
        if (call.sentTo != server) {
            call.sentTo = server;
            if (begun) {
                counts.movedOn();
            }
        }
        call.ring = link.ring();
        link.call(
                begun ? CallFormat.RESUME : CallFormat.CALL,
                this,
                memory.message(),
                bytes,
                memory.answer(call),
                CallFormat.RECORD_BYTES,
                call.place);
        calls.move(call, SessionCall.SENT);
    }

    /**
     * Makes progress, and runs callbacks.
     *
     * @return how many
     */
    int poll() {
        if (pending() == 0 && !links.busy()) {
            return 0;
        }
        ended = 0;
        links.poll(handler);
        for (SessionCall call = calls.answered(); call != null; call = calls.answered()) {
            answered(call.place, call.outcome, call.answerBytes);
        }
        for (SessionCall call = calls.over(); call != null; call = calls.over()) {
            lose(call);
        }
        here.poll();
        goOn(true);
        while (ranges.pending() > 0 && ranges.poll()) {
            ended++;
        }
        return ended;
    }

    private void keepAnswer(long tag, int outcome, int bytes) {
        SessionCall call = calls.get((int) tag);
        call.outcome = outcome;
        call.answerBytes = bytes;
        calls.move(call, SessionCall.ANSWERED);
    }

    // As in goOn.
    @SuppressWarnings("NullAway")
    private void answered(long tag, int outcome, int bytes) {
        SessionCall call = calls.get((int) tag);
        if (outcome == Outcome.UNKNOWN) {
            lost(call);
            return;
        }
        if (outcome == Outcome.NOT_POSTED) {
            // The connection failed before it was sent: the next one takes it.
            calls.move(call, SessionCall.KEPT);
            return;
        }
        if (outcome != Outcome.DONE || bytes < CallFormat.REPLY_BYTES) {
            if (outcome == Outcome.DONE || outcome == Outcome.FAILED) {
                // It may have run before it failed.
                lose(call);
            } else {
                giveUp(call, CallStatus.REFUSED, CallStatus.NO_OPERATION);
            }
            return;
        }
        long at = memory.answer(call);
        int status = NativeMemory.ALL.get(JAVA_INT_UNALIGNED, at);
        int code = NativeMemory.ALL.get(JAVA_INT_UNALIGNED, at + 4);
        if (status != CallStatus.REFUSED && calls.waitingForPlaces() > 0) {
            CallLink link = linkOf(call);
            if (link != null) {
                link.leftPlace();
            }
        }
        long value = NativeMemory.ALL.get(JAVA_LONG_UNALIGNED, at + 8);
        if (status == CallFormat.LEFT) {
            left(call, value, bytes - CallFormat.REPLY_BYTES, code >>> CallFormat.KIND_BITS);
        } else if (status == CallStatus.DONE) {
            int length = Math.min(bytes - CallFormat.REPLY_BYTES, call.resultBytes);
            MemorySegment.copy(NativeMemory.ALL, at + CallFormat.REPLY_BYTES, NativeMemory.ALL, call.result, length);
            end(call, CallStatus.DONE, code, length, CallResult.NOWHERE, 0);
        } else if (status == CallStatus.REFUSED) {
            refused(call, code);
        } else if (status == CallStatus.FAULT) {
            end(call, status, 0, 0, CallResult.NOWHERE, (int) value);
        } else {
            // Servers of earlier releases send the address of the last access although no access ends such a call.
            long address = status == CallStatus.OUT_OF_FUEL ? CallResult.NOWHERE : value;
            end(call, status, 0, 0, address, code);
        }
    }

    /** The link that a call was sent over; null if the cache has left its server. */
    private @Nullable CallLink linkOf(SessionCall call) {
        RemoteServer server = call.sentTo;
        return server == null ? null : links.find(server);
    }

    /**
     * A server has refused a call. If it has run at another server, it continues when this one has room, however long
     * that takes; or it ends as incomplete, since the server would refuse it again. A call of a range waits for room,
     * too.
     *
     * @param reason one of {@link CallStatus}; 0 from servers of earlier releases, whatever the reason
     */
    private void refused(SessionCall call, int reason) {
        boolean waits = reason == CallStatus.TOO_MANY_CALLS
                || reason == CallStatus.NO_REASON && ++call.refusals < MOST_REFUSALS;
        boolean again = waits && (call.contextBytes > 0 || call.wasLost);
        if (reason == CallStatus.TOO_MANY_CALLS) {
            again |= call.completion instanceof RangeCall range && range.refused(call.token);
        }
        if (!again) {
            giveUp(call, CallStatus.REFUSED, reason);
        } else if (reason == CallStatus.TOO_MANY_CALLS) {
            calls.awaitPlace(call);
            CallLink link = linkOf(call);
            if (link != null) {
                link.refused();
            }
        } else {
            calls.move(call, SessionCall.KEPT);
        }
    }

    /**
     * A call's connection has failed. A call that only reads may run again. Any other is not called back before the
     * server's end is fenced: until then it may still run, and would overwrite words that the application stores after
     * the callback.
     */
    // As in goOn.
    @SuppressWarnings("NullAway")
    private void lost(SessionCall call) {
        if (call.procedure.readsOnly() && ++call.tries >= TRIES) {
            lose(call);
        } else {
            calls.lose(call);
        }
    }

    /** A call has accessed an address that its server does not have. */
    // As in goOn.
    @SuppressWarnings("NullAway")
    private void left(SessionCall call, long at, int bytes, int line) {
        if (bytes > CallMemory.MOST_CONTEXT_BYTES) {
            // No context is as long: its message to another server would not fit into a record.
            end(call, CallStatus.LOST, 0, 0, CallResult.NOWHERE, 0);
            return;
        }
        if (at < call.from || at >= call.from + call.span || bytes < 1) {
            end(call, CallStatus.OUT_OF_RANGE, 0, 0, at, line);
            return;
        }
        if (server(at) != call.sentTo) {
            call.misses = 0;
        } else if (++call.misses == MISSES) {
            // The server could not be sent the table with the region.
            call.lacking = server(at);
        }
        moveOn(call, at, bytes, line);
    }

    /** Keeps a call with the context that was written for it, for the server of another address. */
    // As in goOn.
    @SuppressWarnings("NullAway")
    private void moveOn(SessionCall call, long at, int contextBytes, int line) {
        if (call.procedure.stops()) {
            // Whether it stops is decided when the region does not move, and callbacks may run.
            call.crosses = true;
            call.origin = call.address;
            call.line = line;
        }
        call.address = at;
        memory.keep(call, contextBytes);
        calls.move(call, SessionCall.KEPT);
    }

    /** A call has come to memory of another server, and its procedure stops there. */
    // As in goOn.
    @SuppressWarnings("NullAway")
    private void stop(SessionCall call) {
        long handle = closing ? CallResult.NO_HANDLE : memory.stop(call, stops);
        if (handle == CallResult.NO_HANDLE) {
            end(call, CallStatus.STOPPED, 0, 0, call.address, call.line);
            return;
        }
        CallCompletion done = call.completion;
        long itsToken = call.token;
        long address = call.address;
        int line = call.line;
        release(call, CallStatus.STOPPED);
        boolean kept = false;
        try {
            kept = done.stopped(itsToken, handle, address, line);
        } finally {
            StoppedCall stopped = kept ? null : stops.find(handle);
            if (stopped != null) {
                stops.forget(stopped);
            }
        }
    }

    /**
     * The stopped call that has a handle; {@link #resume} and {@link #drop} take it.
     *
     * @throws IllegalArgumentException if there is none
     */
    StoppedCall stopped(long handle) {
        StoppedCall call = stops.find(handle);
        if (call == null) {
            throw noHandle(handle);
        }
        return call;
    }

    static IllegalArgumentException noHandle(long handle) {
        return new IllegalArgumentException("handle " + handle + " is of no stopped call of this session: the call was"
                + " resumed or dropped, or is another session's; a handle is good once, in its own session");
    }

    /**
     * Continues a stopped call, as if it were issued now. If its procedure is gone, or the cache has become smaller and
     * does not have its address any more, the next poll ends it.
     *
     * @param span how many bytes of its footprint are in the cache
     * @param user as in {@link #call}
     * @param resultAt address of the result
     * @return false if there is no room, or an earlier call is in the way; it stays stopped then
     */
    boolean resume(
            StoppedCall stopped,
            long span,
            @Nullable RequestBuffer user,
            long resultAt,
            CallCompletion done,
            long itsToken) {
        RegisteredProcedure called = stopped.procedure();
        long from = span == 0 ? 0 : stopped.from;
        if (calls.room() == 0 || blocks(called, from, span)) {
            return false;
        }
        SessionCall call = calls.take(called, stopped.address, from, span, user, done, itsToken);
        boolean taken = false;
        try {
            give(call, 0, 0, resultAt, stopped.resultBytes);
            memory.resume(call, stopped);
            call.line = stopped.line;
            if (!called.registered()) {
                call.end = CallStatus.INCOMPLETE;
            } else if (stopped.address >= from + span) {
                call.end = CallStatus.OUT_OF_RANGE;
            }
            taken = call.end != CallStatus.DONE || goOn(call, false) || !links.full(server(stopped.address));
        } finally {
            // The call has one holder, also after an exception: its place or its handle.
            if (taken || call.state != SessionCall.KEPT) {
                stops.forget(stopped);
            } else {
                calls.release(call);
            }
        }
        return taken;
    }

    private void endUnresumed(SessionCall call) {
        int reason = call.end == CallStatus.INCOMPLETE ? CallStatus.NO_PROCEDURE : CallStatus.NO_REASON;
        end(call, call.end, reason, 0, call.address, call.line);
    }

    void drop(StoppedCall stopped) {
        stops.forget(stopped);
    }

    /** How many calls are stopped: they are not pending. */
    int stopped() {
        return stops.count();
    }

    private final class LocalCallHandler implements LocalCalls.LocalCallListener {

        @Override
        public void ended(int place, int status, int code, long from, int bytes, long address, int line) {
            SessionCall call = calls.get(place);
            MemorySegment.copy(NativeMemory.ALL, from, NativeMemory.ALL, call.result, bytes);
            end(call, status, code, bytes, address, line);
        }

        /** Not while the region moves: its new server may run the procedure. */
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
            if (split != null || !call.procedure.runsOn(copy.server())) {
                // The map of no server has a region that is split, so no procedure changes its words there.
                return LocalCalls.MAY;
            }
            // The server has to change the word. Try it again: it may have received the table by now.
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
        public boolean takesOver(int place, CallContext context) {
            SessionCall call = calls.get(place);
            long at = context.address();
            int bytes = context.saveBytes();
            boolean moves = table.indexOf(at) == procedures.moving();
            RemoteServer server = moves ? null : server(at);
            boolean leaves = call.procedure.stops() && mayCross(call, at, moves, server)
                    || server != null && call.procedure.runsOn(server) && server != call.lacking;
            if (!leaves || bytes > CallMemory.MOST_CONTEXT_BYTES) {
                return false;
            }
            context.save(memory.answers(call), CallMemory.contextAt(call));
            moveOn(call, at, bytes, context.suspendedLine());
            return true;
        }

        private boolean mayCross(SessionCall call, long at, boolean moves, @Nullable RemoteServer server) {
            return moves
                    ? table.indexOf(at) != table.indexOf(call.address)
                    : server != null && server != server(call.address);
        }
    }

    private final class PieceCallHandler implements RangeCall.PieceCaller {

        @Override
        public int room() {
            return calls.room();
        }

        @Override
        public void call(
                RegisteredProcedure called,
                long piece,
                long bytes,
                @Nullable RequestBuffer user,
                long argumentsAt,
                int argumentLength,
                long resultAt,
                int resultLength,
                RangeCall range,
                long slot) {
            SessionCall call = calls.take(called, piece, piece, bytes, user, range, slot);
            give(call, argumentsAt, argumentLength, resultAt, resultLength);
            goOn(call, false);
        }

        @Override
        public void withdraw(RangeCall range) {
            for (int place = 0; place < MOST && calls.kept() > 0; place++) {
                SessionCall call = calls.get(place);
                if (call.state == SessionCall.KEPT && call.completion == range && call.contextBytes == 0) {
                    long slot = call.token;
                    calls.release(call);
                    range.withdrawn(slot);
                }
            }
        }
    }

    // As in goOn.
    @SuppressWarnings("NullAway")
    private void end(SessionCall call, int status, int code, int bytes, long address, int line) {
        CallCompletion done = call.completion;
        long itsToken = call.token;
        release(call, status);
        done.completed(itsToken, status, code, bytes, address, line);
    }

    private void release(SessionCall call, int status) {
        counts.ended(status, call.begun);
        calls.release(call);
        ended++;
    }

    /** Calls and ranges between issue and callback; each call of a range counts, too. */
    int pending() {
        return calls.pending() + ranges.pending();
    }

    /** How many calls and ranges wait for a migration, or for room. */
    int kept() {
        return calls.kept() + ranges.held();
    }

    /**
     * As {@link RequestPath#listen}.
     *
     * @return the most ns to sleep; 0 for ever
     */
    long listen() {
        if (pending() == 0 && !links.busy()) {
            return 0;
        }
        // A call that runs here raises no event, nor does one whose answer has been taken, or the callback of a
        // range.
        return here.runs() || calls.answered() != null || ranges.isOver()
                ? 1
                : links.listen(calls.kept() > 0 || here.wants() || ranges.waits());
    }

    boolean uses(RequestBuffer candidate) {
        return calls.uses(candidate) || ranges.uses(candidate);
    }

    boolean reaches(long end) {
        return calls.reaches(end) || ranges.reaches(end);
    }

    /**
     * Ends all calls that are kept, and ranges that have calls left to make, since the session closes. Exceptions of
     * callbacks are thrown in the end.
     */
    void abandonUnposted() {
        closing = true;
        List<AutoCloseable> ends = new ArrayList<>();
        for (int i = 0; i < MOST; i++) {
            SessionCall call = calls.get(i);
            if (call.state == SessionCall.KEPT) {
                ends.add(() -> abandon(call));
            }
        }
        ends.add(ranges::abandon);
        Closeables.all(ends);
    }

    private void abandon(SessionCall call) {
        // The end of a range's first call takes the others back.
        if (call.state == SessionCall.KEPT) {
            giveUp(call, CallStatus.REFUSED, CallStatus.CLOSED);
        }
    }

    CallLinks links() {
        return links;
    }

    /**
     * Takes the answers of a server that the cache leaves, for the next poll. The server has no region any more, so it
     * sends each call back. With the gate claimed.
     *
     * @return whether calls are still under way there
     */
    boolean settle(RemoteServer server) {
        return links.settle(server, place -> calls.move(calls.get(place), SessionCall.KEPT), keeper);
    }

    /** Stops polling for a server's answers; the caller then makes the {@link #links} forget it. */
    void leave(RemoteServer server) {
        // Before the link ends: what it has not sent goes to the server that has the region by now.
        links.leave(server, place -> calls.move(calls.get(place), SessionCall.KEPT));
        calls.leave(server);
    }

    @Override
    public void close() {
        Closeables.all(() -> tally.close(counts), links, here, memory, ranges);
    }
}
