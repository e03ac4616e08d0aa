package io.farheap.migration.region;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What nobody waits for until the end: tasks, each on a thread of its own. One thread adds and awaits. */
final class CleanupTasks {

    private static final System.Logger LOG = System.getLogger(CleanupTasks.class.getName());

    /** What has not ended holds connections, of which a server lends only so many. */
    private static final int MOST = 8;

    private final List<CompletableFuture<Void>> tasks = new ArrayList<>();

    /** Waits where many have not run. */
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
