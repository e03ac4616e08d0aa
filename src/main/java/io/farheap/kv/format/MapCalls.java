package io.farheap.kv.format;

/**
 * Calls between clients' keepers and a map's services. Arguments and replies are words of 8 bytes, little-endian. The
 * first argument is the number of the space, the first word of a reply one of the statuses.
 *
 * <p>{@link #TAKE} and {@link #GIVE} have a number that grows with each: one that comes again is answered as before and
 * changes nothing.
 */
public final class MapCalls {

    /** Of arguments and of replies. */
    public static final int RECORD_BYTES = 8192;
    /** Of blocks in one call. */
    public static final int MOST_WORDS = 1000;
    /** Processes in a beat, of each kind. */
    public static final int MOST_PROCESSES = 16;
    /** Blocks that a {@link #TAKE} gives at most. */
    public static final int MOST_TAKEN = 32;
    /** Segments that a {@link #TAKE} gives at most. */
    public static final int MOST_SEGMENTS = 8;
    /** Blocks with two owners that {@link #AUDIT} names at most. */
    public static final int MOST_TWICE = 32;
    /** Growths that {@link #LAYOUT} names at once. */
    public static final int MOST_GROWTHS = 300;

    /** Of a reply of {@link #BEAT}, before its processes. */
    public static final int BEAT_REPLY_WORDS = 12;
    /** Of a {@link #BEAT}, before its facts, without the space. */
    public static final int BEAT_WORDS = 4;

    private static final int FIRST_CALL = 3840;

    /** [space, process]: the process takes part. */
    public static final int REGISTER = FIRST_CALL;
    /**
     * [space, facts, questions, epoch, growths, (process, server)..., process...]: the process lives, all of its
     * requests in flight have begun after it was told the epoch, and it has so many of the map's growths. Each fact is
     * a process that another server says has ended. Reply: [status, ns of the map's clock, flags, round, phase to
     * report in or 0, wanted, answers, epoch, growths, growths that all have, regions here, emptying, process...,
     * place...]: of the questions those, a bit each, that have no opening here; what the map has grown by, if this is
     * its first server; how many regions this server hands blocks out of; processes whose end other servers are to be
     * asked for; and where the segments begin that are being emptied, so that no block of them is to be used.
     */
    public static final int BEAT = FIRST_CALL + 1;
    /**
     * [space, number, class, blocks, largest class, want, segments]: want is {@link #FREE_BLOCKS} to {@link #LAST}, and
     * no more than so many blocks or segments are given. Reply: [status, kind, n, words]: {@link #NOTHING},
     * {@link #LATER} or {@link #STUCK}; {@link #SEGMENT}: place and bytes of each; {@link #BLOCKS}: n words without a
     * fingerprint, with the incarnation to be used next.
     */
    public static final int TAKE = FIRST_CALL + 2;
    /** [space, number, n, words]: blocks come back, as {@link #TAKE} gives them; incarnation 0 has none left. */
    public static final int GIVE = FIRST_CALL + 3;
    /** [space, round, phase, last, n, words]: blocks of this server that the process's sessions hold. */
    public static final int HOLD = FIRST_CALL + 4;
    /** [space, round]: the collector asks what to do next. Reply: [status, what, phase]. */
    public static final int STEP = FIRST_CALL + 5;
    /** [space, round, phase, last, n, words]: blocks of this server that slots name. */
    public static final int NAMED = FIRST_CALL + 6;
    /** [space, words of a batch]. Reply: [status, words of the answer]. */
    public static final int LEARN = FIRST_CALL + 7;
    /**
     * [space, 0]: every block is to be accounted for. Reply: [status, ticket]. [space, ticket]: Reply: [status, whether
     * it is done, then as {@link BlockAudit}, n, words of blocks with two owners].
     */
    public static final int AUDIT = FIRST_CALL + 8;
    /** [space]: the process has given all back. */
    public static final int LEAVE = FIRST_CALL + 9;
    /**
     * [space]. Reply: [status, segments that were handed out, n, weights as doubles, segments that have been emptied,
     * segments that are being emptied].
     */
    public static final int STATE = FIRST_CALL + 10;

    /**
     * [space, 1]: the process is going to add memory to the map, alone until it says [space, 0] or ends; the map's
     * first server.
     */
    public static final int GROWING = FIRST_CALL + 11;
    /**
     * [space, server, first, count, bytes, address...]: a {@link RegionDirectory.Growth} of who is {@link #GROWING};
     * with the address of a server that joins by it, of so many bytes in UTF-8, else with 0 bytes.
     */
    public static final int GROWN = FIRST_CALL + 12;
    /**
     * [space, from]: what the map has grown by; the map's first server. Reply: [status, growths, n, (server, first,
     * count)...], from one of them on.
     */
    public static final int LAYOUT = FIRST_CALL + 13;
    /**
     * [space, number, first, count]: all processes have these of the server's regions, which the map knows by numbers
     * from this one on, so blocks of them may be handed out.
     */
    public static final int OFFER = FIRST_CALL + 14;
    /**
     * [space, server]: where a server is that has joined; the map's first server. Reply: [status, bytes, address...].
     */
    public static final int ADDRESS = FIRST_CALL + 15;
    /**
     * [space, {@link #LEAVES}]: the server is to leave the map, so blocks of it are handed out no more, until the
     * process says [space, {@link #STAYS}] or ends; or [space, {@link #HAS_LEFT}]: never again. Reply: [status,
     * settled]: whether no request in flight has begun before all processes knew.
     */
    public static final int DRAIN = FIRST_CALL + 16;
    /**
     * [space]: the emptier asks what segments to empty. Reply: [status, n, (place, class)...]; none where there is no
     * more to do.
     */
    public static final int EMPTY = FIRST_CALL + 17;
    /** Of an address. */
    public static final int MOST_ADDRESS_BYTES = 512;

    // Statuses.
    public static final long OK = 0;
    /** The space is none, no map, or not open to the caller. */
    public static final long NO_MAP = 1;
    /** The process has not registered. */
    public static final long NOT_REGISTERED = 2;
    /** The arguments make no sense. */
    public static final long WRONG = 3;
    /** Of a collection that is over, or that another does. */
    public static final long STALE = 4;

    /** Another process is adding memory. */
    public static final long BUSY = 5;

    // How much TAKE is wanted.
    /** Of the class alone, and no segment for it: objects are moved there. */
    public static final long FREE_BLOCKS = 0;
    /** What there is, before anything is evicted. */
    public static final long FIRST = 1;
    /** What was evicted has made no room yet. */
    public static final long AGAIN = 2;
    /** No block of the class has come of all that was evicted. */
    public static final long LAST = 3;

    // What DRAIN says.
    public static final long STAYS = 0;
    public static final long LEAVES = 1;
    public static final long HAS_LEFT = 2;

    // Kinds of what TAKE gives.
    public static final long NOTHING = 0;
    public static final long SEGMENT = 1;
    public static final long BLOCKS = 2;
    /** Nothing yet, but soon: segments wait for requests in flight to end. */
    public static final long LATER = 3;
    /** To {@link #AGAIN}: nothing, and not soon either, as a process that has such requests is silent. */
    public static final long STUCK = 4;

    // Flags of BEAT.
    /** There are segments or free blocks. */
    public static final long ROOM = 1;
    /** A collection is on its way: beat again soon. */
    public static final long SOON = 2;
    /** The caller collects from now on. */
    public static final long COLLECT = 4;
    /** The server is to leave the map: no block of it is to be used any more. */
    public static final long LEAVING = 8;

    /** The caller empties segments from now on. */
    public static final long EMPTIES = 16;

    // What the collector is to do.
    public static final long GO_ON = 0;
    public static final long WAIT = 1;
    public static final long SCAN = 2;
    public static final long DONE = 3;

    private MapCalls() {}
}
