package io.farheap.procedure.builtin;

import io.farheap.procedure.Call;

/**
 * Follows a chain for a number of hops. Arguments: at 0 the first node's address, at 8 the offset in a node of the next
 * node's address, at 16 the hops. Result: at 0 the address that it reached, at 8 the hops that it made: fewer if the
 * chain ended with 0. Code: 1 if all hops were made, else 0. Reads.
 */
public final class Chase {

    private Chase() {}

    public static int run(Call call) {
        long node = call.argument(0);
        long next = call.argument(8);
        long hops = call.argument(16);
        long made = 0;
        while (made < hops && node != 0) {
            node = call.getLong(node + next);
            made++;
        }
        call.result(0, node);
        call.result(8, made);
        return made == hops ? 1 : 0;
    }
}
