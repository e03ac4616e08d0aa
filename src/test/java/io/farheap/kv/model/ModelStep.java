package io.farheap.kv.model;

/**
 * The access that a client makes next, named as in the requests' steps. Each is one access to one word of far memory,
 * so that all other clients' accesses may come before and behind it.
 */
enum ModelStep {
    /** Between two operations; the next access is the first one of the next operation. */
    IDLE,
    DEAD,
    /** Has looked at the era, and makes its stamp visible to the services. */
    STAMP,
    /** READs mark and body of the block of a kept pointer, in any order. */
    POINTER,
    /** READs the words of the bucket, in any order. */
    BUCKET,
    /** A get READs the block that a slot names. */
    BLOCK,
    /** Empties a slot whose block cannot be read. */
    TAKE_OUT,
    /** A set goes by the slot's hash, or reads the block: the hash may be that of any key. */
    CANDIDATE,
    /** READs the block that may be the key's, before it decides. */
    PROBE,
    /** READs the head of the block that is to be replaced, in one list with mark and compare-and-swap. */
    HEAD,
    /** A set's mark and compare-and-swap by a kept pointer, in one list with the WRITE of its block. */
    SWAP_BY_POINTER,
    /** READs the block that the slot names instead of a kept pointer's. */
    REPLACED,
    /** An update's compare-and-swap. */
    SWAP,
    /** READs the block that another request has stored in the slot. */
    WINNER,
    /** An insertion's first access to the slot that it has chosen. */
    CHOOSE,
    /** The compare-and-swap of an insertion, or of its claim. */
    INSERT,
    /** Removes another request's claim. */
    RIVAL,
    /** Turns the claim into the block's word. */
    COMMIT,
    /** Empties the slot that the request claims. */
    WITHDRAW,
    /** READs the bucket after an insertion, for the removal of duplicates. */
    INSERTED,
    DUPLICATE_PROBE,
    DUPLICATE_REMOVE,
    DUPLICATE_SURVIVOR,
    /** A delete READs blocks upwards, until it has the lowest slot of the key. */
    LOWEST,
    /** A delete READs the highest block that may be the key's. */
    DELETE_PROBE,
    DELETE_SWAP,
    /** An eviction's first access to the victim that it has chosen. */
    VICTIM,
    /** READs the heads of the victim's and of higher slots' blocks, upwards. */
    VICTIM_HEADS,
    EVICT,
    TOUCH_BLOCK,
    TOUCH_SWAP,
    /** A move READs the block of the slot that it has chosen. */
    MOVE,
    MOVE_SWAP;

    private static final ModelStep[] STEPS = values();

    static ModelStep of(int number) {
        return STEPS[number];
    }

    /** Whether the step READs the bucket, a word at a time. */
    boolean readsBucket() {
        return this == BUCKET || this == INSERTED;
    }
}
