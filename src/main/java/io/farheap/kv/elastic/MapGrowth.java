package io.farheap.kv.elastic;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.format.TextWords;
import io.farheap.kv.keeper.GrowthTracker;
import io.farheap.kv.keeper.MapKeeperTasks;
import io.farheap.kv.keeper.MapServer;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.memory.Plurals;
import io.farheap.remote.RemoteSpace;
import io.farheap.thread.Uninterruptibles;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * Changes the memory of a map. To add memory, it adds regions to the space on each of its servers, or on a server that
 * joins, and then has the map's first server give them numbers; it takes servers out likewise. One process at a time
 * may do so. If that process dies in between, regions without numbers are used by the next growth. Any thread.
 */
public final class MapGrowth {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final MapKeeperTasks keeper;
    private final MapServers servers;
    private final SpaceMemory space;
    private final Predicate<RegionDirectory> used;
    private final ReentrantLock changing = new ReentrantLock();
    private volatile boolean closed;

    /** @param used whether all processes use a layout; called on the keeper's thread */
    public MapGrowth(MapKeeperTasks keeper, MapServers servers, SpaceMemory space, Predicate<RegionDirectory> used) {
        this.keeper = keeper;
        this.servers = servers;
        this.space = space;
        this.used = used;
    }

    /** A change that runs while no other process changes the map's memory. */
    interface MemoryChange {
        /** @return the layout after the change */
        RegionDirectory of(RegionDirectory before);
    }

    /** Changes the map's memory, and waits until all processes use it. Other threads of this process wait. */
    void change(MemoryChange change) {
        try {
            changing.lockInterruptibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MapException("this thread was interrupted while it waited for another change of the map's "
                    + "memory; nothing has changed");
        }
        try {
            make(change);
        } finally {
            changing.unlock();
        }
    }

    private void make(MemoryChange change) {
        MapServiceClient first = servers.first().line();
        RegionDirectory layout;
        try {
            keeper.ask(first, () -> answer(first.with(1, 1).call(MapCalls.GROWING, 2)));
            RegionDirectory before =
                    keeper.ask(first, () -> Optional.ofNullable(GrowthTracker.read(first, space.layout())));
            // This process must know the change that another process has made before.
            await(() -> space.layout().growths() >= before.growths());
            layout = change.of(before);
        } finally {
            keeper.ask(first, () -> answer(first.with(1, 0).call(MapCalls.GROWING, 2)));
        }
        await(() -> keeper.ask(() -> used.test(layout)));
    }

    /** Adds memory. @param regions on each server */
    public void add(int regions) {
        change(before -> {
            List<MapServer> all = servers.all().stream()
                    .filter(server -> !before.hasLeft(server.number()))
                    .toList();
            for (MapServer server : all) {
                RemoteSpace each = server.space();
                take(each, regions - (each.refresh().size() - before.regionsOf(server.number())));
            }
            RegionDirectory layout = before;
            for (MapServer server : all) {
                int from = layout.regionsOf(server.number());
                layout = tell(
                        layout,
                        new RegionDirectory.Growth(
                                server.number(), from, server.space().regions().size() - from),
                        NO_ADDRESS);
            }
            return layout;
        });
    }

    static final byte[] NO_ADDRESS = {};

    /** Has the first server record a growth; a repetition changes nothing. */
    RegionDirectory tell(RegionDirectory before, RegionDirectory.Growth growth, byte[] address) {
        MapServiceClient first = servers.first().line();
        long[] text = new long[Math.ceilDiv(address.length, Long.BYTES)];
        TextWords.words(address, text, 0);
        keeper.ask(first, () -> {
            first.with(1, growth.server())
                    .with(2, growth.first())
                    .with(3, growth.count())
                    .with(4, address.length);
            for (int i = 0; i < text.length; i++) {
                first.with(5 + i, text[i]);
            }
            return answer(first.call(MapCalls.GROWN, 5 + text.length));
        });
        return before.with(growth);
    }

    private static Optional<Boolean> answer(boolean ok) {
        return ok ? Optional.of(true) : Optional.empty();
    }

    private static void take(RemoteSpace space, int more) {
        if (more <= 0) {
            return;
        }
        try {
            space.grow(more);
        } catch (ControlException e) {
            throw new MapException(space.server() + " gives the map no " + Plurals.of(more, "region")
                    + " more: " + e.getMessage()
                    + ". Regions of servers before it stay with the map, unused; the next growth takes them first");
        }
    }

    /** Changes wait for no other process any more, and end as lost. */
    void close() {
        closed = true;
    }

    private void await(BooleanSupplier what) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!what.getAsBoolean()) {
            if (closed || servers.first().line().lost()) {
                throw MapException.of(KvStatus.LOST);
            }
            if (System.nanoTime() - deadline > 0) {
                throw new MapException("the map's memory is changed, but a process that has it open has not learned of "
                        + "that within " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS)
                        + " s; it takes effect as soon as that process continues or its lease ends");
            }
            Uninterruptibles.parkNanos(this, LOOK_NANOS);
        }
    }
}
