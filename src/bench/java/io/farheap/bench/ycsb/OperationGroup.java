package io.farheap.bench.ycsb;

/** Operations that a thread hands over at once, so that their waiting times overlap. One thread. */
public final class OperationGroup {

    public static final int SIZE = 64;

    public static final byte READ = 0;
    /** A new value for an existing key. */
    public static final byte UPDATE = 1;
    /** A new key. */
    public static final byte INSERT = 2;
    /** Read-modify-write. */
    public static final byte MODIFY = 3;

    public final long[] keys = new long[SIZE];
    public final byte[] kinds = new byte[SIZE];
    /** Whether all operations of the group are reads. */
    boolean reads;

    /** The operation of which the latency is measured, or -1. */
    private int timed = -1;

    private long groups;

    /** Measures the latency of one operation, at another place in each group. */
    void time() {
        timed = (int) (groups++ % SIZE);
    }

    void timeNone() {
        timed = -1;
    }

    /** Whether the latency of this operation is measured. */
    public boolean timed(int operation) {
        return operation == timed;
    }

    public boolean readsOnly() {
        return reads;
    }
}
