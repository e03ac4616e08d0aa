package io.farheap.rpc.batch;

import io.farheap.rpc.RingShape;

/**
 * Which batches of a connection are sent, answered and finished: three counts, the first never below the second, nor
 * that below the third. The batch of a sequence is in the slot of its remainder, so what is sent and not finished is at
 * most a ring of slots. The open batch is the next to be sent. One thread at a time; {@link #allAnswered} and
 * {@link #answered(long)} others too.
 */
final class BatchWindow {

    private final int queueDepth;
    private final int batch;
    private final int slots;
    private final BatchEntries entries;

    /** Batches up to these have been sent, answered, finished. */
    private long sent;

    private long answered;
    private long finished;
    /** Of those sent and not finished, how many have no request and only ask for a wake-up. */
    private int empty;

    private int answerSlot;
    private int headSlot;
    private int headIndex;

    /** By slot: requests of the batch, and whether all of them succeeded. */
    private final int[] counts;

    private final boolean[] succeeded;

    BatchWindow(RingShape shape, BatchEntries entries) {
        this.entries = entries;
        queueDepth = shape.queueDepth();
        batch = shape.batch();
        slots = shape.slots();
        counts = new int[slots];
        succeeded = new boolean[slots];
        answerSlot = slot(1);
        headSlot = slot(1);
    }

    private int slot(long sequence) {
        return (int) (sequence % slots);
    }

    private int next(int slot) {
        return slot + 1 == slots ? 0 : slot + 1;
    }

    /** How many batches there is room for, beside one that asks for a wake-up: such a one keeps no request out. */
    int free() {
        int unfinished = (int) (sent - finished);
        return Math.min(queueDepth - (unfinished - empty), slots - 1 - unfinished);
    }

    /** Whether so many unfinished batches leave no place at all, not even for one without requests. */
    boolean isFull() {
        return sent - finished >= slots;
    }

    long sent() {
        return sent;
    }

    /** The slot of the open batch. */
    int openSlot() {
        return slot(sent + 1);
    }

    /** The open batch, of so many requests, is sent. */
    void send(int count) {
        counts[openSlot()] = count;
        if (count == 0) {
            empty++;
        }
        sent++;
    }

    /** Whether the last batch sent was one that only asks for a wake-up; also where none has been sent. */
    boolean lastIsEmpty() {
        return counts[slot(sent)] == 0;
    }

    /** Batches sent and not answered. */
    int unanswered() {
        return (int) (sent - answered);
    }

    boolean allAnswered() {
        return answered == sent;
    }

    /** Whether batches up to this one are answered. */
    boolean answered(long sequence) {
        return answered >= sequence;
    }

    /** The oldest batch that is not answered, sent or not. */
    long firstUnanswered() {
        return answered + 1;
    }

    int answerSlot() {
        return answerSlot;
    }

    /** Requests of the oldest batch that is not answered. */
    int answerCount() {
        return counts[answerSlot];
    }

    /**
     * The oldest batch that is not answered is.
     *
     * @param all whether all of its requests succeeded
     */
    void answer(boolean all) {
        succeeded[answerSlot] = all;
        answered++;
        answerSlot = next(answerSlot);
    }

    /** The oldest batch that is not answered will not be. */
    void lose() {
        entries.lose(answerSlot * batch, answerCount());
        answer(false);
    }

    /** How many entries, from {@link #head} on, are answered and to be finished, within one batch. */
    int ready() {
        return finished < answered ? counts[headSlot] - headIndex : 0;
    }

    /** The oldest entry that is not finished. */
    int head() {
        return headSlot * batch + headIndex;
    }

    /** Whether all requests of the head's batch succeeded. */
    boolean succeeded() {
        return succeeded[headSlot];
    }

    boolean allFinished() {
        return finished == sent;
    }

    long firstUnfinished() {
        return finished + 1;
    }

    /** The first entry of a batch that is not finished yet. */
    int firstEntry(long sequence) {
        return slot(sequence) * batch + (sequence == finished + 1 ? headIndex : 0);
    }

    /**
     * The end of a batch's entries.
     *
     * @param open how many requests the open batch has
     */
    int endEntry(long sequence, int open) {
        int slot = slot(sequence);
        return slot * batch + (sequence > sent ? open : counts[slot]);
    }

    /**
     * So many entries from the head on, all of its batch, are finished.
     *
     * @return whether that finished a batch
     */
    boolean finish(int entries) {
        headIndex += entries;
        if (headIndex != counts[headSlot]) {
            return false;
        }
        nextHead();
        finishEmpty();
        return true;
    }

    /** Batches that asked for a wake-up have nobody who finishes them. */
    void finishEmpty() {
        while (finished < answered && counts[headSlot] == 0) {
            empty--;
            nextHead();
        }
    }

    private void nextHead() {
        headIndex = 0;
        headSlot = next(headSlot);
        finished++;
    }
}
