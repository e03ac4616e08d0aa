package io.farheap.bench.peers;

/**
 * The means of a peer: two rows are a fair comparison only if these are alike.
 *
 * @param local whether this process's memory, or the page cache, has the value
 * @param inFlight operations that are under way at a time
 * @param threads that begin them
 * @param group operations that a thread hands over at once
 */
public record PeerMeans(boolean local, int inFlight, int threads, int group) {

    /** One operation after another, on a value that another process or a disk has. */
    static final PeerMeans REMOTE = new PeerMeans(false, 1, 1, 1);
    /** The same on a value that is local. */
    static final PeerMeans LOCAL = new PeerMeans(true, 1, 1, 1);

    /** Returns the bytes of local memory for a value. */
    public long bytesLocal(int bytes) {
        return local ? bytes : 0;
    }

    /** Whether it can be compared with one operation after another. */
    boolean single() {
        return inFlight == 1 && threads == 1 && group == 1;
    }
}
