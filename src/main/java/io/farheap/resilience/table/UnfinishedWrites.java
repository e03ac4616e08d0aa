package io.farheap.resilience.table;

import io.farheap.thread.ThreadJoiner;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * Writes that sessions had not finished when they were closed, because more servers could not be reached than a range
 * can do without. Their splits cannot be given up, as that would lose their slabs, and cannot be dropped, as other
 * splits of the same pages have been written. The writes of each session continue on a virtual thread of its own until
 * they have ended or the space is closed. Any thread.
 */
public final class UnfinishedWrites implements AutoCloseable {

    /** The remaining writes of a closed session. */
    public interface RemainingWrites {

        /** Continues until all writes have ended or {@code over} is true; then frees the session's resources. */
        void finish(BooleanSupplier over);
    }

    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** Takes over the remaining writes of a session, and starts their thread. */
    public void add(RemainingWrites rest) {
        Thread thread = Thread.ofVirtual().name("farheap-unfinished").unstarted(() -> {
            try {
                rest.finish(() -> closed);
            } finally {
                threads.remove(Thread.currentThread());
            }
        });
        threads.add(thread);
        thread.start();
    }

    /** Whether no writes remain. */
    public boolean isEmpty() {
        return threads.isEmpty();
    }

    /** Gives up the writes that have not ended, and frees everything. Called after all sessions are closed. */
    @Override
    public void close() {
        closed = true;
        threads.forEach(ThreadJoiner::join);
    }
}
