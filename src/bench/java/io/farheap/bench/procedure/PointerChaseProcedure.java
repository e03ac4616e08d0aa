package io.farheap.bench.procedure;

import io.farheap.procedure.Call;

/** A user's procedure: follows pointers, with arguments {first, hops}; the result is the last address. */
public final class PointerChaseProcedure {

    private PointerChaseProcedure() {}

    public static int run(Call call) {
        long node = call.argument(0);
        for (long hops = call.argument(8); hops > 0; hops--) {
            node = call.getLong(node);
        }
        call.result(0, node);
        return 0;
    }
}
