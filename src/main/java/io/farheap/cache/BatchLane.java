package io.farheap.cache;

import io.farheap.rpc.BatchConnection;
import java.util.Arrays;

/**
 * A session's batches to one server: the connection, and the table of the requests in them, whose places are the
 * connection's entries.
 */
final class BatchLane extends RequestTable {

    final BatchConnection connection;
    final int server;
    /** Its failure has been dealt with. */
    boolean lost;
    /** For how many entries an entry stands, itself the first: of those behind it only the place is known. */
    final int[] group;

    BatchLane(BatchConnection connection, int server) {
        super(connection.entries());
        this.connection = connection;
        this.server = server;
        // What cannot be reached has taken nothing.
        this.lost = connection.failed();
        group = new int[connection.entries()];
        Arrays.fill(group, 1);
    }

    /**
     * As {@link #fill} for records of one length, chosen from {@code addresses}, whose entries follow one another and
     * end together.
     */
    void fillGroup(
            int entry,
            int records,
            boolean isWrite,
            long[] addresses,
            int[] which,
            int from,
            int bytes,
            Buffer of,
            long firstLocal,
            Completion whenDone,
            long itsToken) {
        fill(entry, isWrite, addresses[which[from]], bytes, of, firstLocal, whenDone, itsToken);
        for (int i = 1; i < records; i++) {
            address[entry + i] = addresses[which[from + i]];
            length[entry + i] = bytes;
        }
        group[entry] = records;
    }

    /** Whether a request whose effect is not certain yet overlaps a range. */
    boolean mayOverlap(long from, long bytes) {
        for (long sequence = connection.firstUnanswered(); sequence <= connection.lastBatch(); sequence++) {
            for (int entry = connection.firstEntry(sequence); entry < connection.endEntry(sequence); entry++) {
                if (overlaps(entry, from, bytes)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether a request that is not finished overlaps a range, and one of the two writes. */
    boolean conflicts(boolean isWrite, long from, long bytes) {
        for (long sequence = connection.firstUnfinished(); sequence <= connection.lastBatch(); sequence++) {
            int end = connection.endEntry(sequence);
            for (int first = connection.firstEntry(sequence); first < end; first += group[first]) {
                for (int entry = first; (isWrite || write[first]) && entry < first + group[first]; entry++) {
                    if (overlaps(entry, from, bytes)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /** Whether a request that is not finished goes beyond an address. */
    boolean reaches(long last) {
        for (long sequence = connection.firstUnfinished(); sequence <= connection.lastBatch(); sequence++) {
            for (int entry = connection.firstEntry(sequence); entry < connection.endEntry(sequence); entry++) {
                if (end(entry) > last) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether a request that is not finished uses a buffer. */
    boolean uses(Buffer candidate) {
        for (long sequence = connection.firstUnfinished(); sequence <= connection.lastBatch(); sequence++) {
            for (int entry = connection.firstEntry(sequence);
                    entry < connection.endEntry(sequence);
                    entry += group[entry]) {
                if (buffer[entry] == candidate) {
                    return true;
                }
            }
        }
        return false;
    }
}
