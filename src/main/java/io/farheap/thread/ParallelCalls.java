package io.farheap.thread;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Calls that wait for several others, all at once. */
public final class ParallelCalls {

    private ParallelCalls() {}

    /**
     * Returns when all have ended, also where some have failed; what they did is visible then. The first is the
     * caller's thread's.
     *
     * @throws RuntimeException or an error: what the first of those that failed has thrown
     */
    public static void run(int count, IntConsumer call) {
        run(count, Thread::startVirtualThread, call);
    }

    /** The same. @param starter starts a thread for each of the others */
    public static void run(int count, Executor starter, IntConsumer call) {
        List<CompletableFuture<Void>> others = IntStream.range(1, count)
                .mapToObj(i -> start(starter, () -> call.accept(i)))
                .toList();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        all.add(CompletableFuture.runAsync(() -> call.accept(0), Runnable::run));
        all.addAll(others);
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .exceptionally(_ -> null)
                .join();
        for (CompletableFuture<Void> each : all) {
            if (each.isCompletedExceptionally()) {
                rethrow(each.exceptionNow());
            }
        }
    }

    /** One that cannot be started has failed; those that have been are waited for. */
    private static CompletableFuture<Void> start(Executor starter, Runnable call) {
        try {
            return CompletableFuture.runAsync(call, starter);
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static void rethrow(Throwable failure) {
        switch (failure) {
            case Error error -> throw error;
            case RuntimeException exception -> throw exception;
            default -> throw new IllegalStateException(failure);
        }
    }
}
