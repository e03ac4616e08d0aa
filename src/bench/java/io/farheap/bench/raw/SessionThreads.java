package io.farheap.bench.raw;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The threads of sessions, one for each. */
final class SessionThreads implements AutoCloseable {

    private final List<ExecutorService> threads = new ArrayList<>();

    SessionThreads(int sessions) {
        for (int i = 0; i < sessions; i++) {
            threads.add(Executors.newSingleThreadExecutor());
        }
    }

    /** Runs a task on the thread of a session. */
    <T> Future<T> submit(int session, Callable<T> task) {
        return threads.get(session).submit(task);
    }

    /**
     * Interrupts the tasks, and returns when they have ended: an access is not interrupted, and its cache must be open
     * until it has ended.
     */
    @Override
    public void close() {
        threads.forEach(ExecutorService::shutdownNow);
        threads.forEach(ExecutorService::close);
    }
}
