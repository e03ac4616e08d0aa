package io.farheap.rpc.batch;

import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;

/**
 * State of calls at the client's end of message rings, beside their entries: the length of each reply, and the calls
 * that are answered later than their batch. One thread at a time; nothing here allocates after construction.
 */
public final class AwaitedReplies {

    /** Returned by {@link #takeArrived} if no late answer waits. */
    public static final int NONE = -1;

    /** By entry: the length of the reply. */
    final int[] bytes;
    /**
     * By entry of an answered batch: whether the call gets a late answer that was not taken yet. Until then the entry,
     * and the place of its late answer, are the call's own: later batches of the slot leave them out.
     */
    final boolean[] later;
    /** How many entries {@link #later} has, by slot and in all. */
    private final int[] heldBySlot;

    private final int batch;
    private int held;
    /** Entries and batch sequences of the calls whose late answers have not arrived, in no order. */
    private final int[] entries;

    private final long[] sequences;
    private int awaited;
    /** A ring of the entries whose late answers have arrived and have not been taken. */
    private final int[] arrived;

    private int arrivedFirst;
    private int arrivedCount;
    /** Messages of the server that were seen: answers to batches, and late answers to calls. */
    private long messages;

    AwaitedReplies(RingShape shape) {
        int most = shape.slots() * shape.batch();
        batch = shape.batch();
        heldBySlot = new int[shape.slots()];
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
        heldBySlot[entry / batch]++;
        held++;
        entries[awaited] = entry;
        sequences[awaited] = sequence;
        awaited++;
    }

    /** The length of the reply to a call that is done. */
    public int bytes(int entry) {
        return bytes[entry];
    }

    /** Whether a call of an answered batch gets a late answer that was not taken yet, whether or not it has arrived. */
    public boolean later(int entry) {
        return later[entry];
    }

    /** How many entries of a slot calls keep for their late answers. */
    int heldBySlot(int slot) {
        return heldBySlot[slot];
    }

    /** How many entries calls keep for their late answers. */
    int held() {
        return held;
    }

    /** How many calls of answered batches await a late answer. */
    public int awaited() {
        return awaited;
    }

    /** @param i index among the awaited calls */
    int entry(int i) {
        return entries[i];
    }

    long sequence(int i) {
        return sequences[i];
    }

    /** @param i index among the awaited calls; the last of them moves there */
    void arrive(int i) {
        arrived[(arrivedFirst + arrivedCount) % arrived.length] = entries[i];
        arrivedCount++;
        messages++;
        awaited--;
        entries[i] = entries[awaited];
        sequences[i] = sequences[awaited];
    }

    /** Whether {@link #takeArrived} would return an entry. */
    public boolean hasArrived() {
        return arrivedCount > 0;
    }

    /**
     * Takes an entry whose status was {@link BatchFormat#LATER} and now is final, or returns {@link #NONE}. Each entry
     * is returned once, and stays as it is until the next request is added.
     */
    public int takeArrived() {
        if (arrivedCount == 0) {
            return NONE;
        }
        int entry = arrived[arrivedFirst];
        arrivedFirst = (arrivedFirst + 1) % arrived.length;
        arrivedCount--;
        later[entry] = false;
        heldBySlot[entry / batch]--;
        held--;
        return entry;
    }
}
