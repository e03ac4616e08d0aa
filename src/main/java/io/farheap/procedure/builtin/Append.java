package io.farheap.procedure.builtin;

import io.farheap.procedure.Call;

/**
 * Appends a record to a log. Arguments: at 0 the log's address, a multiple of 8, and from 8 on the record, at most 4072
 * bytes. A log consists of the number of bytes that are taken, the number of bytes that it has, and these bytes, which
 * are 0 at first; it is in one region. A record is a word, its length plus 1, and its bytes, padded to 8. The word is
 * stored last, so a reader that finds 0 there knows that the record is not complete yet. Result: the offset of the
 * record from the first of the log's bytes. Code: 1, or 0 if the log has no room for it, or it is too long. Writes.
 */
public final class Append {

    private static final int MOST_BYTES = 4072;

    private Append() {}

    public static int run(Call call) {
        long log = call.argument(0);
        int bytes = call.argumentBytes() - 8;
        if (bytes < 0 || bytes > MOST_BYTES) {
            return 0;
        }
        int padded = bytes + 7 & -8;
        for (int at = 0; at < padded; at += 8) {
            call.scratch(at, word(call, at, bytes));
        }
        long taken = call.getLong(log);
        long room = call.getLong(log + 8);
        while (taken + 8 + padded <= room) {
            if (call.compareAndSet(log, taken, taken + 8 + padded)) {
                call.copyFromScratch(0, log + 16 + taken + 8, padded);
                // An atomic add, so that no processor sees the word before the record's bytes.
                call.getAndAdd(log + 16 + taken, bytes + 1);
                call.result(0, taken);
                return 1;
            }
            taken = call.getLong(log);
        }
        return 0;
    }

    /** The 8 bytes of the record at this offset, with zeros after its end. */
    private static long word(Call call, int at, int bytes) {
        if (at + 8 <= bytes) {
            return call.argument(8 + at);
        }
        long word = 0;
        for (int i = bytes - 1; i >= at; i--) {
            word = word << 8 | call.argumentByte(8 + i) & 0xff;
        }
        return word;
    }
}
