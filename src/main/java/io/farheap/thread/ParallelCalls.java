package io.farheap.thread;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Runs several calls that wait, all at once. */
public final class ParallelCalls {

    private ParallelCalls() {}

    /**
     * Runs {@code count} calls and returns when all have ended, even if some failed; their writes are then visible to
     * the caller. The calling thread runs the first.
     *
     * @throws RuntimeException or an error: the exception of the failed call with the lowest index
     */
    public static void run(int count, IntConsumer call) {
        run(count, Thread::startVirtualThread, call);
    }

    /**
     * As {@link #run(int, IntConsumer)}.
     *
     * @param starter starts a thread for each call but the first
     */
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

    /** Starts a call. One that cannot be started counts as failed; the others still run to their end. */
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
