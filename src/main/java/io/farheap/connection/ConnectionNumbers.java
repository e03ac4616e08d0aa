package io.farheap.connection;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/**
 * The numbers of a completion queue's connections. A number is used again after its connection has ended, so there are
 * only as many numbers as there were connections at once. Any thread may call.
 */
public final class ConnectionNumbers {

    /**
     * Numbers of connections whose queue pair has been destroyed; operations that they ended may not have been taken
     * yet.
     */
    private final Queue<Integer> ended = new ArrayDeque<>();

    private int next;

    public ConnectionNumbers() {}

    /**
     * Makes a connection with a number of its own.
     *
     * @param forget asks the taker of completions to forget the former connection with a number; returns false if
     *     something of it is still to be taken, so that the number cannot be used yet
     * @param connect makes the connection; if it throws, its number is free again
     */
    public <T> T connect(IntPredicate forget, IntFunction<T> connect) {
        int number = take(forget);
        try {
            return connect.apply(number);
        } catch (Throwable e) {
            end(number);
            throw e;
        }
    }

    private synchronized int take(IntPredicate forget) {
        for (Iterator<Integer> each = ended.iterator(); each.hasNext(); ) {
            int number = each.next();
            if (forget.test(number)) {
                each.remove();
                return number;
            }
        }
        return next++;
    }

    /** Called when the queue pair of the connection with this number has been destroyed. */
    public synchronized void end(int number) {
        ended.add(number);
    }
}
