package io.farheap.connection;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/**
 * The numbers of a completion queue's connections, of which each is used again: there are as many as there were
 * connections at once, and no more however often one is replaced. Any thread.
 */
public final class ConnectionNumbers {

    /** Of connections whose queue pair has been destroyed; what they ended may not have been taken yet. */
    private final Queue<Integer> ended = new ArrayDeque<>();

    private int next;

    public ConnectionNumbers() {}

    /**
     * Makes a connection that has a number.
     *
     * @param forget has whoever takes completions forget the connection that had a number, and says whether that can
     *     be: nothing of it is to be taken any more
     * @param connect makes it; where that throws, there is none, and its number is another's
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

    /** The queue pair of the connection that has a number has been destroyed. */
    public synchronized void end(int number) {
        ended.add(number);
    }
}
