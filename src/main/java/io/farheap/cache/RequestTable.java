package io.farheap.cache;

import io.farheap.latency.OperationLatency;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What a request is, from issue to callback, as columns: wherever requests wait, they have places in such a table. One
 * thread at a time, or two that hand places to each other; nothing here allocates after construction.
 */
class RequestTable {

    final boolean[] write;
    /** Where in the cache, and how long. */
    final long[] address;

    final long[] length;
    /** The registered buffer and the address in it; no buffer where data come from a segment, or go to one. */
    final @Nullable Buffer[] buffer;

    final long[] local;
    /** Instead of a buffer. */
    final @Nullable MemorySegment[] segment;

    final Completion[] completion;
    final long[] token;
    /** How many requests its time stands for; 0 where it is not timed. */
    final int[] timed;

    final long[] issuedAt;

    RequestTable(int places) {
        write = new boolean[places];
        address = new long[places];
        length = new long[places];
        buffer = new Buffer[places];
        local = new long[places];
        segment = new MemorySegment[places];
        completion = new Completion[places];
        token = new long[places];
        timed = new int[places];
        issuedAt = new long[places];
    }

    final void fill(
            int place,
            boolean isWrite,
            long at,
            long bytes,
            @Nullable Buffer from,
            long localAddress,
            Completion whenDone,
            long itsToken) {
        write[place] = isWrite;
        address[place] = at;
        length[place] = bytes;
        local[place] = localAddress;
        token[place] = itsToken;
        // Storing a reference is not free, and they seldom change; so they stay when the request has ended.
        if (completion[place] != whenDone) {
            completion[place] = whenDone;
        }
        if (buffer[place] != from) {
            buffer[place] = from;
        }
    }

    /** @param due how many requests its time stands for; 0 where it is not to be timed */
    final void time(int place, int due) {
        timed[place] = due;
        if (due > 0) {
            issuedAt[place] = System.nanoTime();
        }
    }

    /** Records the latency of a request that has ended, if it is timed. */
    final void record(int place, OperationLatency latency) {
        if (timed[place] > 0) {
            record(latency, write[place], System.nanoTime() - issuedAt[place], timed[place]);
        }
    }

    // What is timed has where to record it.
    @SuppressWarnings("NullAway")
    static void record(@Nullable OperationLatency latency, boolean write, long nanos, int timed) {
        if (write) {
            latency.write(nanos, timed);
        } else {
            latency.read(nanos, timed);
        }
    }

    /** Where it ends in the cache, exclusive. */
    final long end(int place) {
        return address[place] + length[place];
    }

    final boolean overlaps(int place, long otherAddress, long otherLength) {
        return address[place] < otherAddress + otherLength && otherAddress < address[place] + length[place];
    }
}
