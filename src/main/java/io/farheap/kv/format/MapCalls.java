package io.farheap.kv.format;

/**
 * Calls by which clients' keepers use a map's services. Arguments and replies are words of 8 bytes, little-endian. The
 * first argument is the number of the space, and the first word of a reply is one of the statuses.
 *
 * <p>{@link #TAKE} and {@link #GIVE} have a number, which grows with each. If a call with the same number comes again,
 * the service repeats its reply and changes nothing.
 */
public final class MapCalls {

    /** The most bytes of a call's arguments, and of its reply. */
    public static final int RECORD_BYTES = 8192;
    /** The most blocks in one call. */
    public static final int MOST_WORDS = 1000;
    /** The most processes in a {@link #BEAT}, of each kind. */
    public static final int MOST_PROCESSES = 16;
    /** Blocks that a {@link #TAKE} gives at most. */
    public static final int MOST_TAKEN = 32;
    /** Segments that a {@link #TAKE} gives at most. */
    public static final int MOST_SEGMENTS = 8;
    /** Blocks with two owners that {@link #AUDIT} names at most. */
    public static final int MOST_TWICE = 32;
    /** Growths that {@link #LAYOUT} names at once. */
    public static final int MOST_GROWTHS = 250;

    /** Words of a reply to {@link #BEAT}, before its processes. */
    public static final int BEAT_REPLY_WORDS = 13;
    /** Words of a {@link #BEAT}, before its facts, without the space. */
    public static final int BEAT_WORDS = 6;

    private static final int FIRST_CALL = 3840;

    /**
     * [space, process, edition, retired]: the process has opened the map in this {@linkplain #EDITION edition}, by
     * which those servers have left, a bit for each of the first 64. The status may be {@link #PART_GONE},
     * {@link #BUSY} while a lost server is being replaced, or {@link #STALE} if the map has another edition.
     */
    public static final int REGISTER = FIRST_CALL;
    /**
     * [space, n of facts, n of questions, epoch, growths, lost, joined, (process, server)..., process...]: the process
     * lives; all of its requests in flight have begun after it knew the epoch; and it has so many of the map's growths.
     * Lost has a bit for each of the first 64 servers that the map was made on, set if the process has lost its lease
     * there, and so will never read or change that server's part of the table again. Joined has a bit for each server
     * that has joined and on which the process has a lease, by the remainder of its number by 64. Each fact is a
     * process that has ended here, and another server on which it does not have the space open. Each question is a
     * process of which another server wants to know whether it has ended here. Reply: [status, ns of the map's clock,
     * flags, round, phase to report in or 0, n of wanted, answers, epoch, growths, growths that all processes have,
     * regions here, n of emptying, gone, process..., place...]: answers has a bit for each question, set if its process
     * does not have the space open here; growths are those of the map if this is its first server, else 0; regions here
     * is how many regions the server hands blocks out of; the wanted processes are those that have ended here, and that
     * other servers are to be asked about; the places are those of segments that are being emptied, whose blocks must
     * not be used any more; and gone has the bits of servers whose part of the table no process has any more.
     */
    public static final int BEAT = FIRST_CALL + 1;
    /**
     * [space, number, class, blocks, largest class, want, segments]: want is {@link #FREE_BLOCKS} to {@link #LAST}; the
     * service gives no more than so many blocks or segments. Reply: [status, kind, n, words]. The kind is
     * {@link #NOTHING}, {@link #LATER} or {@link #STUCK}; or {@link #SEGMENT}, and the words are place and bytes of
     * each segment; or {@link #BLOCKS}, and the words are n blocks without a fingerprint, with the incarnation to use
     * next.
     */
    public static final int TAKE = FIRST_CALL + 2;
    /**
     * [space, number, n, words]: blocks come back, in the form of {@link #TAKE}; incarnation 0: the block has none
     * left.
     */
    public static final int GIVE = FIRST_CALL + 3;
    /** [space, round, phase, last, n, words]: blocks of this server that the process's sessions hold. */
    public static final int HOLD = FIRST_CALL + 4;
    /** [space, round]: the collector asks for its next step. Reply: [status, step, phase]. */
    public static final int STEP = FIRST_CALL + 5;
    /** [space, round, phase, last, n, words]: blocks of this server that slots name. */
    public static final int NAMED = FIRST_CALL + 6;
    /** [space, words of a batch]. Reply: [status, words of the answer]. */
    public static final int LEARN = FIRST_CALL + 7;
    /**
     * [space, 0]: the service is to account for every block. Reply: [status, ticket]. [space, ticket]: Reply: [status,
     * whether it is done, then the words of {@link BlockAudit}, n, words of blocks with two owners].
     */
    public static final int AUDIT = FIRST_CALL + 8;
    /** [space]: the process has given all blocks back. */
    public static final int LEAVE = FIRST_CALL + 9;
    /**
     * [space]. Reply: [status, segments that were handed out, n, weights as doubles, segments that have been emptied,
     * segments that are being emptied].
     */
    public static final int STATE = FIRST_CALL + 10;

    /**
     * [space, 1]: the process is about to add memory to the map, and no other process may until it calls with [space,
     * 0] or ends. For the map's first server.
     */
    public static final int GROWING = FIRST_CALL + 11;
    /**
     * [space, server, first, count, bytes, address...]: a {@link RegionDirectory.Growth}, from the process that is
     * {@link #GROWING}. If a server joins by it, its address follows, of so many bytes in UTF-8; else bytes is 0.
     */
    public static final int GROWN = FIRST_CALL + 12;
    /**
     * [space, from]: asks for the map's growths, beginning with number from; the map's first server has all, others
     * have copies. Reply: [status, growths, n, (server, first, count, part)...].
     */
    public static final int LAYOUT = FIRST_CALL + 13;
    /**
     * [space, number, first, count]: all processes have these regions of the server, which the map numbers from this
     * number on, so the server may hand out blocks of them.
     */
    public static final int OFFER = FIRST_CALL + 14;
    /**
     * [space, server]: asks for the address of a server that has joined. For the map's first server. Reply: [status,
     * bytes, address...].
     */
    public static final int ADDRESS = FIRST_CALL + 15;
    /**
     * [space, {@link #LEAVES}]: the server is to leave the map, and hands out no more blocks until the process calls
     * with [space, {@link #STAYS}] or ends; with [space, {@link #HAS_LEFT}] the server never hands out blocks again.
     * Reply: [status, settled]: settled is whether all requests in flight have begun after their process knew that.
     */
    public static final int DRAIN = FIRST_CALL + 16;
    /**
     * [space]: the emptier asks which segments to empty. Reply: [status, n, (place, class)...]; n is 0 if there are
     * none.
     */
    public static final int EMPTY = FIRST_CALL + 17;
    /**
     * [space]: the process has let blocks go of which it does not know whether a slot names them; no operation of its
     * own can name one or change one any more. The service collects those that no slot names and no process holds.
     */
    public static final int SWEEP = FIRST_CALL + 18;
    /**
     * [space, time, history, number, bytes, server, first, count, part, address...]: what a server keeps in case the
     * map's first is lost: the map's time in ns, the number of the next history entry, and a growth by its number; -1:
     * no growth. Reply: [status, growths here, number of the next history entry if this is the map's first server, else
     * 0].
     */
    public static final int COPY = FIRST_CALL + 19;
    /**
     * [space]: asks for the map's edition, which changes when lost servers are replaced. Reply: [status, number, id,
     * retired, growths when it began, growths, gone]: servers that are gone for good and have not left, a bit for each
     * of the first 64.
     */
    public static final int EDITION = FIRST_CALL + 20;
    /**
     * [space, lost, now]: the process is about to replace these servers, a bit for each; no other process may, and none
     * registers, until it calls {@link #INSTALL} or with 0, or ends. Now: whether it need not be the map's time since
     * all processes have lost them. Reply: [status, number of the last session, number of the next history entry, time,
     * 1 if a process has the map open, 0 if none does, so that none has lost them]. The status may be {@link #BUSY}, or
     * {@link #IN_USE}.
     */
    public static final int SEAL = FIRST_CALL + 21;
    /**
     * [space, number, id, growths, session, history, time, n, (server, first, count, part)...]: the next edition: so
     * many growths as before, then these, by which the sealed servers leave; and what the map's first server continues
     * to count from.
     */
    public static final int INSTALL = FIRST_CALL + 22;
    /**
     * [space, server]: asks whether a process may open the map without a server that has joined and that it does not
     * reach: none that has the map open has had a lease there for the map's time, or the server has left. For the map's
     * first server. Reply: [status, 1 if so, else 0].
     */
    public static final int AWAY = FIRST_CALL + 23;
    /** The operation of the highest number. */
    public static final int LAST_CALL = AWAY;
    /** The most bytes of an address. */
    public static final int MOST_ADDRESS_BYTES = 512;

    // Statuses.
    /** The call has been carried out. */
    public static final long OK = 0;
    /** There is no such space, it is no map, or the caller does not have it open. */
    public static final long NO_MAP = 1;
    /** The process has not registered. */
    public static final long NOT_REGISTERED = 2;
    /** The arguments are invalid. */
    public static final long WRONG = 3;
    /** The collection has ended, or another process drives it. */
    public static final long STALE = 4;

    /** Another process is adding memory. */
    public static final long BUSY = 5;

    /** A server that the map was made on is gone for good, and with it a part of the table. */
    public static final long PART_GONE = 6;

    /** A process that has the map open has not lost a server that is to be replaced, or not for long enough. */
    public static final long IN_USE = 7;

    // Values of want in TAKE.
    /** Blocks of the class alone, and no segment: objects are moved there. */
    public static final long FREE_BLOCKS = 0;
    /** What there is, before the process evicts anything. */
    public static final long FIRST = 1;
    /** The process has evicted objects, and that has made no room yet. */
    public static final long AGAIN = 2;
    /** No block of the class has come of all that the process has evicted. */
    public static final long LAST = 3;

    // Values in DRAIN.
    public static final long STAYS = 0;
    public static final long LEAVES = 1;
    public static final long HAS_LEFT = 2;

    // Kinds of replies to TAKE.
    /** Nothing, and nothing soon. */
    public static final long NOTHING = 0;
    /** Segments. */
    public static final long SEGMENT = 1;
    /** Blocks of the class, or of a larger one. */
    public static final long BLOCKS = 2;
    /** Nothing yet, but soon: segments wait until requests in flight have ended. */
    public static final long LATER = 3;
    /**
     * A reply to {@link #AGAIN}: nothing, and nothing soon, since a process with such requests in flight does not beat.
     */
    public static final long STUCK = 4;

    // Flags in replies to BEAT.
    /** The server has segments or free blocks. */
    public static final long ROOM = 1;
    /** A collection is under way: beat again soon. */
    public static final long SOON = 2;
    /** The process is the collector from now on. */
    public static final long COLLECT = 4;
    /** The server is to leave the map: its blocks must not be used any more. */
    public static final long LEAVING = 8;

    /** The process is the emptier from now on. */
    public static final long EMPTIES = 16;

    // Steps of the collector.
    /** Ask for the next step at once. */
    public static final long GO_ON = 0;
    /** Ask for the next step a little later. */
    public static final long WAIT = 1;
    /** Read the table, and report by {@link #NAMED} the server's blocks that slots name; the reply has its phase. */
    public static final long SCAN = 2;
    /** The collection has ended. */
    public static final long DONE = 3;

    private MapCalls() {}
}
