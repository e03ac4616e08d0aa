package io.farheap.server.fence;

import io.farheap.thread.FailSafeLog;
import io.farheap.thread.ThreadJoiner;
import io.farheap.verbs.VerbsException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends resources with which the device is still busy. One thread tries again until each has ended, and sleeps while
 * there is none; so no other thread waits for a client that is stopped. Thread-safe.
 */
public final class RetiredResources implements AutoCloseable {

    /**
     * How long a call waits for the device before it returns that it must be repeated: well below the caller's own
     * timeout.
     */
    public static final long PATIENCE_NANOS = 2_000_000_000L;

    private static final System.Logger LOG = System.getLogger(RetiredResources.class.getName());
    private static final long LEAST_PAUSE_NANOS = 20_000_000L;
    private static final long MOST_PAUSE_NANOS = 250_000_000L;

    /** An attempt to end something. */
    public interface Attempt {

        /**
         * Makes one attempt in bounded time, on any thread.
         *
         * @return whether it is done; if false, it is tried again
         */
        boolean done() throws Exception;
    }

    private static final class Entry {

        private final String what;
        private final Attempt attempt;
        private boolean failed;

        Entry(String what, Attempt attempt) {
            this.what = what;
            this.attempt = attempt;
        }
    }

    private final Queue<Entry> entries = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    public final FailPoint fault = new FailPoint();
    private volatile boolean stopped;
    /**
     * Patience of calls that wait for a reader to leave, or for a connection to end. Tests set another, so that no
     * result depends on time.
     */
    public volatile long patienceNanos = PATIENCE_NANOS;

    public RetiredResources() {
        thread = new Thread(this::run, "farheap-retired");
        thread.setDaemon(true);
        thread.start();
    }

    /** Adds something that is tried until it is done. */
    public void add(String what, Attempt attempt) {
        entries.add(new Entry(what, attempt));
        LockSupport.unpark(thread);
    }

    public boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Closes a resource that may be closed twice: now, or when the device is done with it. */
    public void close(String what, AutoCloseable resource) {
        Entry entry = new Entry(what, () -> closed(resource));
        if (!done(entry)) {
            entries.add(entry);
            LockSupport.unpark(thread);
        }
    }

    /**
     * One try.
     *
     * @return false if the device is busy with it
     */
    static boolean closed(AutoCloseable resource) throws Exception {
        try {
            resource.close();
            return true;
        } catch (VerbsException e) {
            if (e.busy()) {
                return false;
            }
            throw e;
        }
    }

    /**
     * Tries to close a resource for some time.
     *
     * @return whether it is closed
     */
    public static boolean closed(AutoCloseable resource, long nanos) throws Exception {
        long deadline = System.nanoTime() + nanos;
        while (!closed(resource)) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            LockSupport.parkNanos(1_000_000L);
        }
        return true;
    }

    /** The longer no attempt succeeds, the less often the thread tries. */
    private void run() {
        long pause = LEAST_PAUSE_NANOS;
        int before = 0;
        while (!stopped) {
            if (entries.isEmpty()) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, pause);
            }
            int left = before;
            try {
                left = tryAll();
            } catch (Throwable e) {
                // If even logging fails, all is tried again.
            }
            pause = left == before ? Math.min(MOST_PAUSE_NANOS, 2 * pause) : LEAST_PAUSE_NANOS;
            before = left;
        }
    }

    /**
     * Tries all entries.
     *
     * @return how many are not done
     */
    private int tryAll() {
        int left = 0;
        for (var all = entries.iterator(); !stopped && all.hasNext(); ) {
            if (done(all.next())) {
                all.remove();
            } else {
                left++;
            }
        }
        return left;
    }

    /**
     * An exception is final, since a resource throws it only once; an error, such as lack of memory, may have passed at
     * the next attempt.
     */
    private boolean done(Entry entry) {
        try {
            fault.strike();
            return entry.attempt.done();
        } catch (Exception e) {
            FailSafeLog.log(LOG, () -> "cannot end " + entry.what + "; its resources stay allocated", e);
            return true;
        } catch (Throwable e) {
            if (!entry.failed) {
                entry.failed = true;
                FailSafeLog.log(LOG, () -> "an error while ending " + entry.what + "; it is tried again", e);
            }
            return false;
        }
    }

    /** Stops trying. */
    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
        ThreadJoiner.join(thread);
    }
}
