package io.farheap.cache;

import io.farheap.rpc.BatchConnection;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

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
    /** For how many entries an entry stands, itself the first: of those behind it only the place is known. */
    final int[] group;

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
        group = new int[entries];
        Arrays.fill(group, 1);
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

    /** As {@link #fill} for records of one length, chosen from {@code addresses}, whose entries follow one another and end together. */
    void fill(int entry, int records, boolean isWrite, long[] addresses, int[] which, int from, int bytes, Buffer of, long firstLocal,
              Completion whenDone, long itsToken) {
        for (int i = 0; i < records; i++) {
            address[entry + i] = addresses[which[from + i]];
            length[entry + i] = bytes;
        }
        group[entry] = records;
        write[entry] = isWrite;
        local[entry] = firstLocal;
        token[entry] = itsToken;
        completion[entry] = whenDone;
        buffer[entry] = of;
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
            for (int entry = connection.firstEntry(sequence); entry < connection.endEntry(sequence); entry += group[entry]) {
                if (buffer[entry] == candidate) {
                    return true;
                }
            }
        }
        return false;
    }
}
