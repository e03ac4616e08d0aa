package io.farheap.cache;

import io.farheap.remote.RemoteServer;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a session, from issue to callback, as columns: a call is a place in it. One thread at a time; nothing
 * here allocates after construction.
 */
final class CallTable {

    static final byte FREE = 0;
    /** Waits in the session. */
    static final byte KEPT = 1;
    /** Is on its way to a server, or there. */
    static final byte SENT = 2;
    /** Runs in this process. */
    static final byte HERE = 3;

    private final byte[] state;
    final @Nullable Procedure[] procedure;
    /** The address whose server it is to go to. */
    final long[] address;

    final long[] from;
    final long[] span;
    private final @Nullable Buffer[] buffer;
    /** Where the arguments are, and where the result goes. */
    final long[] arguments;

    final int[] argumentBytes;
    final long[] result;
    final int[] resultBytes;
    final @Nullable CallCompletion[] completion;
    final long[] token;
    /** Of its context, as it came back; 0 for a call that has not begun. */
    final int[] contextBytes;
    /** When it was issued, in ns, where it is timed; else 0. */
    final long[] begun;
    /** It waits, or waited, for a region that moves, since it was sent last. */
    final boolean[] held;
    /** How often it was lost. */
    final byte[] tries;

    /** Where it was sent last, if it was. */
    final @Nullable RemoteServer[] sentTo;
    /** How often that did not know an address that it has. */
    final byte[] misses;
    /** How often a server was asked again that did not know its address. */
    final int[] returns;
    /** A server that does not; null for most calls. */
    final @Nullable RemoteServer[] lacking;

    private final int[] free;
    private int freeCount;
    private int kept;
    /** How many wait for earlier ones and make later ones wait, and of these how many may write. */
    private int ordered;

    private int orderedWrites;

    CallTable(int places) {
        state = new byte[places];
        procedure = new Procedure[places];
        address = new long[places];
        from = new long[places];
        span = new long[places];
        buffer = new Buffer[places];
        arguments = new long[places];
        argumentBytes = new int[places];
        result = new long[places];
        resultBytes = new int[places];
        completion = new CallCompletion[places];
        token = new long[places];
        contextBytes = new int[places];
        tries = new byte[places];
        begun = new long[places];
        held = new boolean[places];
        sentTo = new RemoteServer[places];
        misses = new byte[places];
        returns = new int[places];
        lacking = new RemoteServer[places];
        free = new int[places];
        for (int place = places - 1; place >= 0; place--) {
            free[freeCount++] = place;
        }
    }

    int places() {
        return state.length;
    }

    int room() {
        return freeCount;
    }

    /** Calls between issue and callback. */
    int pending() {
        return state.length - freeCount;
    }

    int kept() {
        return kept;
    }

    byte state(int place) {
        return state[place];
    }

    /** @return the place of a call that is kept from now on; there must be room */
    int take(
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
        int place = free[--freeCount];
        procedure[place] = called;
        address[place] = at;
        from[place] = footprint;
        span[place] = bytes;
        buffer[place] = memory;
        arguments[place] = argumentsAt;
        argumentBytes[place] = argumentLength;
        result[place] = resultAt;
        resultBytes[place] = resultLength;
        completion[place] = done;
        token[place] = itsToken;
        contextBytes[place] = 0;
        tries[place] = 0;
        misses[place] = 0;
        returns[place] = 0;
        if (sentTo[place] != null) {
            sentTo[place] = null;
        }
        if (!called.unordered()) {
            ordered++;
            orderedWrites += called.readsOnly() ? 0 : 1;
        }
        move(place, KEPT);
        return place;
    }

    void move(int place, byte next) {
        kept -= state[place] == KEPT ? 1 : 0;
        kept += next == KEPT ? 1 : 0;
        state[place] = next;
        held[place] &= next == KEPT;
    }

    void release(int place) {
        Procedure called = procedure[place];
        move(place, FREE);
        if (called != null && !called.unordered()) {
            ordered--;
            orderedWrites -= called.readsOnly() ? 0 : 1;
        }
        procedure[place] = null;
        buffer[place] = null;
        completion[place] = null;
        if (lacking[place] != null) {
            lacking[place] = null;
        }
        free[freeCount++] = place;
    }

    /** Whether a call would have to wait for earlier ones. */
    boolean blocks(Procedure called, long footprint, long bytes) {
        return !called.unordered() && blocks(!called.readsOnly(), footprint, bytes);
    }

    /** Whether a request has to wait for calls: for those whose footprint it overlaps, where one of the two writes. */
    boolean blocks(boolean write, long at, long length) {
        if (ordered == 0 || !write && orderedWrites == 0) {
            return false;
        }
        for (int i = 0; i < state.length; i++) {
            Procedure called = procedure[i];
            if (called != null
                    && !called.unordered()
                    && (write || !called.readsOnly())
                    && at < from[i] + span[i]
                    && from[i] < at + length) {
                return true;
            }
        }
        return false;
    }

    boolean uses(Buffer candidate) {
        for (Buffer used : buffer) {
            if (used == candidate) {
                return true;
            }
        }
        return false;
    }

    /** Whether the footprint of one goes beyond an address. */
    boolean reaches(long end) {
        for (int i = 0; i < state.length; i++) {
            if (state[i] != FREE && from[i] + span[i] > end) {
                return true;
            }
        }
        return false;
    }
}
