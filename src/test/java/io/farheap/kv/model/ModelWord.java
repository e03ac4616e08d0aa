package io.farheap.kv.model;

/**
 * The words of the model, small enough for a byte: a slot's word, and the mark and the body of a block.
 *
 * <pre>
 * slot: bits 0..1 empty, live or a claim; 2..3 the block; 4..6 its incarnation; 7 whether pointers to it may be kept.
 *       All keys have one fingerprint
 * mark: bit 0 whether the block is marked; 1..3 the incarnation
 * body: bits 0..2 the incarnation that the checksum is seeded with; 3 the key; 4..6 the value; 7 CONDITIONAL
 * </pre>
 */
final class ModelWord {

    static final int EMPTY = 0;
    static final int MOST_INCARNATION = 7;

    private static final int LIVE = 1;
    private static final int CLAIM = 2;
    private static final int KIND_MASK = 3;
    private static final int SHARED = 1 << 7;

    private ModelWord() {}

    static int live(int block, int incarnation) {
        return LIVE | block << 2 | incarnation << 4;
    }

    /** The claim for the block of a live word; no client keeps a pointer to a claim. */
    static int claim(int live) {
        return live & ~(KIND_MASK | SHARED) | CLAIM;
    }

    /** A live word that says that clients may keep pointers to its block. */
    static int shared(int live) {
        return live | SHARED;
    }

    static boolean isShared(int word) {
        return (word & SHARED) != 0;
    }

    static boolean isLive(int word) {
        return (word & KIND_MASK) == LIVE;
    }

    static boolean isClaim(int word) {
        return (word & KIND_MASK) == CLAIM;
    }

    static int block(int word) {
        return word >> 2 & 3;
    }

    static int incarnation(int word) {
        return word >> 4 & MOST_INCARNATION;
    }

    /** The mark of a block that is not marked. */
    static int mark(int incarnation) {
        return incarnation << 1;
    }

    static int marked(int mark) {
        return mark | 1;
    }

    static boolean isMarked(int mark) {
        return (mark & 1) != 0;
    }

    static int incarnationOfMark(int mark) {
        return mark >> 1;
    }

    static int body(int incarnation, int key, int value, boolean conditional) {
        return incarnation | key << 3 | value << 4 | (conditional ? 1 << 7 : 0);
    }

    static int incarnationOfBody(int body) {
        return body & MOST_INCARNATION;
    }

    static int key(int body) {
        return body >> 3 & 1;
    }

    static int value(int body) {
        return body >> 4 & 7;
    }

    static boolean conditional(int body) {
        return body >> 7 != 0;
    }
}
