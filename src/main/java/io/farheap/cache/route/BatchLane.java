package io.farheap.cache.route;

import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.Request;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.ServerRing;
import io.farheap.rpc.batch.BatchConnection;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A session's batches to one server: the connection, and the requests in its batches. A request's place is its entry of
 * the connection.
 */
public final class BatchLane {

    /** The server, and both ends of the connection. */
    public final RemoteServer remote;

    public final ServerRing end;
    public final BatchConnection connection;
    public final int server;
    /** Whether its failure has been handled. */
    public boolean lost;
    /**
     * The number of entries that an entry's request stands for, including itself: the entries behind it have the same
     * request but for the address, and their own request objects are not used.
     */
    public final int[] group;

    /** By entry: the place of the request that has taken this one's place; -1 for none. Null until some have. */
    private int @Nullable [] moved;
    /** While all entries are looked at in turn: the next one, and its batch. */
    private long nextBatch;

    private int nextEntry;

    private final Request[] requests;
    /** The address of each entry; negative before its first request. */
    private final long[] addresses;

    public BatchLane(RemoteServer remote, ServerRing end) {
        this.remote = remote;
        this.end = end;
        this.connection = end.connection();
        this.server = remote.index();
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

    /** The address of an entry. */
    public long address(int entry) {
        return addresses[entry];
    }

    /** The next {@link #next} returns the oldest entry that is not finished. */
    public void rewind() {
        nextBatch = connection.firstUnfinished();
        nextEntry = connection.firstEntry(nextBatch);
    }

    /** The next entry, without those that stand for it in its group. There must be one. */
    public int next() {
        while (nextEntry == connection.endEntry(nextBatch)) {
            nextBatch++;
            nextEntry = connection.firstEntry(nextBatch);
        }
        int entry = nextEntry;
        nextEntry += group[entry];
        return entry;
    }

    /** Whether the connection failed before the entry that {@link #next} returned last was answered. */
    public boolean failed(int entry) {
        if (connection.succeeded(nextBatch)) {
            return false;
        }
        byte status = connection.status(entry);
        return status == BatchConnection.LOST || status == BatchConnection.UNSENT;
    }

    /** Another request has taken the place of an entry's. */
    public void move(int entry, int place) {
        if (moved == null) {
            moved = new int[addresses.length];
            Arrays.fill(moved, -1);
        }
        moved[entry] = place;
    }

    /** The place of the request that has taken the place of an entry's; -1 for none. */
    public int moved(int entry) {
        return moved == null ? -1 : moved[entry];
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
