package io.farheap.kv.operation;

/**
 * Says which of a session's sets try to update their key's object by a pointer. Such an update saves a READ and a round
 * trip if the slot still has the pointer's word, and costs a round trip more if another process has changed it. So
 * after a loss the next sets of the key ask the slot, twice as many after each further loss, and half as many after
 * each success. Counted by a part of the key's hash. One thread.
 *
 * <p>One of 64 sets asks the slot in each case, as it has the accesses that other processes count.
 */
final class PointerLosses {

    private static final int PARTS = 1 << 8;
    private static final int PART_SHIFT = 24;
    private static final int MOST_LEVEL = 6;
    private static final int ASK_SHIFT = 58;
    /** That of the golden ratio, so each of several keys in turns is among those that ask. */
    private static final long ASK_ADDEND = 0x9E3779B97F4A7C15L;

    /** By part: the binary logarithm of how many sets ask the slot after the next loss. */
    private final byte[] level = new byte[PARTS];
    /** By part: how many sets ask the slot before the next one tries. */
    private final byte[] rest = new byte[PARTS];

    private long asks;

    private static int part(long hash) {
        return (int) (hash >>> PART_SHIFT) & PARTS - 1;
    }

    /** Whether a set of a key to which there is a pointer should use it; called once for a set. */
    boolean mayTry(long hash) {
        int part = part(hash);
        if (rest[part] > 0) {
            rest[part]--;
            return false;
        }
        return (asks += ASK_ADDEND) >>> ASK_SHIFT != 0;
    }

    /** An update by a pointer has found another word. */
    void lost(long hash) {
        int part = part(hash);
        level[part] = (byte) Math.min(level[part] + 1, MOST_LEVEL);
        rest[part] = (byte) ((1 << level[part]) - 1);
    }

    /** An update by a pointer has taken effect. */
    void won(long hash) {
        int part = part(hash);
        level[part] = (byte) Math.max(level[part] - 1, 0);
    }
}
