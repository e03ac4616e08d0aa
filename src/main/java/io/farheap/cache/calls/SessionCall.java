package io.farheap.cache.calls;

import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.procedure.CallStatus;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.ServerRing;
import org.jspecify.annotations.Nullable;

/** A call of a session, from issue to callback; the object is then reused for another. One thread at a time. */
public final class SessionCall {

    static final byte FREE = 0;
    /** The call waits in the session. */
    static final byte KEPT = 1;
    /** The call has been sent to a server, which has not answered. */
    public static final byte SENT = 2;
    /** The call runs in this process. */
    static final byte HERE = 3;
    /** The call is lost, and may still take effect. */
    static final byte UNFENCED = 4;
    /** The call's answer was taken when the cache left its server, and is handled by the next poll. */
    static final byte ANSWERED = 5;

    /** Its place in its table, which is the tag of its messages. */
    final int place;
    /** Changed by the table alone. */
    public byte state = FREE;

    @Nullable
    RegisteredProcedure procedure;
    /** The address that determines its server. */
    long address;

    long from;
    long span;

    @Nullable
    RequestBuffer buffer;
    /** Addresses and lengths of the arguments and of the result. */
    long arguments;

    int argumentBytes;
    long result;
    int resultBytes;

    @Nullable
    CallCompletion completion;

    long token;
    /** The length of its context, as a server returned it; 0 for a call that has not begun. */
    public int contextBytes;
    /** Which of its two records in {@link CallMemory} the next answer is written to; the other contains its context. */
    boolean answersOther;
    /** The time at which it was issued, in ns, if it is timed; else 0. */
    long begun;
    /** Whether it has waited for a moving region since it was sent last. */
    boolean held;
    /** How often it was lost with its connection. */
    byte tries;
    /** Whether it was sent and not answered once, so that it may have run. */
    boolean wasLost;
    /** The server that it was sent to last, or null. */
    @Nullable
    RemoteServer sentTo;
    /**
     * The ring that it was sent over last; null also once no call that was sent over that ring can take effect any
     * more.
     */
    @Nullable
    ServerRing ring;
    /** The outcome and the length of an answer that a poll handles later. */
    int outcome;

    int answerBytes;
    /**
     * Whether {@code sentTo} refused it since the client has too many calls there, and it is sent there again when
     * there may be a place.
     */
    boolean waitsForPlace;
    /** How often a server refused it after it had begun at another. */
    int refusals;
    /** How often {@code sentTo} did not know an address of its own. */
    byte misses;
    /** How often a server that did not know its address was tried again. */
    int returns;
    /** Whether there was no memory to run it here after it had begun, and when it looks again, by nanoTime. */
    boolean waitsForMemory;

    long memoryAt;
    /**
     * Whether it may have come to another server's memory, so that it stops if that is so; and the address at which its
     * server's memory is.
     */
    boolean crosses;

    long origin;
    /** The line at which it has left a server, if it stops; 0 if that is unknown. */
    int line;
    /** The status that it ends with in the next poll, if it cannot be resumed; else {@link CallStatus#DONE}. */
    int end;
    /** A server that does not know an address of its own; null for most calls. */
    @Nullable
    RemoteServer lacking;

    SessionCall(int place) {
        this.place = place;
    }

    /** Whether it is issued and has not been called back. */
    boolean pending() {
        return state != FREE;
    }

    // A pending call has a procedure.
    @SuppressWarnings("NullAway")
    boolean unordered() {
        return procedure.unordered();
    }

    // As in unordered.
    @SuppressWarnings("NullAway")
    boolean readsOnly() {
        return procedure.readsOnly();
    }
}
