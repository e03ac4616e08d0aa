package io.farheap.kv.keeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a session off that is not polled for seconds while a request of it is in flight from an older era than the
 * present one: such a request may know blocks that are to be used in another way, and all of the map would wait for it.
 * Once the session's connections are fenced, its requests do nothing any more, and end as lost when it is polled. The
 * keeper's thread.
 */
final class SessionWatch {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** The time until a server that has not answered is asked again. */
    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** The most that counts between two looks: if the process was stopped, the session could not be polled either. */
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier oldestEra;
    private final LongSupplier polls;
    private final Supplier<CompletableFuture<Void>> cut;
    private long seenEra;
    private long seenPolls;
    private long waited;
    private long looked;
    private @Nullable CompletableFuture<Void> cutting;

    /**
     * @param oldestEra of the session's requests in flight, {@link Long#MAX_VALUE} if there is none
     * @param polls how often the session has been polled
     * @param cut ends the session's connections; completes when nothing that was posted can take effect any more
     */
    SessionWatch(LongSupplier oldestEra, LongSupplier polls, Supplier<CompletableFuture<Void>> cut) {
        this.oldestEra = oldestEra;
        this.polls = polls;
        this.cut = cut;
    }

    /** The oldest era of requests in flight that may still do something. */
    long oldestEra() {
        return isCut() ? Long.MAX_VALUE : oldestEra.getAsLong();
    }

    private boolean isCut() {
        CompletableFuture<Void> last = cutting;
        return last != null && last.isDone() && !last.isCompletedExceptionally();
    }

    /**
     * Looks at the session, now and then.
     *
     * @param era the process's present one
     * @param nanos now
     */
    void look(long era, long nanos) {
        CompletableFuture<Void> last = cutting;
        boolean again = last != null && last.isCompletedExceptionally();
        long oldest = oldestEra();
        long polled = polls.getAsLong();
        if (!again && (oldest >= era || oldest != seenEra || polled != seenPolls)) {
            seenEra = oldest;
            seenPolls = polled;
            waited = 0;
        } else {
            waited += Math.min(nanos - looked, MOST_NANOS);
        }
        looked = nanos;
        if (waited > (again ? AGAIN_NANOS : PATIENCE_NANOS) && (last == null || again)) {
            cutting = cut.get();
            waited = 0;
        }
    }
}
