package io.farheap.procedure.builtin;

import io.farheap.procedure.Call;

/**
 * Looks a key up in a B+-tree. Arguments: at 0 the root's address, at 8 the key. A node is a word that is 1 for a leaf
 * and 0 else, the number of its keys, a word, and then, from 24 on, a key and a word for each, the keys ascending. In a
 * leaf the word is the key's value, and at 16 is the next leaf's address, or 0; in an inner node it is the address of
 * the child whose keys are that or greater, up to the next key, and at 16 is the address of the child whose keys are
 * less than the first. Result: the value. Code: 1 where the key is there, else 0. Reads.
 */
public final class TreeGet {

    private TreeGet() {}

    public static int run(Call call) {
        long key = call.argument(8);
        long leaf = leaf(call, call.argument(0), key);
        long entry = last(call, leaf, key);
        if (entry == leaf + 8 || call.getLong(entry) != key) {
            return 0;
        }
        call.result(0, call.getLong(entry + 8));
        return 1;
    }

    private static long leaf(Call call, long root, long key) {
        long node = root;
        while (call.getLong(node) == 0) {
            // The first child stands where the value of an entry before the first would.
            node = call.getLong(last(call, node, key) + 8);
        }
        return node;
    }

    /** Address of the last entry whose key is not greater, 8 behind the node where there is none. */
    private static long last(Call call, long node, long key) {
        long low = -1;
        long high = call.getLong(node + 8);
        while (high - low > 1) {
            long middle = low + high >> 1;
            if (call.getLong(node + 24 + 16 * middle) <= key) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return node + 24 + 16 * low;
    }
}
