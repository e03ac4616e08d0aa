package io.farheap.cache.move;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.contract.CacheException;
import io.farheap.control.ControlException;
import io.farheap.lifetime.Closeables;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.migration.PauseScope;
import io.farheap.migration.region.MigrationParticipant;
import io.farheap.migration.region.ReadyMove;
import io.farheap.migration.region.RegionEntry;
import io.farheap.migration.region.RegionMigration;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.verbs.Context;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Moves a cache's regions between its servers, one region after the other. If a server is being left, or the whole
 * cache is paused, the moves hurry: while one region is copied, the next are made ready, and the old copies of earlier
 * ones are given back. Otherwise nothing else runs beside a copy: that would take the time of three threads from the
 * load, not of one. One thread at a time.
 */
public final class CacheMoves {

    /**
     * How many regions are made ready while one is copied. To make one ready takes calls to both servers, one after the
     * other, which last as long as a copy if the processes are busy; a region that is ready and waits costs its server
     * little.
     */
    private static final int MOST_AHEAD = 3;

    /**
     * How some regions move.
     *
     * @param source the server that they leave; null to move all of each region, wherever its parts are
     * @param destinations the servers to try for the next region, the best first
     * @param hasty whether it should end soon, whatever that costs the load
     * @param givesWay asked before each region: if it is true, the others stay
     */
    private record MovePlan(
            @Nullable RemoteServer source,
            Supplier<List<RemoteServer>> destinations,
            MigrationOptions how,
            boolean hasty,
            BooleanSupplier givesWay) {

        static MovePlan to(RemoteServer destination, MigrationOptions how, boolean hasty, BooleanSupplier givesWay) {
            return new MovePlan(null, () -> List.of(destination), how, hasty, givesWay);
        }
    }

    private final RegionTable table;
    private final RegionMigration migration;
    private final CacheProcedures procedures;
    /** The servers that the cache uses now. */
    private final List<RemoteServer> servers;

    /** @param sessions returns the sessions that are open when it is called */
    public CacheMoves(
            Context context,
            RegionTable table,
            List<RemoteServer> servers,
            CacheProcedures procedures,
            Supplier<List<? extends MigrationParticipant>> sessions) {
        this.table = table;
        this.servers = servers;
        this.procedures = procedures;
        this.migration = new RegionMigration(context, table, sessions);
    }

    /** @throws IndexOutOfBoundsException naming a region that does not exist */
    void check(List<Integer> regions) {
        for (int region : regions) {
            if (region < 0 || region >= table.size()) {
                throw new IndexOutOfBoundsException("region " + region + "; the cache has " + table.size());
            }
        }
    }

    /**
     * Moves regions off a server that the cache is going to leave: a call of {@link #offServer}, or of {@link #stay},
     * has to follow.
     *
     * @param givesWay asked before each region: if it is true, the others stay
     */
    MigrationResult leave(
            RemoteServer source,
            List<Integer> regions,
            RemoteServer destination,
            MigrationOptions how,
            BooleanSupplier givesWay) {
        migration.leave(source);
        return moveAll(regions, MovePlan.to(destination, how, true, givesWay), _ -> {});
    }

    /**
     * Makes a move or change that is under way give up soon, and later ones at once: the cache is about to end. Any
     * thread.
     */
    public void stop() {
        migration.stop();
    }

    /** @throws CacheException if it was {@linkplain #stop stopped}. Any thread */
    public void requireGoing() {
        try {
            migration.requireGoing();
        } catch (ControlException e) {
            throw new CacheException(String.valueOf(e.getMessage()), e);
        }
    }

    /** The cache stays connected to the server that it was going to leave. */
    void stay() {
        migration.stay();
    }

    /**
     * Moves regions to a server.
     *
     * @param moved called for each region that has moved; if it throws, the others stay
     * @throws CacheException if a region stays; those before it have moved then
     */
    MigrationResult toServer(
            List<Integer> regions, RemoteServer destination, MigrationOptions how, Consumer<MigrationResult> moved) {
        return moveAll(regions, MovePlan.to(destination, how, how.pause() == PauseScope.CACHE, () -> false), moved);
    }

    /**
     * Moves all regions off a server, each to the server with the most room. The caller ends the server's lease then,
     * and with it the old copies that are left.
     *
     * @param moved called for each region that has moved
     * @throws CacheException if a region stays; those before it have moved then
     */
    MigrationResult offServer(RemoteServer source, MigrationOptions how, Consumer<MigrationResult> moved) {
        List<Integer> regions = IntStream.range(0, table.size())
                .filter(region -> table.get(region).uses(source))
                .boxed()
                .toList();
        migration.leave(source);
        try {
            MovePlan way = new MovePlan(source, () -> byRoom(source), how, true, () -> false);
            MigrationResult total = moveAll(regions, way, moved);
            migration.left(source);
            return total;
        } catch (Throwable e) {
            Closeables.after(e, migration::stay);
            throw e;
        }
    }

    private MigrationResult moveAll(List<Integer> some, MovePlan way, Consumer<MigrationResult> moved) {
        List<Integer> regions = some.stream().distinct().toList();
        MigrationResult total = MigrationResult.NONE;
        long started = System.nanoTime();
        boolean pause = way.how().pause() == PauseScope.CACHE;
        if (pause) {
            migration.pause(!way.how().unpausedReads());
        }
        Deque<MovePrefetcher> ahead = new ArrayDeque<>();
        try {
            for (int i = 0; i < regions.size() && !way.givesWay().getAsBoolean(); i++) {
                ReadyMove ready = ahead.isEmpty() ? null : ahead.removeFirst().take();
                int last = way.hasty() ? Math.min(i + MOST_AHEAD, regions.size() - 1) : i;
                for (int next = i + 1 + ahead.size(); next <= last; next++) {
                    ahead.addLast(ahead(regions.get(next), way));
                }
                MigrationResult one;
                try {
                    one = move(regions.get(i), ready, way);
                } catch (CacheException e) {
                    if (ahead.isEmpty()) {
                        throw e;
                    }
                    // The moves that were made ready hold regions on their destinations, and so perhaps the room that
                    // this one needs.
                    ahead.forEach(MovePrefetcher::close);
                    ahead.clear();
                    one = move(regions.get(i), null, way);
                }
                if (!way.hasty()) {
                    migration.finish();
                }
                total = total.plus(one);
                moved.accept(one);
            }
        } finally {
            ahead.forEach(MovePrefetcher::close);
            if (pause) {
                migration.resume();
                // During the pause the table's entries were split, so the servers' tables lacked these regions.
                procedures.settle();
            }
            migration.finish();
        }
        return pause ? total.paused(System.nanoTime() - started) : total;
    }

    private MovePrefetcher ahead(int region, MovePlan way) {
        List<RemoteServer> first = way.destinations().get();
        return first.isEmpty()
                ? MovePrefetcher.NONE
                : MovePrefetcher.start(() -> migration.ready(region, way.source(), first.getFirst(), way.how()));
    }

    /**
     * Moves a region while no procedure reads or writes it.
     *
     * @param ready the prepared move, or null
     */
    private MigrationResult move(int region, @Nullable ReadyMove ready, MovePlan way) {
        try {
            return procedures.moving(region, () -> moveUnused(region, ready, way));
        } catch (ControlException e) {
            // A server that has the region does not confirm that no procedure uses it: nothing has been tried.
            Closeables.after(e, ready);
            throw stays(region, e);
        }
    }

    private MigrationResult moveUnused(int region, @Nullable ReadyMove ready, MovePlan way) {
        ControlException refused = null;
        if (ready != null) {
            try {
                return migration.migrate(ready, way.how());
            } catch (ControlException e) {
                refused = e;
            }
        }
        for (RemoteServer destination : way.destinations().get()) {
            if (ready == null || destination != ready.destination()) {
                try {
                    return migration.migrate(region, way.source(), destination, way.how());
                } catch (ControlException e) {
                    refused = e;
                }
            }
        }
        if (refused == null) {
            throw new CacheException(
                    "region " + region + " stays on " + way.source() + ": there is no other server; add one");
        }
        throw stays(region, refused);
    }

    private List<RemoteServer> byRoom(RemoteServer except) {
        List<RemoteServer> others = new ArrayList<>(servers);
        others.remove(except);
        others.sort(Comparator.comparingInt(
                server -> regionsOf(server) - server.description().freeRegions()));
        return others;
    }

    /** Makes all sessions able to use these regions' servers. */
    void prepare(List<RemoteRegion> regions) {
        migration.prepare(regions);
    }

    /** Returns when every session's next request will see the table's present capacity. */
    void publish() {
        migration.publish();
    }

    /** Sends the table to the servers of procedures, after regions were added or removed. */
    void changed() {
        procedures.settle();
    }

    /** Gives back all regions from {@code size} on, to which no request is pending. */
    void truncate(int size) {
        migration.truncate(size);
    }

    /** How many regions are on a server, at least in part. Any thread. */
    public int regionsOf(RemoteServer server) {
        return table.count(entry -> entry.uses(server));
    }

    private CacheException stays(int region, ControlException cause) {
        RegionEntry where = table.get(region);
        String on = String.join(
                " and ",
                servers.stream().filter(where::uses).map(RemoteServer::address).toList());
        return new CacheException("region " + region + " stays on " + on + ": " + cause.getMessage(), cause);
    }
}
