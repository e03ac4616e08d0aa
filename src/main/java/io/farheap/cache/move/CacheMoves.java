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
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Moves a cache's regions between its servers, one region after the other. Off a server that is left, or where the
 * whole cache waits, all haste is made: while one is copied, the next are made ready, and the old copies of those
 * before are given back. Elsewhere nothing goes on beside a copy: that would cost the load three threads' time in place
 * of one's. One thread at a time.
 */
public final class CacheMoves {

    /**
     * So many regions are made ready while one is copied. That takes calls to both servers, one after the other, as
     * long as some copies where processes are busy; what is ready waits, which costs its server little.
     */
    private static final int MOST_AHEAD = 3;

    /**
     * How some regions move.
     *
     * @param source which they are to leave; null where all of each is to move
     * @param destinations those to try, the best first, for the next region
     * @param hasty whether it is to end soon, whatever that costs the load
     */
    private record MovePlan(
            @Nullable RemoteServer source,
            Supplier<List<RemoteServer>> destinations,
            MigrationOptions how,
            boolean hasty) {

        static MovePlan to(RemoteServer destination, MigrationOptions how, boolean hasty) {
            return new MovePlan(null, () -> List.of(destination), how, hasty);
        }
    }

    private final RegionTable table;
    private final RegionMigration migration;
    private final CacheProcedures procedures;
    /** Those that the cache uses now. */
    private final List<RemoteServer> servers;

    /** @param sessions those that are open when it is called */
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

    /** @throws IndexOutOfBoundsException naming a region that there is not */
    void check(List<Integer> regions) {
        for (int region : regions) {
            if (region < 0 || region >= table.size()) {
                throw new IndexOutOfBoundsException("region " + region + "; the cache has " + table.size());
            }
        }
    }

    /** Regions off a server that the cache is to leave: {@link #offServer}, or {@link #stay}, has to follow. */
    MigrationResult leave(RemoteServer source, List<Integer> regions, RemoteServer destination, MigrationOptions how) {
        migration.leave(source);
        return moveAll(regions, MovePlan.to(destination, how, true), _ -> {});
    }

    /**
     * What moves or changes gives up soon, and so does what is to from now on: the cache is about to end. Any thread.
     */
    public void stop() {
        migration.stop();
    }

    /** @throws CacheException where it was {@linkplain #stop stopped}. Any thread */
    public void requireGoing() {
        try {
            migration.requireGoing();
        } catch (ControlException e) {
            throw new CacheException(String.valueOf(e.getMessage()), e);
        }
    }

    /** The cache stays connected to servers that it was to leave. */
    void stay() {
        migration.stay();
    }

    /** @throws CacheException where a region stays, after which those before it have moved */
    MigrationResult toServer(List<Integer> regions, RemoteServer destination, MigrationOptions how) {
        return moveAll(regions, MovePlan.to(destination, how, how.pause() == PauseScope.CACHE), _ -> {});
    }

    /**
     * Moves everything off a server, each region to the one that has most room. The server's lease is to end then: it
     * has the copies that are left.
     *
     * @param moved told of each region that has moved
     * @throws CacheException where a region stays, after which those before it have moved
     */
    MigrationResult offServer(RemoteServer source, MigrationOptions how, Consumer<MigrationResult> moved) {
        List<Integer> regions = IntStream.range(0, table.size())
                .filter(region -> table.get(region).uses(source))
                .boxed()
                .toList();
        migration.leave(source);
        try {
            MigrationResult total = moveAll(regions, new MovePlan(source, () -> byRoom(source), how, true), moved);
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
            for (int i = 0; i < regions.size(); i++) {
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
                    // Those behind it may have what it needs.
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
                // Regions that waited were in two places, as servers know them.
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
     * No procedure reads or writes the region meanwhile.
     *
     * @param ready null where nothing is
     */
    private MigrationResult move(int region, @Nullable ReadyMove ready, MovePlan way) {
        try {
            return procedures.moving(region, () -> moveUnused(region, ready, way));
        } catch (ControlException e) {
            // A server that has it does not say that no procedure uses it: nothing has been tried.
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

    /** Sessions can use these regions' servers. */
    void prepare(List<RemoteRegion> regions) {
        migration.prepare(regions);
    }

    /** Every session has seen the table's capacity before its next request. */
    void publish() {
        migration.publish();
    }

    /** The table has more regions, or fewer: procedures' servers are told. */
    void changed() {
        procedures.settle();
    }

    /** Gives back all regions but so many, beyond which no request is. */
    void truncate(int size) {
        migration.truncate(size);
    }

    /** How many regions are on a server, or some of them. Any thread. */
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
