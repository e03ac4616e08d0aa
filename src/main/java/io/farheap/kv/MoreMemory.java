package io.farheap.kv;

import io.farheap.control.ControlException;
import io.farheap.kv.service.MapCalls;
import io.farheap.remote.RemoteSpace;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * Adds memory to a map: regions to the space on each of its servers, which its first server then numbers. One process
 * does so at a time; where it dies in the midst of it, the regions that nobody has numbered are the next one's. Any
 * thread, one at a time.
 */
final class MoreMemory {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final KeeperTasks keeper;
    private final List<ServiceLine> lines;
    private final Predicate<Layout> handsOut;

    /** @param handsOut whether the servers hand blocks out of all regions of a layout; asked on the keeper's thread */
    MoreMemory(KeeperTasks keeper, List<ServiceLine> lines, Predicate<Layout> handsOut) {
        this.keeper = keeper;
        this.lines = lines;
        this.handsOut = handsOut;
    }

    /** @param regions on each server */
    void add(SpaceMemory space, int regions) {
        ServiceLine first = lines.getFirst();
        keeper.ask(first, () -> answer(first.with(1, 1).call(MapCalls.GROWING, 2)));
        Layout layout;
        try {
            layout = keeper.ask(first, () -> Optional.ofNullable(Growing.read(first, space.layout())));
            for (ServiceLine line : lines) {
                take(line.space, regions - (line.space.refresh().size() - layout.regionsOf(line.number)));
            }
            for (ServiceLine line : lines) {
                int from = layout.regionsOf(line.number);
                Layout.Growth growth = new Layout.Growth(
                        line.number, from, line.space.regions().size() - from);
                layout = layout.with(growth);
                keeper.ask(
                        first,
                        () -> answer(first.with(1, growth.server())
                                .with(2, growth.first())
                                .with(3, growth.count())
                                .call(MapCalls.GROWN, 4)));
            }
        } finally {
            keeper.ask(first, () -> answer(first.with(1, 0).call(MapCalls.GROWING, 2)));
        }
        await(layout);
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
            throw new MapException(space.server() + " gives the map no " + more + " regions more: " + e.getMessage()
                    + ". What servers before it gave stays with the map, unused, and the next growth takes it first");
        }
    }

    /** Until all servers hand blocks out of it. */
    private void await(Layout layout) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!keeper.ask(() -> handsOut.test(layout))) {
            if (System.nanoTime() - deadline > 0) {
                throw new MapException("the map has its new memory, but a process that has it open has not learned of "
                        + "that within " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS)
                        + " s; the memory is used as soon as that process goes on or its lease ends");
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }
}
