package io.farheap.bench.procedure;

import io.farheap.procedure.Call;

/** A user's procedure: sums the words of a piece of a range, with arguments {address, bytes}. */
public final class RangeSumProcedure {

    private RangeSumProcedure() {}

    public static int run(Call call) {
        long word = call.argument(0);
        long sum = 0;
        for (long left = call.argument(8) >> 3; left > 0; left--) {
            sum += call.getLong(word);
            word += 8;
        }
        call.result(0, sum);
        return 0;
    }
}
