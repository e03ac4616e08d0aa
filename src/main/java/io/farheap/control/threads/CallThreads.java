package io.farheap.control.threads;

import io.farheap.control.plane.Caller;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A server's call threads: a {@link CallThreadPool} for each {@link CallKind}. Thread-safe. */
public final class CallThreads {

    private final Map<CallKind, CallThreadPool> lines = new EnumMap<>(CallKind.class);

    public CallThreads() {
        for (CallKind kind : CallKind.values()) {
            lines.put(kind, new CallThreadPool(kind));
        }
    }

    /** As {@link CallThreadPool#submit}. */
    public @Nullable String submit(CallKind kind, Caller caller, @Nullable Long lease, Runnable task) {
        return Objects.requireNonNull(lines.get(kind)).submit(caller, lease, task);
    }

    /** As {@link CallThreadPool#stop}. */
    public void stop() {
        lines.values().forEach(CallThreadPool::stop);
    }

    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        long deadline = System.nanoTime() + unit.toNanos(timeout);
        boolean ended = true;
        for (CallThreadPool line : lines.values()) {
            ended &= line.awaitTermination(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        }
        return ended;
    }
}
