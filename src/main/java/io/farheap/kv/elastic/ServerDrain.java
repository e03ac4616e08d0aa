package io.farheap.kv.elastic;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.keeper.MapKeeperTasks;
import io.farheap.kv.keeper.MapServer;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.operation.MoveSteps;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.thread.Uninterruptibles;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes a memory server out of a map while the map is used. The server must have joined the map: the servers that the
 * map was made on have its table.
 *
 * <ol>
 *   <li>The server hands out no more blocks, and its beats tell all processes so. From then on they use none of its
 *       free blocks, and it learns when all requests in flight have begun after that: from then on no further slot
 *       comes to name a block there.
 *   <li>The objects there are moved, the latest used first, until a quarter of the time is left, or the remaining
 *       objects are colder than those that the smaller map would keep ({@link TableSample}). {@link MoveSteps}
 *       describes a move.
 *   <li>The remaining objects are evicted, so that no slot names a block of the server any more.
 *   <li>The server records that it has left, and so does the map's first server. Each process forgets the server's
 *       regions, confirms that once no request in flight may know them, and gives its lease up. When all have, the
 *       space there is dropped.
 * </ol>
 *
 * <p>If the draining process dies in between, the server is as it was, with fewer objects; or it has left, and its
 * space ends by its time to live or when the server joins again. A lost server is taken out in the same way, but its
 * objects are evicted. One that had the table has been replaced when the map was opened without it; then only the words
 * of its objects are left to take out. Any thread, one at a time.
 */
public final class ServerDrain {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final MapServers servers;
    private final SpaceMemory space;
    private final MapKeeperTasks keeper;
    private final MapGrowth memory;
    private final Supplier<MapRequests> sessions;

    public ServerDrain(
            MapServers servers,
            SpaceMemory space,
            MapKeeperTasks keeper,
            MapGrowth memory,
            Supplier<MapRequests> sessions) {
        this.servers = servers;
        this.space = space;
        this.keeper = keeper;
        this.memory = memory;
        this.sessions = sessions;
    }

    /**
     * Takes a server out.
     *
     * @param hostPort the address by which it joined
     * @param within the time for moving and evicting together
     * @param progress is called now and then with the totals so far
     */
    public MapDrain drain(String hostPort, Duration within, Consumer<MapDrain> progress) {
        return drain(hostPort, within, progress, number -> {});
    }

    /**
     * Takes a lost server out at once, if no process has a lease on it.
     *
     * @throws MapException if one has: then only this process does not reach it
     */
    public MapDrain drainUnused(String hostPort, Consumer<MapDrain> progress) {
        return drain(hostPort, Duration.ZERO, progress, number -> requireUnused(hostPort, number));
    }

    /** @param may throws, given the server's number, if the server must stay; asked while no memory changes */
    private MapDrain drain(String hostPort, Duration within, Consumer<MapDrain> progress, IntConsumer may) {
        int away = away(hostPort);
        MapServer leaving = away >= 0 || servers.goesWithout(hostPort) ? null : find(hostPort);
        int number = leaving == null ? away : leaving.number();
        if (number < 0 && servers.retired() != 0) {
            return forgotten(within, progress);
        }
        if (number < 0) {
            throw new IllegalArgumentException("server " + hostPort + " is not one of the map's any more");
        }
        try (ServerEvacuation objects = new ServerEvacuation(servers.remote(), space, number, sessions)) {
            takeOut(hostPort, leaving, number, objects, within, progress, may);
            endSpace(hostPort, leaving);
            return objects.done();
        }
    }

    /** The number of a lost server that this process uses the map without, and that has not left; -1 if it is none. */
    private int away(String hostPort) {
        return servers.away().entrySet().stream()
                .filter(each ->
                        each.getValue().equals(hostPort) && !space.layout().hasLeft(each.getKey()))
                .mapToInt(Map.Entry::getKey)
                .findFirst()
                .orElse(-1);
    }

    /** Evicts the objects of servers that had the table and were replaced; requests do so only where they meet them. */
    private MapDrain forgotten(Duration within, Consumer<MapDrain> progress) {
        MapDrain sum = null;
        for (long left = servers.retired(); left != 0; left &= left - 1) {
            int number = Long.numberOfTrailingZeros(left);
            try (ServerEvacuation objects = new ServerEvacuation(servers.remote(), space, number, sessions)) {
                objects.empty(true, () -> {}, TimeUnit.NANOSECONDS.convert(within), progress);
                sum = sum == null ? objects.done() : sum.plus(objects.done());
            }
        }
        return Objects.requireNonNull(sum);
    }

    private void takeOut(
            String hostPort,
            @Nullable MapServer leaving,
            int number,
            ServerEvacuation objects,
            Duration within,
            Consumer<MapDrain> progress,
            IntConsumer may) {
        memory.change(before -> {
            boolean lost = isLost(leaving);
            if (before.hasLeft(number)) {
                if (lost) {
                    // Another process has taken it out meanwhile.
                    return before;
                }
                throw new IllegalArgumentException("server " + hostPort + " has left the map already");
            }
            if (lost) {
                requireSilent(hostPort, number);
            }
            may.accept(number);
            try {
                empty(objects, leaving, TimeUnit.NANOSECONDS.convert(within), progress);
            } catch (Throwable e) {
                takeBack(leaving, e);
                throw e;
            }
            // A process may have opened the map with the server while its objects were looked for.
            may.accept(number);
            if (leaving != null && !lost) {
                // Before the growth is recorded: a process that learned late of the leave would store objects that
                // others cannot find.
                leaveForEver(leaving.line());
            }
            // If this fails, the first server may have recorded it nevertheless: the server then stays as one that is
            // about to leave.
            RegionDirectory.Growth leaves = RegionDirectory.Growth.leaving(number, before.regionsOf(number));
            return memory.tell(before, leaves, MapGrowth.NO_ADDRESS);
        });
    }

    /**
     * Refuses a server that only this process has lost: it hands out blocks to others, so it must be drained as a live
     * one.
     */
    private void requireSilent(String hostPort, int number) {
        if (!answers(hostPort, number)) {
            return;
        }
        throw new MapException("server " + hostPort + " was lost to this process, and answers; open the map again and "
                + "drain it as one that is not lost");
    }

    /** Refuses a server that another process uses: only this one does not reach it. */
    private void requireUnused(String hostPort, int number) {
        MapServiceClient first = servers.first().line();
        boolean unused = keeper.<Boolean>ask(
                first,
                () -> first.with(1, number).call(MapCalls.AWAY, 2)
                        ? Optional.of(first.reply(1) != 0)
                        : Optional.empty());
        if (!unused) {
            throw new MapException("server " + hostPort + " does not answer here, and a process that has the map open "
                    + "uses it, or has done so a short time ago: it stays in the map until none has reached it for the "
                    + "map's time");
        }
    }

    /** Whether a server answers, and has the part of the map of this number. */
    public boolean answers(String hostPort, int number) {
        AtomicInteger there = new AtomicInteger(-1);
        try {
            servers.apart(hostPort, server -> {
                RemoteSpace found = servers.remote().openSpace(server, servers.key());
                there.set(MapDescriptor.decode(found.descriptor(), found.toString())
                        .server());
            });
        } catch (ControlException | MapException e) {
            return false;
        }
        return there.get() == number;
    }

    private static boolean isLost(@Nullable MapServer server) {
        return server == null || server.line().lost();
    }

    private MapServer find(String hostPort) {
        MapServer found = servers.all().stream()
                .filter(each -> each.address().equals(hostPort))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("server " + hostPort + " is not one of the map's, "
                        + servers.all().stream().map(each -> each.address()).toList()));
        if (found.number() < space.layout().madeOn()) {
            throw new IllegalArgumentException("server " + hostPort + " has a part of the map's table, so it cannot be "
                    + "drained; only servers that have joined the map can");
        }
        return found;
    }

    /** @param leaving null if the map was opened without it */
    private void empty(
            ServerEvacuation objects, @Nullable MapServer leaving, long within, Consumer<MapDrain> progress) {
        boolean lost = isLost(leaving);
        Runnable refuse = leaving == null || lost ? () -> {} : () -> refuseBlocks(leaving.line());
        long left = objects.empty(lost, refuse, within, progress);
        // Some objects of a lost server stay, which cannot be marked: requests for them are lost until all processes
        // know that it has left, and empty their slots from then on.
        if (left > 0 && !lost) {
            throw new MapException("after " + EvacuationWorker.LOOKS_IN_VAIN + " looks at the table there are still "
                    + left + " objects on the server, which stays in the map; see farheap kv audit, and try again");
        }
    }

    /**
     * Has the server hand out no more blocks; waits until all requests in flight have begun after their processes knew.
     */
    private void refuseBlocks(MapServiceClient line) {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (!keeper.<Boolean>ask(
                line,
                () -> line.with(1, MapCalls.LEAVES).call(MapCalls.DRAIN, 2)
                        ? Optional.of(line.reply(1) != 0)
                        : Optional.empty())) {
            if (System.nanoTime() - end > 0) {
                throw new MapException(
                        "a process that has the map open has not learned within "
                                + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS) + " s that " + line.space.server()
                                + " is to leave it; nothing has changed, try again when that process continues or its lease ends");
            }
            Uninterruptibles.parkNanos(this, LOOK_NANOS);
        }
    }

    /**
     * Has the server hand out no blocks ever again, also when this process dies or has given its lease up: the next
     * drain of the server finishes this one.
     *
     * @throws MapException if it is lost: then it may hand out blocks to others
     */
    private void leaveForEver(MapServiceClient line) {
        keeper.<Boolean>ask(
                line,
                () -> line.with(1, MapCalls.HAS_LEFT).call(MapCalls.DRAIN, 2) ? Optional.of(true) : Optional.empty());
    }

    /** Has the server hand out blocks again. */
    private void takeBack(@Nullable MapServer server, Throwable why) {
        if (server != null && !isLost(server)) {
            MapServiceClient line = server.line();
            try {
                keeper.<Boolean>ask(
                        line,
                        () -> line.with(1, MapCalls.STAYS).call(MapCalls.DRAIN, 2)
                                ? Optional.of(true)
                                : Optional.empty());
            } catch (RuntimeException e) {
                // The refusal ends with this process's lease.
                why.addSuppressed(e);
            }
        }
    }

    /** Drops the space. Only processes whose lease is about to end still have it open. */
    private void endSpace(String hostPort, @Nullable MapServer left) {
        if (left == null || isLost(left)) {
            return;
        }
        long id = left.space().id();
        try {
            servers.apart(hostPort, server -> servers.remote().dropSpace(server, servers.key(), id));
        } catch (ControlException e) {
            // The space has ended meanwhile.
        }
    }
}
