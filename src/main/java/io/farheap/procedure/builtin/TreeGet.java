package io.farheap.procedure.builtin;

import io.farheap.procedure.Call;

/**
 * Looks a key up in a B+-tree. Arguments: at 0 the root's address, at 8 the key. A node consists of a word that is 1
 * for a leaf and 0 otherwise, the number of its keys, a word, and then, from 24 on, pairs of a key and a word, with
 * ascending keys. In a leaf the pair's word is the key's value, and the word at 16 is the next leaf's address, or 0. In
 * an inner node the pair's word is the address of the child whose keys are at least that key and less than the next
 * one, and the word at 16 is the address of the child whose keys are less than the first key. Result: the value. Code:
 * 1 if the key is there, else 0. Reads.
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
            // The first child's address is at the place where the value of an entry before the first would be.
            node = call.getLong(last(call, node, key) + 8);
        }
        return node;
    }

    /** Address of the last entry whose key is not greater; node + 8 if there is none. */
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
