package io.farheap.bench.ycsb;

/** Operations that a thread hands over at once, so that what they wait for overlaps. One thread. */
public final class OperationGroup {

    public static final int SIZE = 64;

    public static final byte READ = 0;
    /** A new value for a key that is there. */
    public static final byte UPDATE = 1;
    /** A new key. */
    public static final byte INSERT = 2;
    /** Read-modify-write. */
    public static final byte MODIFY = 3;

    public final long[] keys = new long[SIZE];
    public final byte[] kinds = new byte[SIZE];
    /** Whether all of them read. */
    boolean reads;

    /** The one whose latency is taken, or -1. */
    private int timed = -1;

    private long groups;

    /** Takes the latency of one, which has another place in each group. */
    void time() {
        timed = (int) (groups++ % SIZE);
    }

    void timeNone() {
        timed = -1;
    }

    /** Whether this operation's latency is to be taken. */
    public boolean timed(int operation) {
        return operation == timed;
    }

    public boolean readsOnly() {
        return reads;
    }
}
