package io.farheap.remote.device;

import io.farheap.verbs.Context;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Closes a device's context once everything made of it is closed, including memory to which a stopped server may still
 * write. Any thread may call.
 */
public final class ContextLifetime implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ContextLifetime.class.getName());
    private static final long LATE_MILLIS = 500;

    private final Context context;
    private final Set<CompletableFuture<Void>> late = ConcurrentHashMap.newKeySet();

    public ContextLifetime(Context context) {
        this.context = context;
    }

    /** @param closed completes when an object is closed that the context must outlive */
    public void closesLater(CompletableFuture<Void> closed) {
        if (!closed.isDone()) {
            late.add(closed);
            closed.whenComplete((nothing, failure) -> late.remove(closed));
        }
    }

    /**
     * Closes the context. If memory that a stopped server may write to is not closed within {@value #LATE_MILLIS} ms,
     * the thread that closes the last of it closes the context.
     */
    @Override
    public void close() {
        CompletableFuture<Void> all = CompletableFuture.allOf(late.toArray(CompletableFuture[]::new));
        try {
            all.get(LATE_MILLIS, TimeUnit.MILLISECONDS);
            context.close();
        } catch (TimeoutException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "a memory server is stopped in the middle of an answer;"
                            + " the memory that it writes to is freed when it continues or ends");
            all.whenComplete((nothing, failure) -> context.close());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            all.whenComplete((nothing, failure) -> context.close());
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }
}
