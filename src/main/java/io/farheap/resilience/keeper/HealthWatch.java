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
 * Tells a listener, and recordings, of a space's health when that has changed. The keeper looks, and takes it down as
 * it is then; a virtual thread tells, one change after the other. A listener that is long at it misses the oldest of
 * more than {@value #MOST} changes.
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
    /** The keeper's. */
    private long seen;

    public HealthWatch(SpaceState space, Supplier<Health> health, @Nullable Consumer<Health> listener) {
        this.space = space;
        this.health = health;
        this.listener = listener;
        this.seen = look();
    }

    /** The keeper, every so often. Does not wait. */
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

    /** Of all that is told of: another value where one of it is another. */
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

    /** It tells no more. The listener may still be at it, and may be who closes this: it is not interrupted. */
    @Override
    public void close() {
        closed = true;
        thread.shutdown();
    }
}
