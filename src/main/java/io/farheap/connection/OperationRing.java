package io.farheap.connection;

import java.util.function.IntPredicate;

/**
 * A connection's operations between post and completion. They complete in the order of posting: those before
 * {@link #completed} have been taken, those from there to {@link #posted} are in flight or wait in the list. Each has a
 * slot and a tag. One thread at a time; nothing here allocates after construction.
 */
public final class OperationRing {

    private final int depth;
    /** The number of slots, a power of two, minus 1; operation n has slot {@code n & mask}. */
    private final int mask;

    private final long[] tags;
    private long posted;
    private long completed;
    /** The first operation that the device refused. */
    private long refused = Long.MAX_VALUE;

    /** @param depth the most operations at once */
    OperationRing(int depth) {
        this.depth = depth;
        int slots = Integer.highestOneBit(depth) == depth ? depth : Integer.highestOneBit(depth) * 2;
        this.mask = slots - 1;
        this.tags = new long[slots];
    }

    int slots() {
        return mask + 1;
    }

    int slot(long operation) {
        return (int) operation & mask;
    }

    /** The number of the next operation, from 0. */
    long posted() {
        return posted;
    }

    /** The slot of the next operation. */
    int nextSlot() {
        return (int) posted & mask;
    }

    /** The number of the first operation that has not been taken. */
    long completed() {
        return completed;
    }

    /** Begins an operation in the slot that {@link #nextSlot} returned; there must be room. */
    void begin(long tag) {
        tags[(int) posted & mask] = tag;
        posted++;
    }

    int room() {
        return depth - (int) (posted - completed);
    }

    boolean hasRoom() {
        return posted - completed < depth;
    }

    int inFlight() {
        return (int) (posted - completed);
    }

    /**
     * How many operations the completion of the operation in a slot ends, that operation included; 0 if it is not in
     * flight.
     */
    int endedBy(int slot) {
        int ended = (slot - (int) completed & mask) + 1;
        return ended <= posted - completed ? ended : 0;
    }

    /** Whether the completion with an id ends exactly one operation, the first one in flight. */
    public boolean endsFirst(long id) {
        return (int) id == ((int) completed & mask) && completed != posted;
    }

    /**
     * Takes the first operation: one that a successful completion {@linkplain #endsFirst ends}, or the next of
     * {@link #refused}.
     *
     * @return its tag
     */
    public long takeFirst() {
        return tags[(int) completed++ & mask];
    }

    /** The slot of the first operation. */
    int firstSlot() {
        return (int) completed & mask;
    }

    /** The tag of the first operation. */
    long firstTag() {
        return tags[(int) completed & mask];
    }

    /**
     * Takes the first operations as long as they have one tag, at most {@code most}.
     *
     * @return how many were taken
     */
    int takeSame(long tag, int most) {
        int same = 0;
        while (same < most && tags[(int) (completed + same) & mask] == tag) {
            same++;
        }
        completed += same;
        return same;
    }

    /** Notes that the device refused the operation in a slot and those behind it: they get no completion. */
    void refuseFrom(int slot) {
        refused = completed + (slot - (int) completed & mask);
    }

    /** Notes that the last {@code count} operations get no completion. */
    void refuseLast(int count) {
        refused = Math.min(refused, posted - count);
    }

    /**
     * How many operations get no completion, once all before them have been taken; 0 until then. Take each by
     * {@link #takeFirst}.
     */
    public int refused() {
        return completed >= refused ? (int) (posted - completed) : 0;
    }

    /** Whether a completion is still to arrive. */
    boolean awaitsCompletion() {
        return Math.min(posted, refused) != completed;
    }

    /** The slot of the last operation that gets a completion. There must be one. */
    int lastSlot() {
        return (int) (Math.min(posted, refused) - 1) & mask;
    }

    /**
     * The number of the operation behind the last one whose slot {@code known} accepts; the first operation's if it
     * accepts none.
     */
    long firstBehind(IntPredicate known) {
        long first = completed;
        for (long n = completed; n < posted; n++) {
            if (known.test((int) n & mask)) {
                first = n + 1;
            }
        }
        return first;
    }

    /** Whether {@code wanted} accepts the slot of an operation that has not been taken. */
    boolean any(IntPredicate wanted) {
        return anyFrom(completed, wanted);
    }

    /** As {@link #any}, for the operations from a number on. */
    boolean anyFrom(long first, IntPredicate wanted) {
        for (long n = first; n < posted; n++) {
            if (wanted.test((int) n & mask)) {
                return true;
            }
        }
        return false;
    }
}
