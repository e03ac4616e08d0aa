package io.farheap.kv.leased.server;

/**
 * The rules by which a get by a pointer finds no value that was replaced, each named for the invariant of the leased
 * engine that it is, and those by which long values are whole. Each can be left out of the model.
 */
enum ShardRule {
    /** When a call is answered, READs find its marks: of a key at most one block says live. */
    MARKS_BEFORE_ANSWERS,
    /** A block that is marked never says live again within its incarnation. */
    MARKS_STAY,
    /** A block's bytes stay until its leases have ended. */
    LEASES_ARE_KEPT,
    /** No incarnation comes back at a place. */
    INCARNATIONS_GROW,
    /** Clients' clocks are as good as is assumed. */
    CLOCKS_RUN,
    /** A term counts from when its call was sent. */
    TERMS_BEGIN_AT_THE_CALL,
    /** A READ counts only if the lease held when it had completed. */
    LEASED_AT_COMPLETION,
    /** A READ's copy tells by incarnation and checksum that it is the block of its pointer. */
    COPIES_ARE_CHECKED,
    /** A pointer goes with the opening of the map in which its client has got it. */
    POINTERS_ARE_OF_AN_OPENING,
    /** After a call that has not ended, an entry that names a marked block is an absent key. */
    MARKED_ENTRIES_ARE_ABSENT,
    /** A call that comes again is carried out once. */
    CALLS_ARE_CARRIED_OUT_ONCE,
    /** A value counts if the server's copies have the checksum of its call, whatever the client's area has. */
    COPIES_ARE_SUMMED,
    /** A piece counts only in the incarnation that its index names. */
    PIECES_ARE_CHECKED
}
