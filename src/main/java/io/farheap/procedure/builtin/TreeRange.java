package io.farheap.procedure.builtin;

import io.farheap.procedure.Call;

/**
 * Returns the entries of a B+-tree, in the format of {@link TreeGet}, whose keys are in a range. Arguments: at 0 the
 * root's address, at 8 and 16 the least and the greatest key. Result: a key and its value for each entry, ascending.
 * Code: the number of entries in the result. If the result is full, call again from after the last key. Reads.
 */
public final class TreeRange {

    private TreeRange() {}

    public static int run(Call call) {
        long least = call.argument(8);
        long most = call.argument(16);
        long node = call.argument(0);
        while (call.getLong(node) == 0) {
            node = call.getLong(node + 16 + 16 * notBelow(call, node, least));
        }
        long index = notBelow(call, node, least);
        int at = 0;
        if (index > 0 && call.getLong(node + 24 + 16 * (index - 1)) == least) {
            index--;
        }
        while (node != 0) {
            long count = call.getLong(node + 8);
            for (; index < count; index++) {
                long key = call.getLong(node + 24 + 16 * index);
                if (key > most || at > call.resultCapacity() - 16) {
                    return at >> 4;
                }
                call.result(at, key);
                call.result(at + 8, call.getLong(node + 32 + 16 * index));
                at += 16;
            }
            index = 0;
            node = call.getLong(node + 16);
        }
        return at >> 4;
    }

    /** Number of the node's keys that are not greater than the key. */
    private static long notBelow(Call call, long node, long key) {
        long low = 0;
        long high = call.getLong(node + 8);
        while (low < high) {
            long middle = low + high >> 1;
            if (call.getLong(node + 24 + 16 * middle) <= key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
