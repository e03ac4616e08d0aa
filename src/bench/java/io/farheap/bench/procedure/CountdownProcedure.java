package io.farheap.bench.procedure;

import io.farheap.procedure.Call;

/** A procedure that counts down from its argument. */
public final class CountdownProcedure {

    private CountdownProcedure() {}

    public static int run(Call call) {
        long sum = 0;
        for (long i = call.argument(0); i > 0; i--) {
            sum = sum * 31 + i;
        }
        call.result(0, sum);
        return 0;
    }
}
