package io.farheap.procedure.builtin;

import io.farheap.procedure.Call;

/**
 * Returns records of one length, stored one after the other, whose field is in a range. Arguments: at 0 the first
 * record's address, at 8 the number of records, at 16 their length, at 24 the offset of the field, a word, in a record,
 * at 32 and 40 the least and the greatest value that it may have. A record and 8 bytes must fit into the caller's room
 * for the result, so it has 1 to 4088 bytes: each call stops before a longer one that matches. Result: at 0 the number
 * of records that were examined, then, from 8 on, those that match, one after the other. Code: how many are in the
 * result. If fewer were examined than there are, the result was full: call again from there. A record that is in two
 * regions ends the call, as any such access does. Reads.
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
