package io.farheap.cache.calls;

import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.procedure.CallStatus;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.LeasedServer;
import org.jspecify.annotations.Nullable;

/** The calls of a session, by place. One thread at a time; nothing here allocates after construction. */
public final class CallTable {

    private final SessionCall[] all;
    private final SessionCall[] free;
    private int freeCount;
    private int kept;
    private int unfenced;
    private int answered;
    private int waitingForPlaces;
    /**
     * How many pending calls are ordered (they wait for earlier requests, and later ones wait for them), and how many
     * of these may write.
     */
    private int ordered;

    private int orderedWrites;

    CallTable(int places) {
        all = new SessionCall[places];
        free = new SessionCall[places];
        for (int place = places - 1; place >= 0; place--) {
            all[place] = new SessionCall(place);
            free[freeCount++] = all[place];
        }
    }

    public SessionCall get(int place) {
        return all[place];
    }

    int room() {
        return freeCount;
    }

    /** Calls between issue and callback. */
    int pending() {
        return all.length - freeCount;
    }

    int kept() {
        return kept;
    }

    /** How many of the kept calls wait for a place at a server. */
    int waitingForPlaces() {
        return waitingForPlaces;
    }

    /** A lost call that cannot take effect any more; null if there is none. */
    @Nullable
    SessionCall over() {
        for (int place = 0; unfenced > 0 && place < all.length; place++) {
            SessionCall call = all[place];
            if (call.state == SessionCall.UNFENCED && (call.ring == null || call.ring.isOver())) {
                return call;
            }
        }
        return null;
    }

    /** A call whose answer a poll has to handle; null if there is none. */
    @Nullable
    SessionCall answered() {
        for (int place = 0; answered > 0 && place < all.length; place++) {
            if (all[place].state == SessionCall.ANSWERED) {
                return all[place];
            }
        }
        return null;
    }

    /** Takes a place for a call, whose state is kept. There must be room. */
    SessionCall take(
            RegisteredProcedure called,
            long at,
            long footprint,
            long bytes,
            @Nullable RequestBuffer memory,
            CallCompletion done,
            long itsToken) {
        SessionCall call = free[--freeCount];
        call.procedure = called;
        call.address = at;
        call.from = footprint;
        call.span = bytes;
        call.buffer = memory;
        call.completion = done;
        call.token = itsToken;
        call.contextBytes = 0;
        call.tries = 0;
        call.wasLost = false;
        call.misses = 0;
        call.returns = 0;
        call.refusals = 0;
        call.waitsForMemory = false;
        call.held = false;
        call.crosses = false;
        call.end = CallStatus.DONE;
        if (call.sentTo != null) {
            call.sentTo = null;
        }
        if (!called.unordered()) {
            ordered++;
            orderedWrites += called.readsOnly() ? 0 : 1;
        }
        call.state = SessionCall.KEPT;
        kept++;
        return call;
    }

    void move(SessionCall call, byte next) {
        kept -= call.state == SessionCall.KEPT ? 1 : 0;
        kept += next == SessionCall.KEPT ? 1 : 0;
        unfenced -= call.state == SessionCall.UNFENCED ? 1 : 0;
        unfenced += next == SessionCall.UNFENCED ? 1 : 0;
        answered -= call.state == SessionCall.ANSWERED ? 1 : 0;
        answered += next == SessionCall.ANSWERED ? 1 : 0;
        call.state = next;
        call.held &= next == SessionCall.KEPT;
        if (call.waitsForPlace) {
            call.waitsForPlace = false;
            waitingForPlaces--;
        }
    }

    /** Keeps a call that a server refused, until there may be a place for it. */
    void awaitPlace(SessionCall call) {
        move(call, SessionCall.KEPT);
        call.waitsForPlace = true;
        waitingForPlaces++;
    }

    /**
     * Handles the loss of a call that was sent and not answered: a call that only reads is kept, to be sent again;
     * another waits for the fence.
     */
    void lose(SessionCall call) {
        call.wasLost = true;
        move(call, call.readsOnly() ? SessionCall.KEPT : SessionCall.UNFENCED);
    }

    /**
     * The same for all calls that were sent to a server that the cache has left. The server has no region any more, so
     * none of them can still take effect.
     */
    void leave(RemoteServer server) {
        for (SessionCall call : all) {
            if (call.ring != null && call.ring.ends() == LeasedServer.of(server).ends()) {
                if (call.state == SessionCall.SENT) {
                    lose(call);
                }
                call.ring = null;
            }
        }
    }

    void release(SessionCall call) {
        if (!call.unordered()) {
            ordered--;
            orderedWrites -= call.readsOnly() ? 0 : 1;
        }
        move(call, SessionCall.FREE);
        call.procedure = null;
        call.buffer = null;
        call.completion = null;
        if (call.lacking != null) {
            call.lacking = null;
        }
        if (call.ring != null) {
            call.ring = null;
        }
        free[freeCount++] = call;
    }

    /** Whether a request has to wait for a call whose footprint it overlaps, if one of the two writes. */
    boolean blocks(boolean write, long at, long length) {
        if (ordered == 0 || !write && orderedWrites == 0) {
            return false;
        }
        for (SessionCall call : all) {
            if (call.pending()
                    && !call.unordered()
                    && (write || !call.readsOnly())
                    && at < call.from + call.span
                    && call.from < at + length) {
                return true;
            }
        }
        return false;
    }

    boolean uses(RequestBuffer candidate) {
        for (SessionCall call : all) {
            if (call.buffer == candidate) {
                return true;
            }
        }
        return false;
    }

    /** Whether the footprint of a pending call extends beyond an address. */
    boolean reaches(long end) {
        for (SessionCall call : all) {
            if (call.pending() && call.from + call.span > end) {
                return true;
            }
        }
        return false;
    }
}
