package io.farheap.soak;

import io.farheap.procedure.Call;

/** A procedure: adds 1 to the word at its argument, by comparing and setting until nobody else was faster. */
final class IncrementProcedure {

    private IncrementProcedure() {}

    public static int run(Call call) {
        long word = call.argument(0);
        long found = call.getLong(word);
        while (!call.compareAndSet(word, found, found + 1)) {
            found = call.getLong(word);
        }
        call.result(0, found);
        return 1;
    }
}
