package io.farheap.thread;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Calls that wait for several others, all at once. */
public final class AtOnce {

    private AtOnce() {}

    /**
     * Returns when all have ended, also where some have failed; what they did is visible then. The first is the
     * caller's thread's.
     *
     * @throws RuntimeException or an error: what the first of those that failed has thrown
     */
    public static void run(int count, IntConsumer call) {
        List<FutureTask<Void>> tasks = IntStream.range(0, count)
                .mapToObj(i -> new FutureTask<Void>(() -> call.accept(i), null))
                .toList();
        tasks.stream().skip(1).forEach(Thread::startVirtualThread);
        tasks.getFirst().run();
        Throwable failure = null;
        for (FutureTask<Void> task : tasks) {
            Throwable failed = failure(task);
            failure = failure == null ? failed : failure;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }

    private static @Nullable Throwable failure(FutureTask<Void> task) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    task.get();
                    return null;
                } catch (ExecutionException e) {
                    return e.getCause();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
