package io.farheap.procedure.builtin;

import io.farheap.procedure.Call;

/**
 * Counts and sums up records of one length, stored one after the other, whose field is in a range. Arguments: at 0 the
 * first record's address, at 8 the number of records, at 16 their length, at 24 the field's offset in a record, at 32
 * and 40 the least and the greatest value that it may have, at 48 the value's offset. Field and value are words.
 * Result: at 0 the number of records whose field is in the range, then of their values at 8 the sum, at 16 the least
 * ({@code Long.MAX_VALUE} if there are none), at 24 the greatest ({@code Long.MIN_VALUE} if there are none). Code: 0.
 * Reads.
 */
public final class Aggregate {

    private Aggregate() {}

    public static int run(Call call) {
        long record = call.argument(0);
        long bytes = call.argument(16);
        long field = call.argument(24);
        long least = call.argument(32);
        long most = call.argument(40);
        long place = call.argument(48);
        long count = 0;
        long sum = 0;
        long smallest = Long.MAX_VALUE;
        long greatest = Long.MIN_VALUE;
        for (long left = call.argument(8); left > 0; left--) {
            long tested = call.getLong(record + field);
            if (tested >= least && tested <= most) {
                long value = call.getLong(record + place);
                count++;
                sum += value;
                smallest = Math.min(smallest, value);
                greatest = Math.max(greatest, value);
            }
            record += bytes;
        }
        call.result(0, count);
        call.result(8, sum);
        call.result(16, smallest);
        call.result(24, greatest);
        return 0;
    }
}
