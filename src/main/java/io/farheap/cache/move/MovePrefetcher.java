package io.farheap.cache.move;

import io.farheap.migration.region.ReadyMove;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Prepares the move of a region on a thread of its own, while the one before it is copied. The owner takes the result,
 * or closes this.
 */
final class MovePrefetcher implements AutoCloseable {

    /** Prepares nothing. */
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
     * Waits for the prepared move, which the caller owns then. Null if preparing it failed, or if it has expired at a
     * server: the caller then begins the move again, and gets the error if there still is one.
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

    /** Gives a move back that has not been taken; waits until it is prepared. */
    @Override
    public void close() {
        ReadyMove made = ready.exceptionally(_ -> null).join();
        if (made != null) {
            made.abandon();
        }
    }
}
