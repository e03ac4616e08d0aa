package io.farheap.migration.region;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Cleanup tasks, each on a thread of its own; only the end of a migration waits for them. One thread adds and awaits.
 */
final class CleanupTasks {

    private static final System.Logger LOG = System.getLogger(CleanupTasks.class.getName());

    /** Most unfinished tasks: each holds connections, and a server lends only a limited number. */
    private static final int MOST = 8;

    private final List<CompletableFuture<Void>> tasks = new ArrayList<>();

    /** Runs a task; waits first if too many have not ended. */
    void add(Runnable task) {
        tasks.removeIf(CompletableFuture::isDone);
        while (tasks.size() >= MOST) {
            tasks.removeFirst().join();
        }
        tasks.add(CompletableFuture.runAsync(
                () -> run(task),
                each -> Thread.ofVirtual().name("farheap-finishing").start(each)));
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "something that a migration left behind does not end", e);
        }
    }

    /** Returns when all tasks have run. */
    void await() {
        tasks.forEach(CompletableFuture::join);
        tasks.clear();
    }
}
