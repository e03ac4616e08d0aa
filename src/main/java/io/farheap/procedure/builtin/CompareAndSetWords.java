package io.farheap.procedure.builtin;

import io.farheap.procedure.Call;

/**
 * Sets up to 8 words of one region if all of them have their expected values ({@link Call#compareAndSetAll}).
 * Arguments: for each word its address, the expected value and the new value, three words of 8 bytes. No result. Code:
 * 1 if they were set, else 0. Writes.
 */
public final class CompareAndSetWords {

    private CompareAndSetWords() {}

    public static int run(Call call) {
        int words = call.argumentBytes() / 24;
        for (int at = 0; at < words * 24 && at < 8 * 24; at += 8) {
            call.scratch(at, call.argument(at));
        }
        return call.compareAndSetAll(0, words) ? 1 : 0;
    }
}
