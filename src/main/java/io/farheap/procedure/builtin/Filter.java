package io.farheap.procedure.builtin;

import io.farheap.procedure.Call;

/**
 * Brings records of one length, one behind the other, whose field is in a range. Arguments: at 0 the first record's
 * address, at 8 their number, at 16 their length (1 to 4096), at 24 where in a record the field, a word, is, at 32 and
 * 40 the least and the greatest that it may be. Result: at 0 how many records were looked at, then, from 8 on, those
 * that fit, one behind the other. Code: how many fit. Where fewer were looked at than there are, the result was full:
 * call again from there. A record that is in two regions ends it, as any such access does. Reads.
 */
public final class Filter {

    private Filter() {}

    public static int run(Call call) {
        long record = call.argument(0);
        long number = call.argument(8);
        int bytes = (int) call.argument(16);
        long field = call.argument(24);
        long least = call.argument(32);
        long most = call.argument(40);
        int found = 0;
        int at = 8;
        long looked = 0;
        while (looked < number) {
            long tested = call.getLong(record + field);
            if (tested >= least && tested <= most) {
                if (at > call.resultCapacity() - bytes) {
                    break;
                }
                call.copyToScratch(record, 0, bytes);
                call.resultFromScratch(0, at, bytes);
                at += bytes;
                found++;
            }
            record += bytes;
            looked++;
        }
        call.result(0, looked);
        return found;
    }
}
