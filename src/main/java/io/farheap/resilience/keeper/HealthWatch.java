package io.farheap.resilience.keeper;

import io.farheap.resilience.contract.Health;
import io.farheap.resilience.table.ServerErrorCounts;
import io.farheap.resilience.table.Slab;
import io.farheap.resilience.table.SlabTable;
import io.farheap.resilience.table.SpaceState;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reports a space's health to a listener and to JFR recordings when it has changed. The keeper looks for changes and
 * records the health as it is then; a virtual thread reports the changes one after another. If the listener falls
 * behind by more than {@value #MOST} changes, the oldest are dropped.
 */
public final class HealthWatch implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(HealthWatch.class.getName());
    private static final int MOST = 64;

    private final SpaceState space;
    private final Supplier<Health> health;
    private final @Nullable Consumer<Health> listener;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            Thread.ofVirtual().name("farheap-health").factory());
    private final BlockingQueue<Health> changes = new ArrayBlockingQueue<>(MOST);
    private volatile boolean closed;
    /** The hash that {@link #look} had last. The keeper's thread. */
    private long seen;

    public HealthWatch(SpaceState space, Supplier<Health> health, @Nullable Consumer<Health> listener) {
        this.space = space;
        this.health = health;
        this.listener = listener;
        this.seen = look();
    }

    /** Looks for a change. Called by the keeper in each round; does not wait. */
    void check() {
        long now = look();
        if (now == seen) {
            return;
        }
        seen = now;
        Health changed = health.get();
        while (!changes.offer(changed)) {
            changes.poll();
        }
        thread.execute(this::tell);
    }

    /** A hash of everything that is reported: it differs if any of it differs. */
    private long look() {
        long hash = 1;
        SlabTable table = space.table;
        for (int range = 0; range < table.ranges(); range++) {
            for (int split = 0; split < table.splits(); split++) {
                Slab slab = table.slab(range, split);
                hash = 31 * hash + 3L * slab.generation() + slab.state();
            }
        }
        long suspects = 0;
        for (ServerErrorCounts record : space.records.values()) {
            suspects += record.suspect ? 1 + record.server.index() * 0x9E3779B97F4A7C15L : 0;
        }
        return hash ^ suspects;
    }

    private void tell() {
        Health changed = changes.poll();
        if (changed == null || closed) {
            return;
        }
        new HealthChangedEvent().emit(space.memory.name(), changed);
        if (listener == null) {
            return;
        }
        try {
            listener.accept(changed);
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "a listener of a cache's health failed", e);
        }
    }

    /** Ends the reports. The listener is not interrupted, as it may be running, and may be the caller. */
    @Override
    public void close() {
        closed = true;
        thread.shutdown();
    }
}
