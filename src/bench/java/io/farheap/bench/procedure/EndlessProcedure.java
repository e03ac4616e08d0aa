package io.farheap.bench.procedure;

import io.farheap.procedure.Call;

/** A neighbour's procedure: it runs until it is out of fuel. */
public final class EndlessProcedure {

    private EndlessProcedure() {}

    public static int run(Call call) {
        long sum = 0;
        for (long i = 1; i != 0; i++) {
            sum += i ^ sum << 1;
        }
        call.result(0, sum);
        return 0;
    }
}
