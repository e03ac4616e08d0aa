package io.farheap.resilience.table;

import io.farheap.thread.ThreadJoiner;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * What sessions had not written when they were closed, since more servers could not be reached than a range can do
 * without: their splits are neither given up, as that would lose their slabs, nor forgotten, as others of their pages
 * have been written. Each session's goes on, on a virtual thread of its own, until it has ended or the space is closed.
 * Any thread.
 */
public final class UnfinishedWrites implements AutoCloseable {

    /** The rest of a session. */
    public interface RemainingWrites {

        /** Goes on until all has ended, or it is {@code over}; then frees what the session was made of. */
        void finish(BooleanSupplier over);
    }

    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** Its own from now on. */
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

    /** Whether there is any. */
    public boolean isEmpty() {
        return threads.isEmpty();
    }

    /** What has not ended by now is given up, and all is freed. After the sessions. */
    @Override
    public void close() {
        closed = true;
        threads.forEach(ThreadJoiner::join);
    }
}
