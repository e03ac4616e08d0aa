package io.farheap.procedure.builtin;

import io.farheap.procedure.Call;

/**
 * Follows a chain to the node with a key. Arguments: at 0 the first node's address, at 8 the offset in a node of the
 * next node's address, at 16 the offset of its key, at 24 the key. Result: at 0 the node's address, or 0 if the chain
 * ended before, at 8 the hops. Code: 1 if the key was found, else 0. Reads.
 */
public final class ChaseToKey {

    private ChaseToKey() {}

    public static int run(Call call) {
        long node = call.argument(0);
        long next = call.argument(8);
        long place = call.argument(16);
        long key = call.argument(24);
        long hops = 0;
        while (node != 0 && call.getLong(node + place) != key) {
            node = call.getLong(node + next);
            hops++;
        }
        call.result(0, node);
        call.result(8, hops);
        return node != 0 ? 1 : 0;
    }
}
