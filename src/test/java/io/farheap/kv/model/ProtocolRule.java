package io.farheap.kv.model;

import java.util.Set;

/**
 * The rules by which a block that is not marked is current when its mark is read, so that a get by a kept pointer needs
 * one READ. Without any one of them some interleaving breaks that.
 *
 * <p>The product has all of them. If no client keeps a pointer, {@linkplain #OF_TABLE two} of them are enough, and
 * neither is enough alone: the others are about marks and pointers.
 */
enum ProtocolRule {
    /**
     * A request that changes or empties a slot first marks the block that the slot names, if there may be pointers to
     * it. Without it, the mark follows the compare-and-swap of the slot's word.
     */
    MARK_BEFORE_SWAP,
    /**
     * A slot whose block cannot be marked, as its server cannot be reached, is not emptied: the request is lost, until
     * every process has begun an era without pointers there. Without it, the slot is emptied, as one that names a
     * broken block.
     */
    WHAT_CANNOT_BE_MARKED_IS_NOT_EMPTIED,
    /**
     * Every insertion claims a slot and looks behind its claim. Without it, a set inserts by one compare-and-swap and
     * then removes duplicates, as the map's sets did up to format 6.
     */
    NO_KEY_IN_TWO_SLOTS,
    /**
     * An update's compare-and-swap waits until the block is known to be the key's: by the client's pointer, in the
     * product by a hash in the slot that is mixed with the slot's word, or by the block. Without it, a set may trust
     * whatever hash is in the slot, and learns after its compare-and-swap which key's block it has replaced.
     */
    NO_INSERTION_UNSEEN,
    /**
     * A set that has found by a pointer that the slot has changed looks at the slot: the other set may have ended
     * before this one began. Without it, it counts as taking effect right before the other.
     */
    A_SET_THAT_LOSES_BY_A_POINTER_LOOKS,
    /**
     * A pointer that was last seen live in an older era is not used. Without it, pointers survive a segment that begins
     * again, and with that repeats incarnations.
     */
    POINTERS_ARE_OF_AN_ERA,
    /**
     * A slot says that there may be pointers before the first is kept, and only then its block is marked. Without it, a
     * get keeps a pointer at once.
     */
    POINTERS_ARE_ANNOUNCED,
    /**
     * A word is the same when it says that. Without it, a set whose compare-and-swap finds such a word takes it for
     * that of another set, which was faster.
     */
    ANNOUNCED_WORDS_ARE_THE_SAME,
    /** A pointer is of the era of its request. Without it, it is of the era that is present when the request ends. */
    POINTERS_HAVE_THE_ERA_OF_THEIR_REQUEST,
    /**
     * A request looks at the era once more after the services can see that it is in flight. Without it, it may be of an
     * era for which no service waits any more.
     */
    REQUESTS_LOOK_AT_THE_ERA_TWICE,
    /**
     * Pointers end with the lease on the server that counts who has begun an era. Without it, they last as long as the
     * lease on the block's server, and a client that opens the map again still has them.
     */
    POINTERS_END_WITH_THE_LEASE,
    /**
     * A pointer is to a block that a slot has named. Without it, a set that counts as replaced at once keeps one to the
     * block that it has written.
     */
    POINTERS_ARE_TO_WHAT_A_SLOT_NAMED;

    /** The rules that are enough if no client keeps a pointer. */
    static final Set<ProtocolRule> OF_TABLE = Set.of(NO_KEY_IN_TWO_SLOTS, NO_INSERTION_UNSEEN);
}
