package io.farheap.procedure.format;

import io.farheap.procedure.CallStatus;

/**
 * Calls of procedures as they travel over message rings: operations of a memory server, their arguments and replies, in
 * bytes, little-endian. A server checks every field; a client may send anything.
 *
 * <pre>
 * REGISTER    0 id   4 flags   8 the class file's length   12 where this piece begins   16 the piece
 *             reply: 0 a {@link #REGISTERED registration}   4 why not, in UTF-8
 * UNREGISTER  0 id
 * MAP         0 version (8)   8 virtual regions in all   12 the first of this piece   16 how many   20 the server's
 *             region of each, -1 where it does not have it
 *             reply: 0 1 where the last piece has taken effect, and no call uses an older map any more
 * CALL        0 id   4 room for the result   8 footprint: the first address (8)   16 its bytes (8)   24 an address that
 *             it will need, or -1 (8)   32 the arguments
 * RESUME      the first 32 bytes of CALL, then a context as {@code translate.Context} saves it
 *             reply to both: 0 a {@link CallStatus} or {@link #LEFT}   4 what the procedure returned; the kind of access
 *             where it left   8 an address, or a line (8)   16 the result; where it left, the context
 * </pre>
 *
 * <p>Ids are chosen by the client: {@link #slot a slot} of {@value #SLOTS}, and how often it was used before.
 */
public final class CallFormat {

    private static final int FIRST = 3904;

    public static final int REGISTER = FIRST;
    public static final int UNREGISTER = FIRST + 1;
    public static final int MAP = FIRST + 2;
    public static final int CALL = FIRST + 3;
    public static final int RESUME = FIRST + 4;

    /** Procedures that a lease may have at a time. */
    public static final int SLOTS = 64;
    /** Units of fuel that a call may use in all. */
    public static final long FUEL_LIMIT = 10_000_000;
    /** The longest class file, in bytes. */
    public static final int MOST_CLASS_BYTES = 64 << 10;
    /** Virtual regions in one message of a map. */
    public static final int MAP_PIECE = 2048;
    /** Bytes of a class file in one message. */
    public static final int CLASS_PIECE_BYTES = 8192;
    /** What stands before a class file's bytes. */
    public static final int REGISTER_BYTES = 16;
    /** What stands before a map's regions. */
    public static final int MAP_BYTES = 20;
    /** What stands before the arguments, or a context. */
    public static final int CALL_BYTES = 32;
    /** What stands before a result, or a context. */
    public static final int REPLY_BYTES = 16;
    /** The longest message: a call with its context, or its reply. */
    public static final int RECORD_BYTES = 13 << 10;

    /** A status: the call has met an address that this server does not have. */
    public static final int LEFT = 100;

    /** A flag: it changes no word of the cache. */
    public static final int READS = 1;

    /** A registration: the piece was taken, and there are more to come. */
    public static final int MORE = 0;
    /** A registration: the procedure can be called. */
    public static final int REGISTERED = 1;
    /** A registration: the server runs no procedures, or not this one; sessions make its accesses themselves. */
    public static final int NOT_SERVED = 2;
    /** A registration: refused. */
    public static final int REFUSED = 3;

    private CallFormat() {}

    /** Where a procedure is among those of its lease; any id. */
    public static int slot(int id) {
        return id & SLOTS - 1;
    }
}
