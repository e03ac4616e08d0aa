package io.farheap.procedure.format;

import io.farheap.procedure.CallStatus;

/**
 * The messages of procedure calls over message rings: operations of a memory server, their arguments and replies, in
 * bytes, little-endian. A server checks every field; a client may send anything.
 *
 * <pre>
 * REGISTER    0 id   4 flags   8 the class file's length   12 offset of this piece   16 the piece
 *             reply: 0 a {@link #REGISTERED registration}   4 the reason of a refusal, in UTF-8
 * UNREGISTER  0 id
 * MAP         0 version (8)   8 virtual regions in all   12 the first of this piece   16 their number   20 the
 *             server's region of each, -1 if it has none
 *             reply: 0 1 if the last piece has taken effect, and no call uses an older map any more
 * CALL        0 id   4 room for the result   8 footprint: the first address (8)   16 its bytes (8)   24 an address that
 *             it will need, or -1 (8)   32 the arguments
 * RESUME      the first 32 bytes of CALL, then a context as {@code CallContext.save} writes it
 *             reply to both: 0 a {@link CallStatus} or {@link #LEFT}   4 the procedure's return value; the kind of
 *             access and, above its 8 bits, the line if the call left; the reason if it is refused; else the line   8
 *             an address; the line if the status is {@link CallStatus#FAULT} (8)   16 the result; the context if the
 *             call left
 * </pre>
 *
 * <p>Ids are chosen by the client: {@link #slot a slot} of {@value #SLOTS}, and how often that slot was used before.
 */
public final class CallFormat {

    private static final int FIRST = 3904;

    /** Operation: registers a procedure, whose class file comes in pieces. */
    public static final int REGISTER = FIRST;
    /** Operation: removes a procedure. */
    public static final int UNREGISTER = FIRST + 1;
    /** Operation: replaces the lease's map of regions, which comes in pieces. */
    public static final int MAP = FIRST + 2;
    /** Operation: calls a procedure. */
    public static final int CALL = FIRST + 3;
    /** Operation: continues a call that has left another server. */
    public static final int RESUME = FIRST + 4;

    /** The most procedures that a lease may have at a time. */
    public static final int SLOTS = 64;
    /** Units of fuel that a call may use in total. */
    public static final long FUEL_LIMIT = 10_000_000;
    /** The longest class file, in bytes. */
    public static final int MOST_CLASS_BYTES = 64 << 10;
    /** Virtual regions in one message of a map. */
    public static final int MAP_PIECE = 2048;
    /** Bytes of a class file in one message. */
    public static final int CLASS_PIECE_BYTES = 8192;
    /** Bytes before a class file's bytes. */
    public static final int REGISTER_BYTES = 16;
    /** Bytes before a map's regions. */
    public static final int MAP_BYTES = 20;
    /** Bytes before the arguments, or before a saved context. */
    public static final int CALL_BYTES = 32;
    /** Bytes before a result, or before a saved context. */
    public static final int REPLY_BYTES = 16;
    /** The longest message: a call with its context, or its reply. */
    public static final int RECORD_BYTES = 13 << 10;

    /** A status: the call needs an address that this server does not have. */
    public static final int LEFT = 100;

    /** The bits of a reply's second number that have the kind of access of a call that left; its line is above them. */
    public static final int KIND_BITS = 8;

    /** A flag: the procedure changes no word of the cache. */
    public static final int READS = 1;

    /** A registration: the piece was taken; more pieces must follow. */
    public static final int MORE = 0;
    /** A registration: the procedure can be called. */
    public static final int REGISTERED = 1;
    /** A registration: the server runs no procedures, or not this one; sessions make its accesses themselves. */
    public static final int NOT_SERVED = 2;
    /** A registration: refused. */
    public static final int REFUSED = 3;

    private CallFormat() {}

    /** The slot of a procedure among those of its lease; for any id. */
    public static int slot(int id) {
        return id & SLOTS - 1;
    }
}
