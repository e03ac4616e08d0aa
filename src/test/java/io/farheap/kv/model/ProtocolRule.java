package io.farheap.kv.model;

import java.util.Set;

/**
 * The rules by which a block that is not marked is current when its mark is read, so that a get by a kept pointer needs
 * one READ. Without any one of them some interleaving breaks that.
 *
 * <p>The product has {@linkplain #OF_PRODUCT two} of them. Its gets use no pointers, and then these two are enough, and
 * neither is enough alone: the others are about marks and pointers.
 */
enum ProtocolRule {
    /**
     * A request that changes or empties a slot first marks the block that the slot names. Without it, the mark follows
     * the compare-and-swap of the slot's word.
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
     * A pointer that was last seen live in an older era is not used. Without it, pointers survive a segment that begins
     * again, and with that repeats incarnations.
     */
    POINTERS_ARE_OF_AN_ERA;

    /** The rules of the product. */
    static final Set<ProtocolRule> OF_PRODUCT = Set.of(NO_KEY_IN_TWO_SLOTS, NO_INSERTION_UNSEEN);
}
