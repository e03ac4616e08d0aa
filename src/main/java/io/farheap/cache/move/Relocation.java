package io.farheap.cache.move;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.managed.ManagedCache;
import io.farheap.cache.managed.ManagedCacheClient;
import io.farheap.cache.managed.RoomRenewal;
import io.farheap.cache.session.SessionCore;
import io.farheap.control.ControlException;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.contract.RemoteServer;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Adds and retires servers, and moves regions between them: one such change at a time. If the cache has a manager, the
 * manager reserves room first, and receives a report afterwards. Any thread, except in a callback of a session.
 */
public final class Relocation {

    /** The cache, as this class uses it. */
    public interface RelocationHost extends ManagedCache {

        /** @throws IllegalStateException if it is deleted */
        void checkOpen();
    }

    private final RelocationHost cache;
    private final CacheServers servers;
    private final RegionTable table;
    private final CacheMoves moves;
    private final CacheProcedures procedures;
    private final List<SessionCore> sessions;
    /** Null if the cache has no manager. */
    private final @Nullable ManagedCacheClient management;
    /** Held during a migration, and during a change of the servers, the capacity or the configuration. */
    private final ReentrantLock moving = new ReentrantLock();

    private final MoveNotifier news = new MoveNotifier(moving);

    public Relocation(
            RelocationHost cache,
            CacheServers servers,
            RegionTable table,
            CacheMoves moves,
            CacheProcedures procedures,
            List<SessionCore> sessions,
            @Nullable ManagedCacheClient management) {
        this.cache = cache;
        this.servers = servers;
        this.table = table;
        this.moves = moves;
        this.procedures = procedures;
        this.sessions = sessions;
        this.management = management;
    }

    /** Held while the cache changes. */
    public ReentrantLock lock() {
        return moving;
    }

    /** Runs an action with no change meanwhile. */
    public <T> T unmoved(Supplier<T> action) {
        refuseInListener();
        moving.lock();
        try {
            return action.get();
        } finally {
            moving.unlock();
        }
    }

    /** Throws if the calling thread is in a listener of a move, within which the cache cannot be changed. */
    public void refuseInListener() {
        news.refuseInListener();
    }

    /** As {@link #unmoved}, for a cache that has to be open. */
    private <T> T changing(Supplier<T> change) {
        cache.checkOpen();
        return unmoved(() -> {
            cache.checkOpen();
            return change.get();
        });
    }

    /** As {@link io.farheap.cache.Cache#addServer}. */
    public void addServer(String address) {
        try {
            changing(() -> {
                add(address);
                return true;
            });
        } catch (ControlException e) {
            throw new CacheException("cannot use memory server " + address + ": " + e.getMessage(), e);
        }
    }

    private void add(String address) {
        RemoteServer server = servers.attach(address);
        try {
            RegionPlacement.checkRegionSize(server, table.regionBytes());
            servers.add(server).forEach(session -> session.participant.connect(server));
            procedures.join(server);
        } catch (Throwable e) {
            detach(server);
            throw e;
        }
        servers.all().stream()
                .filter(before ->
                        before.address().equals(address) && before.lost() != null && moves.regionsOf(before) == 0)
                .toList()
                .forEach(this::detach);
    }

    private void detach(RemoteServer server) {
        servers.remove(server);
        try {
            procedures.leave(server);
            sessions.forEach(session -> session.participant.disconnect(server));
        } finally {
            server.close();
        }
    }

    /** As {@link io.farheap.cache.Cache#migrate}. */
    public MigrationResult migrate(List<Integer> regions, String to, MigrationOptions how) {
        if (management == null) {
            return move(regions, to, how, RoomRenewal.NONE);
        }
        cache.checkOpen();
        long missing = unmoved(() -> {
            moves.check(regions);
            return regions.stream()
                    .filter(region -> !cache.serverOf(region).equals(to))
                    .count();
        });
        try (RoomRenewal room = missing == 0 ? RoomRenewal.NONE : management.reserve(cache, "", to, (int) missing)) {
            return move(regions, to, how, room);
        } finally {
            management.tellNow(cache);
        }
    }

    private MigrationResult move(List<Integer> regions, String to, MigrationOptions how, RoomRenewal room) {
        return changing(() -> {
            // Check under the lock: the cache may have become smaller before.
            moves.check(regions);
            AtomicLong left = new AtomicLong(regions.stream().distinct().count());
            return moves.toServer(regions, servers.get(to), how, _ -> {
                if (left.decrementAndGet() > 0) {
                    room.requireTime();
                }
            });
        });
    }

    /**
     * Moves regions off a server that {@link #leave} retires then; if it stays in use, the caller calls {@link #stay}.
     *
     * @param givesWay asked before each region: if it is true, the others stay
     */
    public MigrationResult migrate(
            List<Integer> regions, String from, String to, MigrationOptions how, BooleanSupplier givesWay) {
        return changing(() -> {
            moves.check(regions);
            return moves.leave(servers.get(from), regions, servers.get(to), how, givesWay);
        });
    }

    public void stay() {
        unmoved(() -> {
            moves.stay();
            return true;
        });
    }

    /** As {@link io.farheap.cache.Cache#retire}. */
    public MigrationResult retire(String address, MigrationOptions how, Consumer<MigrationResult> moved) {
        if (management == null) {
            return leave(address, how, moved);
        }
        try (RoomRenewal room = reserveElsewhere(management, address)) {
            return leave(address, how, result -> {
                moved.accept(result);
                if (moves.regionsOf(servers.get(address)) > 0) {
                    room.requireTime();
                }
            });
        } finally {
            management.tellNow(cache);
        }
    }

    /** Reserves room on the first of the cache's other servers on which the manager has room for all regions. */
    private RoomRenewal reserveElsewhere(ManagedCacheClient manager, String address) {
        cache.checkOpen();
        RemoteServer source = servers.get(address);
        int regions = moves.regionsOf(source);
        CacheException refused = null;
        for (RemoteServer other : regions == 0 ? List.<RemoteServer>of() : servers.all()) {
            if (other != source) {
                try {
                    return manager.reserve(cache, address, other.address(), regions);
                } catch (CacheException e) {
                    refused = e;
                }
            }
        }
        if (refused != null) {
            throw refused;
        }
        return RoomRenewal.NONE;
    }

    /** Moves all regions off a server, and detaches from it. The manager has planned this, or there is none. */
    public MigrationResult leave(String address, MigrationOptions how, Consumer<MigrationResult> moved) {
        return changing(() -> {
            RemoteServer source = servers.get(address);
            MigrationResult total = moves.offServer(source, how, result -> news.tell(moved, result));
            detach(source);
            return total;
        });
    }
}
