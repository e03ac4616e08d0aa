package io.farheap.bench.procedure;

import io.farheap.procedure.Call;

/** A user's procedure that does nothing: a call of it costs what every call costs. */
public final class EmptyProcedure {

    private EmptyProcedure() {}

    public static int run(Call call) {
        call.result(0, 0);
        return 0;
    }
}
