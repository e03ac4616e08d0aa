package io.farheap.rpc.batch;

import io.farheap.rpc.RingShape;

/**
 * Which batches of a connection are sent, answered and finished: three counts, with sent &ge; answered &ge; finished. A
 * batch's slot is its sequence modulo the number of slots, so at most that many batches are sent and not finished. The
 * open batch is the next to be sent. One thread at a time, except for {@link #allAnswered} and {@link #answered(long)},
 * which any thread may call.
 */
final class BatchWindow {

    private final int queueDepth;
    private final int batch;
    private final int slots;
    private final BatchEntries entries;

    /** The sequence of the last batch that was sent, answered, finished. */
    private long sent;

    private long answered;
    private long finished;
    /** How many of the batches that are sent and not finished are empty, as they only ask for a wake-up. */
    private int empty;

    private int answerSlot;
    private int headSlot;
    private int headIndex;

    /** By slot: the number of requests in the batch, and whether all of them succeeded. */
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

    /** How many batches with requests may be sent; one empty batch that asks for a wake-up takes no place of these. */
    int free() {
        int unfinished = (int) (sent - finished);
        return Math.min(queueDepth - (unfinished - empty), freeSlots());
    }

    /** How many slots batches with requests may use, that of the open batch included. */
    int freeSlots() {
        return slots - 1 - (int) (sent - finished);
    }

    /** How many empty batches are sent and not finished. */
    int empty() {
        return empty;
    }

    /** Whether the unfinished batches leave no slot at all, not even for an empty batch. */
    boolean isFull() {
        return sent - finished >= slots;
    }

    long sent() {
        return sent;
    }

    /** The slot of the open batch. */
    int openSlot() {
        return openSlot(0);
    }

    /** The slot of the batch that is opened after so many others, the present one included. */
    int openSlot(int others) {
        return slot(sent + 1 + others);
    }

    /** Counts the open batch, with so many requests, as sent. */
    void send(int count) {
        counts[openSlot()] = count;
        if (count == 0) {
            empty++;
        }
        sent++;
    }

    /** Whether the last batch sent was empty and only asked for a wake-up; true also if none has been sent. */
    boolean lastIsEmpty() {
        return counts[slot(sent)] == 0;
    }

    /** How many batches are sent and not answered. */
    int unanswered() {
        return (int) (sent - answered);
    }

    boolean allAnswered() {
        return answered == sent;
    }

    /** Whether all batches up to this sequence are answered. */
    boolean answered(long sequence) {
        return answered >= sequence;
    }

    /** The oldest batch that is not answered, whether it has been sent or not. */
    long firstUnanswered() {
        return answered + 1;
    }

    int answerSlot() {
        return answerSlot;
    }

    /** How many requests the oldest unanswered batch has. */
    int answerCount() {
        return counts[answerSlot];
    }

    /**
     * Counts the oldest unanswered batch as answered.
     *
     * @param all whether all of its requests succeeded
     */
    void answer(boolean all) {
        succeeded[answerSlot] = all;
        answered++;
        answerSlot = next(answerSlot);
    }

    /**
     * Ends the oldest unanswered batch without an answer.
     *
     * @param status of its entries
     */
    void lose(byte status) {
        entries.lose(answerSlot * batch, answerCount(), status);
        answer(false);
    }

    /** How many entries from {@link #head} on are answered and can be finished, within one batch. */
    int ready() {
        return finished < answered ? counts[headSlot] - headIndex : 0;
    }

    /** The oldest entry that is not finished. */
    int head() {
        return headSlot * batch + headIndex;
    }

    /** Whether all requests of the batch at the head succeeded. */
    boolean succeeded() {
        return succeeded[headSlot];
    }

    /** Whether all requests of an unfinished batch succeeded. */
    boolean succeeded(long sequence) {
        return succeeded[slot(sequence)];
    }

    boolean allFinished() {
        return finished == sent;
    }

    long firstUnfinished() {
        return finished + 1;
    }

    /** The first entry of an unfinished batch. */
    int firstEntry(long sequence) {
        return slot(sequence) * batch + (sequence == finished + 1 ? headIndex : 0);
    }

    /**
     * The index behind a batch's last entry.
     *
     * @param open how many requests the open batch has
     */
    int endEntry(long sequence, int open) {
        int slot = slot(sequence);
        return slot * batch + (sequence > sent ? open : counts[slot]);
    }

    /**
     * Finishes so many entries from the head on, all of its batch.
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

    /** Finishes answered empty batches, which have no entry that the caller could finish. */
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
