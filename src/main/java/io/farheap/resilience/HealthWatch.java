package io.farheap.resilience;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells a listener, and recordings, of a space's health when that has changed. The keeper looks; a virtual thread
 * tells, one change after the other, and what changes while the listener is at it is told once, as it is afterwards.
 */
final class HealthWatch implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(HealthWatch.class.getName());

    private final SpaceState space;
    private final Supplier<Health> health;
    private final @Nullable Consumer<Health> listener;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            Thread.ofVirtual().name("farheap-health").factory());
    /** Set by the keeper; cleared before the health is looked at, so that no later change is missed. */
    private final AtomicBoolean toTell = new AtomicBoolean();

    private long seen;

    HealthWatch(SpaceState space, Supplier<Health> health, @Nullable Consumer<Health> listener) {
        this.space = space;
        this.health = health;
        this.listener = listener;
        this.seen = look();
    }

    /** The keeper, every so often. Does not wait. */
    void check() {
        long now = look();
        if (now != seen) {
            seen = now;
            if (!toTell.getAndSet(true)) {
                thread.execute(this::tell);
            }
        }
    }

    /** Of all that is told of: another value where one of it is another. */
    private long look() {
        long hash = 1;
        SlabTable table = space.table;
        for (int range = 0; range < table.ranges(); range++) {
            for (int split = 0; split < table.splits(); split++) {
                Slab slab = table.slab(range, split);
                int state = slab.isVoid() ? 0 : slab.isGood() ? 1 : 2;
                hash = 31 * hash + 3L * slab.generation() + state;
            }
        }
        long suspects = 0;
        for (ServerRecord record : space.records.values()) {
            suspects += record.suspect ? 1 + record.server.index() * 0x9E3779B97F4A7C15L : 0;
        }
        return hash ^ suspects;
    }

    private void tell() {
        toTell.set(false);
        try {
            Health now = health.get();
            new HealthChangedEvent().emit(space.memory.name(), now);
            if (listener != null) {
                listener.accept(now);
            }
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "a listener of a cache's health failed", e);
        }
    }

    /** The listener may still be at it; it is told no more. */
    @Override
    public void close() {
        thread.shutdownNow();
    }
}
