package io.farheap.cache.calls;

import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.ServerRing;
import org.jspecify.annotations.Nullable;

/** A call of a session, from issue to callback; then a place for another. One thread at a time. */
public final class SessionCall {

    static final byte FREE = 0;
    /** Waits in the session. */
    static final byte KEPT = 1;
    /** Is on its way to a server, or there. */
    public static final byte SENT = 2;
    /** Runs in this process. */
    static final byte HERE = 3;
    /** Is lost, and may still take effect. */
    static final byte UNFENCED = 4;

    /** Of its table, and the tag of its messages. */
    final int place;
    /** Changed by the table alone. */
    public byte state = FREE;

    @Nullable
    RegisteredProcedure procedure;
    /** The address whose server it is to go to. */
    long address;

    long from;
    long span;

    @Nullable
    RequestBuffer buffer;
    /** Where the arguments are, and where the result goes. */
    long arguments;

    int argumentBytes;
    long result;
    int resultBytes;

    @Nullable
    CallCompletion completion;

    long token;
    /** Of its context, as it came back; 0 for a call that has not begun. */
    public int contextBytes;
    /** Which of its two records in {@link CallMemory} the next answer comes into; the other has its context. */
    boolean answersOther;
    /** When it was issued, in ns, where it is timed; else 0. */
    long begun;
    /** It waits, or waited, for a region that moves, since it was sent last. */
    boolean held;
    /** How often it was lost. */
    byte tries;
    /** Where it was sent last, if it was. */
    @Nullable
    RemoteServer sentTo;
    /** What it was sent over last; null also once nothing that was sent over that takes effect any more. */
    @Nullable
    ServerRing ring;
    /** How often a server refused it after it had begun at another. */
    int refusals;
    /** How often that did not know an address that it has. */
    byte misses;
    /** How often a server was asked again that did not know its address. */
    int returns;
    /** A server that does not; null for most calls. */
    @Nullable
    RemoteServer lacking;

    SessionCall(int place) {
        this.place = place;
    }

    /** Issued, and not called back. */
    boolean pending() {
        return state != FREE;
    }

    // One that is pending has a procedure.
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
