package io.farheap.cache.move;

import io.farheap.migration.region.ReadyMove;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The next region's move, made ready on a thread of its own while the one before it is under way. Its owner takes it,
 * or closes this.
 */
final class MovePrefetcher implements AutoCloseable {

    /** Nothing is made ready. */
    static final MovePrefetcher NONE = new MovePrefetcher(CompletableFuture.completedFuture(null));

    private final CompletableFuture<@Nullable ReadyMove> ready;

    private MovePrefetcher(CompletableFuture<@Nullable ReadyMove> ready) {
        this.ready = ready;
    }

    static MovePrefetcher start(Supplier<ReadyMove> making) {
        CompletableFuture<@Nullable ReadyMove> ready = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("farheap-move-ahead").start(() -> {
            try {
                ready.complete(making.get());
            } catch (Throwable e) {
                ready.completeExceptionally(e);
            }
        });
        return new MovePrefetcher(ready);
    }

    /**
     * What is ready, and the caller's then; waits for it. Null where it failed, or a server has waited for it too long:
     * whoever begins anew finds out why.
     */
    @Nullable
    ReadyMove take() {
        ReadyMove made = ready.exceptionally(_ -> null).join();
        if (made != null && !made.holds()) {
            made.abandon();
            return null;
        }
        return made;
    }

    /** Gives back what has not been taken. Waits for what is being made. */
    @Override
    public void close() {
        ReadyMove made = ready.exceptionally(_ -> null).join();
        if (made != null) {
            made.abandon();
        }
    }
}
