package io.farheap.thread;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What any threads submit to one, which takes it in order until it ends. Each request is taken or refused, once, and
 * the thread may end while more keep coming.
 *
 * <p>The thread that takes says that it has ended and then looks for the last time; who submits adds and then looks
 * whether it has: one of the two sees the other's.
 */
public final class Submissions<R> {

    private final Queue<R> waiting = new ConcurrentLinkedQueue<>();
    private final Consumer<R> refused;
    private volatile boolean closing;
    private volatile boolean ended;

    /** @param refused told of what nobody takes any more, on any thread */
    public Submissions(Consumer<R> refused) {
        this.refused = refused;
    }

    /** Any thread. @param taker woken */
    public void submit(R request, Thread taker) {
        if (closing) {
            refused.accept(request);
            return;
        }
        waiting.add(request);
        LockSupport.unpark(taker);
        if (ended) {
            refuseRest();
        }
    }

    /** Refuses what comes from now on; the thread takes the rest and ends. Any thread. */
    public void beginClose(Thread taker) {
        closing = true;
        LockSupport.unpark(taker);
    }

    /**
     * Refuses what comes from now on, and returns when the thread has taken the rest and ended. Any thread but that.
     */
    public void close(Thread taker) {
        beginClose(taker);
        ThreadJoiner.join(taker);
        refuseRest();
    }

    /** Whether nothing more comes. */
    public boolean closing() {
        return closing;
    }

    public boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** The oldest, which stays; null where there is none. The thread that takes, as all below. */
    public @Nullable R peek() {
        return waiting.peek();
    }

    /** Takes the oldest; null where there is none. */
    public @Nullable R poll() {
        return waiting.poll();
    }

    /** One of its own, or one that is not finished, comes last, also while nothing more is submitted. */
    public void again(R request) {
        waiting.add(request);
    }

    /** Refuses what comes from now on. */
    public void refuseNew() {
        closing = true;
    }

    /** Nothing is taken any more: refuses what is left. */
    public void end() {
        closing = true;
        ended = true;
        refuseRest();
    }

    /** One by one: others may add some meanwhile. */
    private void refuseRest() {
        for (R request = waiting.poll(); request != null; request = waiting.poll()) {
            refused.accept(request);
        }
    }
}
