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
     * will never post anything to them again, or does not know them. Reply: [status, id of the server's edition;
     * another number if some keys are nowhere, since the process has ended that was about to change it].
     */
    public static final int BEAT = FIRST_CALL + 1;
    /**
     * [space]: asks for the edition that the server is in. Reply: [status, number, id, n, 1 if the next was
     * {@linkplain #RELEASE released}, the n changes of the map's servers as words of {@link ShardDirectory.Change}].
     */
    public static final int EDITION = FIRST_CALL + 2;
    /**
     * [space, lost, now, leaving, id]: the process is about to change the map's servers: these are lost, with those
     * that have left, and others answer, and leave; a bit for each of the first 64. No other process may, and none
     * registers, until it calls {@link #INSTALL} or {@link #UNSEAL}, or ends, or makes none of these calls, nor
     * {@link #RELEASE} and {@link #NAME}, for 6 s. Now: whether it need not be the map's time since all processes have
     * lost them. Reply: [status, 1 if a process has the map open, 0 if none does, so that none has lost them]. The
     * status may be BUSY, also if the server is in another edition than that of the id, or IN_USE.
     */
    public static final int SEAL = FIRST_CALL + 3;
    /** [space]: the process changes no servers after all. */
    public static final int UNSEAL = FIRST_CALL + 4;
    /**
     * [space, number, id, n, 0, changes...]: the next edition, whose ranges of hashes the server's shards have, after
     * {@link #RELEASE} has announced it.
     */
    public static final int INSTALL = FIRST_CALL + 5;
    /**
     * As {@link #INSTALL}, before it: the server's shards lose all ranges that they do not have in the next edition,
     * and drop what they have of them. The status is {@link #NOT_YET} while they do so.
     */
    public static final int RELEASE = FIRST_CALL + 6;
    /**
     * [space, server, bytes, text...]: the address of a server that joins by the next edition, from the process that
     * has sealed this one.
     */
    public static final int NAME = FIRST_CALL + 7;
    /** [space, server]: the address of a server that has joined. Reply: [status, bytes, text...]. */
    public static final int ADDRESS = FIRST_CALL + 8;
    /** [space]. Reply: [status, how many processes have not said that they know the server's edition]. */
    public static final int PROCESSES = FIRST_CALL + 9;

    /**
     * [space, 0]: the server's shards are to account for all of their blocks. Reply: [status, number]. [space, number]:
     * Reply: [status, whether they have, then the words of {@link io.farheap.kv.format.BlockAudit}].
     */
    public static final int AUDIT = FIRST_CALL + 10;

    /** A status: call again. */
    public static final long NOT_YET = 8;

    /** The words of a reply to {@link #EDITION}, and of the arguments of {@link #INSTALL}, before the changes. */
    public static final int EDITION_WORDS = 5;

    private ShardCalls() {}
}
