package io.farheap.rpc.batch;

import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;

/**
 * What the client's end of message rings knows of calls beside their entries: how long their replies are, and which are
 * answered later than their batch. One thread at a time; nothing here allocates later.
 */
public final class AwaitedReplies {

    /** No entry. */
    public static final int NONE = -1;

    /** By entry: how long the reply is. */
    final int[] bytes;
    /** By entry of an answered batch: whether it is answered by itself. */
    final boolean[] later;
    /** Calls that are answered later, in no order. */
    private final int[] entries;

    private final long[] sequences;
    private int awaited;
    /** Those whose answers have come and have not been taken: a ring. */
    private final int[] arrived;

    private int arrivedFirst;
    private int arrivedCount;
    /** How many messages of the server's have been seen: answers to batches, and to calls later. */
    private long messages;

    AwaitedReplies(RingShape shape) {
        int most = shape.slots() * shape.batch();
        bytes = new int[most];
        later = new boolean[most];
        entries = new int[most];
        sequences = new long[most];
        arrived = new int[most];
    }

    void seen() {
        messages++;
    }

    long messages() {
        return messages;
    }

    void await(int entry, long sequence) {
        later[entry] = true;
        entries[awaited] = entry;
        sequences[awaited] = sequence;
        awaited++;
    }

    /** How long the reply to a call is that is done. */
    public int bytes(int entry) {
        return bytes[entry];
    }

    /** Whether an entry of an answered batch is answered by itself, whether or not that has come. */
    public boolean later(int entry) {
        return later[entry];
    }

    /** Calls whose batches are answered and that are not. */
    public int awaited() {
        return awaited;
    }

    /** @param i of those awaited */
    int entry(int i) {
        return entries[i];
    }

    long sequence(int i) {
        return sequences[i];
    }

    /** @param i of those awaited; the last takes its place */
    void arrive(int i) {
        arrived[(arrivedFirst + arrivedCount) % arrived.length] = entries[i];
        arrivedCount++;
        messages++;
        awaited--;
        entries[i] = entries[awaited];
        sequences[i] = sequences[awaited];
    }

    /** Whether {@link #takeArrived} has one. */
    public boolean hasArrived() {
        return arrivedCount > 0;
    }

    /**
     * An entry that had the status {@link BatchFormat#LATER} and has its own now; {@link #NONE} where there is none.
     * Each once, before its batch is finished.
     */
    public int takeArrived() {
        if (arrivedCount == 0) {
            return NONE;
        }
        int entry = arrived[arrivedFirst];
        arrivedFirst = (arrivedFirst + 1) % arrived.length;
        arrivedCount--;
        return entry;
    }
}
