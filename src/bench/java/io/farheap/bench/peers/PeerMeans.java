package io.farheap.bench.peers;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.SideSetup;

/**
 * The means of a peer: two rows are a fair comparison only if these are alike.
 *
 * @param local whether this process's memory, or the page cache, has the value
 * @param cores that the peer keeps busy, in all of its processes
 * @param inFlight operations that are under way at a time
 * @param threads that begin them
 * @param group operations that a thread hands over at once
 */
public record PeerMeans(boolean local, int cores, int inFlight, int threads, int group) {

    /** The cores of a client's thread and of a server's. */
    static final int CLIENT_AND_SERVER = 2;

    /** Returns the means of one operation after another, by one thread. */
    static PeerMeans single(boolean local, int cores) {
        return new PeerMeans(local, cores, 1, 1, 1);
    }

    /** Returns the bytes of local memory for a value. */
    public long bytesLocal(int bytes) {
        return local ? bytes : 0;
    }

    /** Puts the means into a row about values of that size. */
    public BenchReport.Row put(BenchReport.Row row, int bytes) {
        return new SideSetup(bytesLocal(bytes), cores, inFlight, group).put(row);
    }

    /** Whether it can be compared with one operation after another. */
    boolean single() {
        return inFlight == 1 && threads == 1 && group == 1;
    }
}
