package io.farheap.thread;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue of requests that any thread submits to one taker thread, which takes them in order until it ends. Each
 * request is either taken or refused, exactly once, although the taker may end while more are being submitted.
 *
 * <p>The taker sets {@code ended} and then polls the queue for the last time; a submitter adds its request and then
 * loads {@code ended}: at least one of the two sees the other's write, and refuses the request.
 */
public final class Submissions<R> {

    private final Queue<R> waiting = new ConcurrentLinkedQueue<>();
    private final Consumer<R> refused;
    private volatile boolean closing;
    private volatile boolean ended;

    /** @param refused receives the requests that will not be taken, on any thread */
    public Submissions(Consumer<R> refused) {
        this.refused = refused;
    }

    /**
     * Submits a request and wakes the taker. Any thread may call it.
     *
     * @param taker the thread to unpark
     */
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

    /** Refuses requests from now on; the taker takes the rest and ends. Any thread may call it. */
    public void beginClose(Thread taker) {
        closing = true;
        LockSupport.unpark(taker);
    }

    /**
     * Refuses requests from now on, and returns when the taker has taken the rest and ended. Any thread but the taker
     * may call it.
     */
    public void close(Thread taker) {
        beginClose(taker);
        ThreadJoiner.join(taker);
        refuseRest();
    }

    /** Whether requests are refused from now on. */
    public boolean closing() {
        return closing;
    }

    public boolean isEmpty() {
        return waiting.isEmpty();
    }

    /**
     * The oldest request, which stays in the queue; null if it is empty. Only the taker calls this and the methods
     * below.
     */
    public @Nullable R peek() {
        return waiting.peek();
    }

    /** Takes the oldest request; null if the queue is empty. */
    public @Nullable R poll() {
        return waiting.poll();
    }

    /**
     * Adds a request of the taker's own, or one that is not finished, at the end, even after submissions are refused.
     */
    public void again(R request) {
        waiting.add(request);
    }

    /** Refuses requests from now on. */
    public void refuseNew() {
        closing = true;
    }

    /** Ends taking, and refuses the requests that are left. */
    public void end() {
        closing = true;
        ended = true;
        refuseRest();
    }

    /** Refuses one by one, since other threads may add requests meanwhile. */
    private void refuseRest() {
        for (R request = waiting.poll(); request != null; request = waiting.poll()) {
            refused.accept(request);
        }
    }
}
