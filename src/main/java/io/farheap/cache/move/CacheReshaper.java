package io.farheap.cache.move;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.objective.SloWatch;
import io.farheap.cache.objective.Tuning;
import io.farheap.cache.objective.Tunings;
import io.farheap.control.ControlException;
import io.farheap.manager.AllocationCandidate;
import io.farheap.slo.Explanation;
import io.farheap.slo.Slo;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * Gives a cache another capacity, another objective, or both at once (Redy, table 1), and waits for its manager while
 * that starts servers for it or has it move. Thread-safe.
 */
public final class CacheReshaper {

    private static final long RETRY_MILLIS = 200;
    /** How long a manager may answer that it is busy. */
    private static final long PATIENCE_MINUTES = 10;

    /** The cache, as this class uses it. */
    public interface ReshapeHost extends CacheResizer.ResizeHost {

        /** @throws IllegalStateException if it is deleted */
        void checkOpen();

        CacheConfiguration configuration();

        void reconfigure(CacheConfiguration how);
    }

    private final ReshapeHost cache;
    private final Lock moving;
    private final CacheResizer resizing;
    private final boolean managed;
    private final @Nullable Tuning tuning;
    private final @Nullable SloWatch watch;

    /**
     * @param moving held while the cache changes, and not between two attempts
     * @param tuning null, as {@code watch}, if the cache has no objective
     */
    public CacheReshaper(
            ReshapeHost cache,
            Lock moving,
            CacheResizer resizing,
            boolean managed,
            @Nullable Tuning tuning,
            @Nullable SloWatch watch) {
        this.cache = cache;
        this.moving = moving;
        this.resizing = resizing;
        this.managed = managed;
        this.tuning = tuning;
        this.watch = watch;
    }

    public void to(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a capacity of " + bytes + " bytes; it must be at least 1");
        }
        patiently(() -> resizing.to(bytes, null));
    }

    public Explanation to(long bytes, Slo slo) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a capacity of " + bytes + " bytes; it must be at least 1");
        }
        NewObjective objective = objective(slo, tuning().margin());
        patiently(() -> resizing.to(bytes, objective));
        return objective.now();
    }

    public Explanation to(Slo slo) {
        return to(slo, tuning().margin());
    }

    /** As {@code Cache.retune}. */
    public Explanation retune() {
        double margin = (1 + tuning().margin()) * (1 + watch().shortfall()) - 1;
        return to(watch().explanation().slo(), margin);
    }

    private Explanation to(Slo slo, double margin) {
        NewObjective objective = objective(slo, margin);
        patiently(() -> resizing.to(cache.capacity(), objective));
        return objective.now();
    }

    private NewObjective objective(Slo slo, double margin) {
        Tuning before = tuning();
        // Without a manager the servers stay, and so does their distance.
        return new NewObjective(Tunings.of(
                managed ? before.models() : List.of(before.model()), slo, margin, before.period(), before.listener()));
    }

    private Tuning tuning() {
        watch();
        return Objects.requireNonNull(tuning);
    }

    private SloWatch watch() {
        cache.checkOpen();
        if (watch == null) {
            throw new IllegalStateException(
                    "the cache was created without an objective, so it has no performance model; create it with one"
                            + " (CacheBuilder.model and slo), or use reconfigure");
        }
        return watch;
    }

    /**
     * Tries until the manager is not busy. The lock is free between two attempts, so that a move that the manager waits
     * for can proceed.
     */
    private void patiently(Runnable attempt) {
        cache.checkOpen();
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
        while (true) {
            try {
                alone(attempt);
                return;
            } catch (ControlException busy) {
                if (System.nanoTime() - deadline > 0) {
                    throw new CacheException("the cache stays as it is: " + busy.getMessage(), busy);
                }
            }
            try {
                Thread.sleep(RETRY_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CacheException("interrupted while the manager was waited for; the cache stays as it is", e);
            }
        }
    }

    private void alone(Runnable attempt) {
        moving.lock();
        try {
            cache.checkOpen();
            attempt.run();
        } finally {
            moving.unlock();
        }
    }

    /** A new objective with the ways to meet it, one of which is applied. */
    private final class NewObjective implements CacheResizer.ObjectiveChange {

        private final List<Tuning> ways;
        private @Nullable CacheConfiguration before;
        private @Nullable Explanation explained;
        private @Nullable Explanation now;

        NewObjective(List<Tuning> ways) {
            this.ways = ways;
        }

        Explanation now() {
            return Objects.requireNonNull(now);
        }

        @Override
        public List<AllocationCandidate> candidates() {
            return Tunings.candidates(ways);
        }

        @Override
        public void apply(@Nullable AllocationCandidate chosen) {
            Tuning found = chosen == null ? ways.getFirst() : Tunings.chosen(ways, chosen);
            // Keep the present configuration, not the one that the model would choose now: the cache may have been
            // retuned, or reconfigured by the application.
            before = cache.configuration();
            explained = watch().explanation();
            Explanation why = found.why();
            cache.reconfigure(before.with(why.chosen().configuration()));
            watch().changed(why);
            now = why;
        }

        @Override
        public void undo() {
            cache.reconfigure(Objects.requireNonNull(before));
            watch().changed(Objects.requireNonNull(explained));
        }
    }
}
