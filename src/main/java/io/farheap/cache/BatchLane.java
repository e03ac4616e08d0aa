package io.farheap.cache;

import io.farheap.rpc.BatchConnection;
import java.util.Arrays;

/**
 * A session's batches to one server: the connection, and the requests in them, whose places are the connection's
 * entries.
 */
final class BatchLane {

    final BatchConnection connection;
    final int server;
    /** Its failure has been dealt with. */
    boolean lost;
    /**
     * For how many entries an entry stands, itself the first: those behind it are as the first is, but for the address,
     * and their own requests are not used.
     */
    final int[] group;

    private final Request[] requests;
    /** Of each entry; negative where there has been none. */
    private final long[] addresses;

    BatchLane(BatchConnection connection, int server) {
        this.connection = connection;
        this.server = server;
        // What cannot be reached has taken nothing.
        this.lost = connection.failed();
        int entries = connection.entries();
        this.group = new int[entries];
        Arrays.fill(group, 1);
        this.requests = Request.make(entries);
        this.addresses = new long[entries];
        Arrays.fill(addresses, -1);
    }

    Request get(int entry) {
        return requests[entry];
    }

    /** The request that an entry stands for by itself. */
    Request begin(int entry, long address) {
        addresses[entry] = address;
        if (group[entry] != 1) {
            group[entry] = 1;
        }
        return requests[entry];
    }

    /** The request of records chosen from {@code from}, whose entries follow one another and end together. */
    Request beginGroup(int entry, int records, long[] from, int[] which, int first) {
        for (int i = 0; i < records; i++) {
            addresses[entry + i] = from[which[first + i]];
        }
        group[entry] = records;
        return requests[entry];
    }

    /** Whether a request whose effect is not certain yet overlaps a range. */
    boolean mayOverlap(long address, long length) {
        for (long sequence = connection.firstUnanswered(); sequence <= connection.lastBatch(); sequence++) {
            if (overlaps(sequence, true, address, length)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a request that is not finished overlaps a range, and one of the two writes. */
    boolean conflicts(boolean write, long address, long length) {
        for (long sequence = connection.firstUnfinished(); sequence <= connection.lastBatch(); sequence++) {
            if (overlaps(sequence, write, address, length)) {
                return true;
            }
        }
        return false;
    }

    /** Whether one of a batch overlaps a range: one that writes, or any. */
    private boolean overlaps(long sequence, boolean readsToo, long address, long length) {
        int end = connection.endEntry(sequence);
        for (int first = connection.firstEntry(sequence); first < end; first += group[first]) {
            Request request = requests[first];
            if (!readsToo && !request.write) {
                continue;
            }
            for (int entry = first; entry < first + group[first]; entry++) {
                if (addresses[entry] < address + length && address < addresses[entry] + request.length) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether a request that is not finished goes beyond an address. */
    boolean reaches(long last) {
        for (long sequence = connection.firstUnfinished(); sequence <= connection.lastBatch(); sequence++) {
            int end = connection.endEntry(sequence);
            for (int first = connection.firstEntry(sequence); first < end; first += group[first]) {
                for (int entry = first; entry < first + group[first]; entry++) {
                    if (addresses[entry] + requests[first].length > last) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /** Whether a request that is not finished uses a buffer. */
    boolean uses(RequestBuffer candidate) {
        for (long sequence = connection.firstUnfinished(); sequence <= connection.lastBatch(); sequence++) {
            int end = connection.endEntry(sequence);
            for (int entry = connection.firstEntry(sequence); entry < end; entry += group[entry]) {
                if (requests[entry].buffer == candidate) {
                    return true;
                }
            }
        }
        return false;
    }

    void sample(RegionHeat heat) {
        heat.add(requests, addresses);
    }
}
