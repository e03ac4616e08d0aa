package io.farheap.kv.operation;

import io.farheap.kv.contract.MapException;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The versions that a session gives to its objects: a number that no other session of the map has ever had, above a
 * count of the session's sets. Neither carries into the other, and no version returns: when the count is at its end,
 * the session continues with another number. It asks for that one, on a thread of its own, long before.
 *
 * <pre>
 * bits  0..27  count, from 1
 *      28..63  number, from 1
 * </pre>
 *
 * <p>One thread at a time.
 */
public final class VersionNumbers {

    /** No version: the session has used all versions of its number, and has no other number yet. */
    static final long NONE = 0;

    private static final int COUNT_BITS = 28;
    private static final long MOST_COUNT = (1L << COUNT_BITS) - 1;
    /** The last number of a map. */
    public static final long MOST_NUMBER = (1L << Long.SIZE - COUNT_BITS) - 1;

    private final LongSupplier numbers;
    private final long most;
    private long number;
    private long count;
    /** The session asks for another number when the count has come to this. */
    private long askAt;
    /** Whether the number that was asked for is none: the session does not ask again. */
    private boolean exhausted;
    /** The number that was asked for. */
    private @Nullable CompletableFuture<Long> coming;

    /**
     * @param number the first
     * @param numbers gives others, or a number above {@link #MOST_NUMBER} if the map has had all; may block, may throw,
     *     and may be called on any thread
     */
    public VersionNumbers(long number, LongSupplier numbers) {
        this(number, numbers, MOST_COUNT);
    }

    /** @param most versions of each number */
    VersionNumbers(long number, LongSupplier numbers, long most) {
        this.numbers = numbers;
        this.most = most;
        begin(number);
    }

    /** @throws MapException if the map has had all numbers */
    public static long checked(long number) {
        if (!isNumber(number)) {
            throw new MapException("the map has had " + MOST_NUMBER
                    + " sessions, which is the limit, as versions would return: create another map");
        }
        return number;
    }

    private static boolean isNumber(long number) {
        return number >= 1 && number <= MOST_NUMBER;
    }

    private void begin(long first) {
        number = first;
        count = 0;
        askAt = most / 2;
    }

    /** The next version, or {@link #NONE}. Does not block. */
    long next() {
        if (count >= askAt && !hasNext()) {
            return NONE;
        }
        return number << COUNT_BITS | ++count;
    }

    /** Whether {@link #next} gives no version any more, as the map has had all numbers. */
    boolean exhausted() {
        return exhausted;
    }

    private boolean hasNext() {
        CompletableFuture<Long> asked = coming;
        // Looked at once: another thread may complete it at each moment, also with an exception.
        boolean done = asked != null && asked.isDone();
        if (asked == null || done && asked.isCompletedExceptionally()) {
            ask();
        } else if (count == most && done && !exhausted) {
            takeUp(asked.join());
        }
        return count < most;
    }

    private void takeUp(long next) {
        exhausted = !isNumber(next);
        if (!exhausted) {
            coming = null;
            begin(next);
        }
    }

    private void ask() {
        CompletableFuture<Long> answer = new CompletableFuture<>();
        coming = answer;
        Thread.ofVirtual().name("farheap-map-number").start(() -> {
            try {
                answer.complete(numbers.getAsLong());
            } catch (Throwable e) {
                answer.completeExceptionally(e);
            }
        });
        // If there is no answer, the session seldom asks again, until it has no version left.
        askAt = count + (most - count) / 2;
    }
}
