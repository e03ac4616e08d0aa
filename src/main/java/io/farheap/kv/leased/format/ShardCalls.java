package io.farheap.kv.leased.format;

/**
 * Calls by which the processes that have a leased map open say that they live, and by which they agree on the servers
 * that have its shards. Arguments and replies are words of 8 bytes, little-endian; the first argument is the number of
 * the space, and the first word of a reply is a status of {@link io.farheap.kv.format.MapCalls}.
 */
public final class ShardCalls {

    private static final int FIRST_CALL = 3808;

    /**
     * [space, id]: the process opens the map in the {@linkplain #EDITION edition} of this id. The status may be BUSY,
     * while servers are about to change, or STALE, if the map has another edition.
     */
    public static final int REGISTER = FIRST_CALL;
    /**
     * [space, lost]: the process lives, and has lost its leases on these servers, a bit for each of the first 64: it
     * will never post anything to them again. Reply: [status, id of the server's edition].
     */
    public static final int BEAT = FIRST_CALL + 1;
    /**
     * [space]: asks for the edition that the server is in. Reply: [status, number, id, n, the changes of the map's
     * servers as words of {@link ShardDirectory.Change}].
     */
    public static final int EDITION = FIRST_CALL + 2;
    /**
     * [space, lost, now]: the process is about to change the map's servers, and these are lost, with those that have
     * left; a bit for each of the first 64. No other process may, and none registers, until it calls {@link #INSTALL}
     * or {@link #UNSEAL}, or ends. Now: whether it need not be the map's time since all processes have lost them.
     * Reply: [status, 1 if a process has the map open, 0 if none does, so that none has lost them]. The status may be
     * BUSY, or IN_USE.
     */
    public static final int SEAL = FIRST_CALL + 3;
    /** [space]: the process changes no servers after all. */
    public static final int UNSEAL = FIRST_CALL + 4;
    /** [space, number, id, n, changes...]: the next edition. */
    public static final int INSTALL = FIRST_CALL + 5;

    /** The words of a reply to {@link #EDITION}, and of the arguments of {@link #INSTALL}, before the changes. */
    public static final int EDITION_WORDS = 4;

    private ShardCalls() {}
}
