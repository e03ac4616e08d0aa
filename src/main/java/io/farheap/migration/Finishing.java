package io.farheap.migration;

import java.util.concurrent.CompletableFuture;

/**
 * What nobody waits for until the end: tasks that are run one after the other, on threads of their own. One thread adds
 * and awaits.
 */
final class Finishing {

    private static final System.Logger LOG = System.getLogger(Finishing.class.getName());

    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    void add(Runnable task) {
        last = last.thenRunAsync(
                () -> run(task),
                each -> Thread.ofVirtual().name("farheap-finishing").start(each));
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
        last.join();
    }
}
