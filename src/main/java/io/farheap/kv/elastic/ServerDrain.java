package io.farheap.kv.elastic;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.keeper.MapKeeperTasks;
import io.farheap.kv.keeper.MapServer;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.operation.MoveSteps;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.thread.Uninterruptibles;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes a memory server out of a map while it is used. Only one that has joined: those that the map was made on have
 * its table.
 *
 * <ol>
 *   <li>The server hands out no block any more, and says so to all processes in their beats. From then on they take
 *       none of its blocks into use, and it knows when no request in flight has begun before: no slot will name one
 *       anew.
 *   <li>What slots name there is moved, the latest used first, until a quarter of the time is left, or the rest is
 *       colder than what the smaller map would keep ({@link TableSample}); {@link MoveSteps} has how.
 *   <li>What is left is evicted: nothing is known to be there any more.
 *   <li>The server is told that it has left, and the map's first server notes it. Each process forgets its regions,
 *       says so once no request in flight may know of them, and gives its lease up. When all have, the space there is
 *       dropped.
 * </ol>
 *
 * <p>Who dies in the midst of it leaves a server that is as it was, with fewer objects, or one that has left, whose
 * space ends with it or when it joins again. One that is lost is taken out in the same way: what it had is evicted. Any
 * thread, one at a time.
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
     * @param hostPort as it joined by
     * @param within what moving and evicting may take together
     * @param progress told now and then
     */
    public MapDrain drain(String hostPort, Duration within, Consumer<MapDrain> progress) {
        boolean without = servers.goesWithout(hostPort);
        MapServer leaving = without ? null : find(hostPort);
        int number = leaving == null ? space.without() : leaving.number();
        if (number < 0) {
            throw new IllegalArgumentException("server " + hostPort + " is not one of the map's any more");
        }
        try (ServerEvacuation objects = new ServerEvacuation(servers.remote(), space, number, sessions)) {
            takeOut(hostPort, leaving, number, objects, within, progress);
            endSpace(hostPort, leaving);
            return objects.done();
        }
    }

    private void takeOut(
            String hostPort,
            @Nullable MapServer leaving,
            int number,
            ServerEvacuation objects,
            Duration within,
            Consumer<MapDrain> progress) {
        memory.change(before -> {
            if (before.hasLeft(number)) {
                throw new IllegalArgumentException("server " + hostPort + " has left the map already");
            }
            boolean lost = isLost(leaving);
            if (lost) {
                requireSilent(hostPort);
            }
            try {
                empty(objects, leaving, TimeUnit.NANOSECONDS.convert(within), progress);
            } catch (Throwable e) {
                takeBack(leaving, e);
                throw e;
            }
            if (leaving != null && !lost) {
                // First: whoever hears late that it has left would take blocks there that others find nothing in.
                leaveForEver(leaving.line());
            }
            // Where this fails, the first server may have noted it nevertheless: it stays as one that is to leave.
            RegionDirectory.Growth leaves = RegionDirectory.Growth.leaving(number, before.regionsOf(number));
            return memory.tell(before, leaves, MapGrowth.NO_ADDRESS);
        });
    }

    /** A server that is lost to this process alone hands out blocks to others: that is drained like any other. */
    private void requireSilent(String hostPort) {
        try {
            servers.apart(hostPort, server -> servers.remote().openSpace(server, servers.key()));
        } catch (ControlException e) {
            return;
        }
        throw new MapException("server " + hostPort + " was lost to this process, and answers; open the map anew and "
                + "drain it as one that is not lost");
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

    /** @param leaving null where the map was opened without it */
    private void empty(
            ServerEvacuation objects, @Nullable MapServer leaving, long within, Consumer<MapDrain> progress) {
        boolean lost = isLost(leaving);
        Runnable refuse = leaving == null || lost ? () -> {} : () -> refuseBlocks(leaving.line());
        long left = objects.empty(lost, refuse, within, progress);
        // Of a lost server some stay: misses, which go as whatever names no region of the map.
        if (left > 0 && !lost) {
            throw new MapException("after " + EvacuationWorker.LOOKS_IN_VAIN + " looks at the table there are still "
                    + left + " objects on the server, which stays in the map; see farheap kv audit, and try again");
        }
    }

    /** From now on no block of the server is taken into use; waits until no request has begun before. */
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
                                + " is to leave it; nothing has changed, try again when that process goes on or its lease ends");
            }
            Uninterruptibles.parkNanos(this, LOOK_NANOS);
        }
    }

    /**
     * It hands out no block either when this process has given its lease up, or dies: the next drain finishes this one.
     *
     * @throws MapException where it is lost: then it may hand blocks out to others
     */
    private void leaveForEver(MapServiceClient line) {
        keeper.<Boolean>ask(
                line,
                () -> line.with(1, MapCalls.HAS_LEFT).call(MapCalls.DRAIN, 2) ? Optional.of(true) : Optional.empty());
    }

    /** Its blocks are used again. */
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
                // It ends with this process's lease.
                why.addSuppressed(e);
            }
        }
    }

    /** Nobody has it open any more but those whose lease is about to end. */
    private void endSpace(String hostPort, @Nullable MapServer left) {
        if (left == null || isLost(left)) {
            return;
        }
        long id = left.space().id();
        try {
            servers.apart(hostPort, server -> servers.remote().dropSpace(server, servers.key(), id));
        } catch (ControlException e) {
            // It has ended meanwhile, with all that it had.
        }
    }
}
