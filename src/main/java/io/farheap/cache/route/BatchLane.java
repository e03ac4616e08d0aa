package io.farheap.cache.route;

import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.Request;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.rpc.batch.BatchConnection;
import java.util.Arrays;

/**
 * A session's batches to one server: the connection, and the requests in its batches. A request's place is its entry of
 * the connection.
 */
public final class BatchLane {

    public final BatchConnection connection;
    public final int server;
    /** Whether its failure has been handled. */
    public boolean lost;
    /**
     * The number of entries that an entry's request stands for, including itself: the entries behind it have the same
     * request but for the address, and their own request objects are not used.
     */
    public final int[] group;

    private final Request[] requests;
    /** The address of each entry; negative before its first request. */
    private final long[] addresses;

    public BatchLane(BatchConnection connection, int server) {
        this.connection = connection;
        this.server = server;
        // A server that cannot be reached has received nothing, so there is nothing to handle.
        this.lost = connection.failed();
        int entries = connection.entries();
        this.group = new int[entries];
        Arrays.fill(group, 1);
        this.requests = Request.make(entries);
        this.addresses = new long[entries];
        Arrays.fill(addresses, -1);
    }

    public Request get(int entry) {
        return requests[entry];
    }

    /** Begins a request of one entry. */
    public Request begin(int entry, long address) {
        addresses[entry] = address;
        if (group[entry] != 1) {
            group[entry] = 1;
        }
        return requests[entry];
    }

    /**
     * Begins a request for records at addresses chosen from {@code from}; their entries follow one another and end
     * together.
     */
    public Request beginGroup(int entry, int records, long[] from, int[] which, int first) {
        for (int i = 0; i < records; i++) {
            addresses[entry + i] = from[which[first + i]];
        }
        group[entry] = records;
        return requests[entry];
    }

    /** Whether a request whose batch has not been answered yet overlaps a range. */
    public boolean mayOverlap(long address, long length) {
        for (long sequence = connection.firstUnanswered(); sequence <= connection.lastBatch(); sequence++) {
            if (overlaps(sequence, true, address, length)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a request that is not finished overlaps a range, and one of the two writes. */
    public boolean conflicts(boolean write, long address, long length) {
        for (long sequence = connection.firstUnfinished(); sequence <= connection.lastBatch(); sequence++) {
            if (overlaps(sequence, write, address, length)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a request of a batch overlaps a range: a write, or also a read. */
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

    /** Whether a request that is not finished extends beyond an address. */
    public boolean reaches(long last) {
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
    public boolean uses(RequestBuffer candidate) {
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

    public void sample(RegionHeat heat) {
        heat.add(requests, addresses);
    }
}
