package io.farheap.cache;

import io.farheap.connection.BatchConnection;

import java.lang.foreign.MemorySegment;

/**
 * A session's batches to one server: the connection, and what the session knows of each of its entries, as columns. One thread at a
 * time; nothing here allocates after construction.
 */
final class BatchLane {

    final BatchConnection connection;
    final int server;
    /** Its failure has been dealt with. */
    boolean lost;

    final Completion[] completion;
    final long[] token;
    /** Where in the cache. */
    final long[] address;
    final int[] length;
    final boolean[] write;
    /** The registered buffer and the address in it; null where a segment's bytes were copied into the batch, or will be copied out. */
    final Buffer[] buffer;
    final long[] local;
    /** Where a read goes that is not to a buffer. */
    final MemorySegment[] segment;
    /** How many requests an entry's latency stands for; 0 where it is not timed. */
    final int[] timed;
    final long[] issuedAt;

    BatchLane(BatchConnection connection, int server) {
        this.connection = connection;
        this.server = server;
        // What cannot be reached has taken nothing.
        this.lost = connection.failed();
        int entries = connection.entries();
        completion = new Completion[entries];
        token = new long[entries];
        address = new long[entries];
        length = new int[entries];
        write = new boolean[entries];
        buffer = new Buffer[entries];
        local = new long[entries];
        segment = new MemorySegment[entries];
        timed = new int[entries];
        issuedAt = new long[entries];
    }

    void fill(int entry, boolean isWrite, long at, int bytes, Buffer from, long localAddress, Completion whenDone, long itsToken) {
        write[entry] = isWrite;
        address[entry] = at;
        length[entry] = bytes;
        local[entry] = localAddress;
        token[entry] = itsToken;
        // Storing a reference is not free, and they seldom change.
        if (completion[entry] != whenDone) {
            completion[entry] = whenDone;
        }
        if (buffer[entry] != from) {
            buffer[entry] = from;
        }
    }

    /** Whether a request whose effect is not certain yet overlaps a range. */
    boolean overlaps(long from, long bytes) {
        for (long sequence = connection.firstUnanswered(); sequence <= connection.lastBatch(); sequence++) {
            for (int entry = connection.firstEntry(sequence); entry < connection.endEntry(sequence); entry++) {
                if (address[entry] < from + bytes && from < address[entry] + length[entry]) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether a request that is not finished uses a buffer. */
    boolean uses(Buffer candidate) {
        for (long sequence = connection.firstUnfinished(); sequence <= connection.lastBatch(); sequence++) {
            for (int entry = connection.firstEntry(sequence); entry < connection.endEntry(sequence); entry++) {
                if (buffer[entry] == candidate) {
                    return true;
                }
            }
        }
        return false;
    }
}
