package io.farheap.cache.managed;

import io.farheap.cache.contract.CacheException;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.SignedGrant;
import io.farheap.control.plane.ControlPlane;
import io.farheap.lifetime.Closeables;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.RegionShare;
import io.farheap.manager.client.CacheAlerts;
import io.farheap.manager.client.ManagerConnection;
import io.farheap.memory.ByteSize;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.posix.PosixException;
import io.farheap.verbs.VerbsException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A cache's dealings with its manager: what it was allocated, and what it does when it is told that a server leaves
 * (Redy, section 6.2). Then a thread of its own connects the cache to the servers that have room reserved for it, moves
 * there what is on the one that leaves, gives that one's lease back, and tells the manager where all regions are.
 *
 * <p>The manager is asked at the beginning and told at the end; in between, nobody waits for it. Any thread.
 */
public final class ManagedCacheClient implements CacheAlerts, AutoCloseable {

    /** The application, as far as it learns what its manager does. */
    public interface Listener {

        /** As {@code ReclaimListener.reclaiming}. */
        void reclaiming(Reclaim alert);

        /** As {@code ReclaimListener.reclaimed}. */
        void reclaimed(String server, MigrationResult moved, int left);

        /** The lifetime is nearly over; on a thread of its own. */
        void expiring(Duration left);
    }

    private static final System.Logger LOG = System.getLogger(ManagedCacheClient.class.getName());
    private final ManagerConnection manager;
    private final String name;
    private final Allocation allocation;
    private final MigrationOptions how;
    private final Listener listener;
    private final Grants grants;
    private final ManagerReporter telling;
    private final ManagedServers servers;
    private final ReclaimWorker reclaims;
    private volatile @Nullable ManagedCache cache;
    private volatile @Nullable String endedWhy;

    /** Asks for servers, and hears of them from then on. */
    private ManagedCacheClient(
            ManagerConnection manager, CacheRequest request, MigrationOptions how, Listener listener) {
        this.manager = manager;
        this.name = request.name();
        this.how = how;
        this.listener = listener;
        // Before: the manager is not to give the cache up for that of a process which it does not know.
        // One byte needs no room that the cache has not: nothing is reserved.
        grants = new Grants(() -> manager.call(asked -> asked.reallocate(request.cacheId(), 1)));
        servers = new ManagedServers(grants, name);
        reclaims = new ReclaimWorker(name, new ReclaimMoves());
        manager.add(request.cacheId(), this);
        try {
            allocation = manager.allocate(request);
            grants.put(allocation);
            telling = new ManagerReporter(manager, allocation, name, reclaims::isClosed);
        } catch (Throwable e) {
            manager.remove(request.cacheId());
            if (e instanceof ControlException unknown && unknown.code() == Code.DEADLINE_EXCEEDED) {
                Closeables.after(e, () -> deallocate(request.cacheId()));
            }
            throw e;
        }
    }

    /**
     * Asks for servers.
     *
     * @param tenant to whom the cache belongs; empty for the default one
     * @param lifetime null for ever
     * @param place of this process, as data center, cluster and rack; empty where nobody said
     * @param candidates configurations that meet the objective; {@link io.farheap.manager.AllocationCandidate#ANY}
     *     where there is none
     * @param how regions move
     * @param listener called at each reclaim, and when the lifetime nearly ends
     * @throws CacheException where no manager answers, or it refuses
     */
    public static ManagedCacheClient allocate(
            List<String> managers,
            String tenant,
            String name,
            long capacity,
            @Nullable Duration lifetime,
            String place,
            List<AllocationCandidate> candidates,
            MigrationOptions how,
            Listener listener) {
        try {
            ManagerConnection manager = ManagerConnection.open(managers);
            try {
                CacheRequest request = new CacheRequest(
                        newId(),
                        manager.clientId(),
                        name,
                        capacity,
                        CacheRequest.millis(lifetime),
                        place,
                        candidates,
                        tenant);
                return new ManagedCacheClient(manager, request, how, listener);
            } catch (Throwable e) {
                Closeables.after(e, manager);
                throw e;
            }
        } catch (ControlException e) {
            throw new CacheException("no servers for a cache of " + ByteSize.text(capacity) + ": " + e.getMessage(), e);
        }
    }

    private static long newId() {
        SecureRandom random = new SecureRandom();
        long id = ControlPlane.NO_CACHE;
        while (id == ControlPlane.NO_CACHE) {
            id = random.nextLong();
        }
        return id;
    }

    public long cacheId() {
        return allocation.cacheId();
    }

    /** The configuration that the manager has chosen. */
    public AllocationCandidate candidate() {
        return telling.candidate();
    }

    /** As {@link Grants#show}. */
    public <T> T granted(String address, Function<SignedGrant, T> action) {
        return grants.show(address, action);
    }

    /** Of the beginning. */
    public List<String> servers() {
        return allocation.shares().stream().map(RegionShare::address).toList();
    }

    /** How many regions of the beginning each of the {@link #servers} has. */
    public int[] shares() {
        return allocation.shares().stream().mapToInt(RegionShare::regions).toArray();
    }

    /** From now on the cache moves when it is told to, and where it was told meanwhile. */
    public void manage(ManagedCache managed) {
        cache = managed;
        reclaims.begin();
    }

    @Override
    public void reclaim(Reclaim alert) {
        reclaims.add(alert);
    }

    @Override
    public void expiring(long leftMillis) {
        // This thread hears the manager for all caches, and takes its answers too: a listener may ask for more time.
        Thread.ofVirtual()
                .name("farheap-expiring-" + name)
                .start(() -> guarded(() -> listener.expiring(Duration.ofMillis(leftMillis))));
    }

    @Override
    public void lost(String server) {
        ManagedCache managed = cache;
        if (managed != null) {
            managed.doubt(server);
        }
    }

    @Override
    public void ended(String why) {
        if (endedWhy == null) {
            LOG.log(System.Logger.Level.WARNING, "cache " + name + " is lost: " + why);
        }
        endedWhy = why;
    }

    /** Why all of the cache is lost, where its manager has said so; else null. */
    public @Nullable String endedWhy() {
        return endedWhy;
    }

    /** A manager has nothing more for a cache that it has ended. */
    private void requireNotEnded() {
        String why = endedWhy;
        if (why != null) {
            throw new CacheException("cache " + name + " has ended: " + why);
        }
    }

    /** @param lifetime from now; null for ever */
    public void extend(@Nullable Duration lifetime) {
        requireNotEnded();
        try {
            manager.call(asked -> asked.extend(cacheId(), CacheRequest.millis(lifetime)));
        } catch (ControlException | IllegalArgumentException e) {
            throw new CacheException("cache " + name + " is not extended: " + e.getMessage(), e);
        }
    }

    private final class ReclaimMoves implements ReclaimWorker.ReclaimHandler {

        @Override
        public void tell() {
            telling.changed(managed());
        }

        @Override
        public void move(Reclaim alert) {
            ManagedCache moved = managed();
            boolean anew = true;
            try {
                ManagedCacheClient.this.move(moved, alert);
            } finally {
                // Also where it has moved in part.
                try {
                    anew = telling.moved(moved, alert);
                } finally {
                    if (anew) {
                        changed();
                    }
                }
            }
        }

        /** There is one before anything is done. */
        private ManagedCache managed() {
            return Objects.requireNonNull(cache);
        }
    }

    private void move(ManagedCache cache, Reclaim alert) {
        String server = alert.server();
        if (!cache.servers().contains(server)) {
            // It has moved before this alert came.
            return;
        }
        grants.put(alert.targets());
        guarded(() -> listener.reclaiming(alert));
        MigrationResult moved = MigrationResult.NONE;
        List<String> connected = new ArrayList<>();
        try {
            for (RegionShare target : alert.targets()) {
                if (servers.connect(cache, target.address())) {
                    connected.add(target.address());
                }
                moved = moved.plus(moveShare(cache, server, target));
            }
            if (ManagedServers.regionsOn(cache, server).isEmpty()) {
                cache.retire(server);
            } else {
                cache.stay();
            }
        } catch (CacheException | ControlException | IllegalStateException | PosixException | VerbsException e) {
            // This process may be out of descriptors or memory. The manager hears what has moved, and finds other
            // servers.
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cache " + name + " does not get off memory server " + server + ": " + e.getMessage());
            cache.stay();
        }
        connected.forEach(target -> servers.leaveUnused(cache, target));
        MigrationResult all = moved;
        guarded(() -> listener.reclaimed(
                server, all, ManagedServers.regionsOn(cache, server).size()));
    }

    /** What is thrown by one that is only told keeps nothing from going on. */
    private void guarded(Runnable told) {
        try {
            told.run();
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "a listener of cache " + name + " has thrown an exception", e);
        }
    }

    /** The cache does not become smaller between the look and the move. */
    private MigrationResult moveShare(ManagedCache cache, String server, RegionShare target) {
        return cache.unmoved(() -> {
            List<Integer> regions = cache.hottestFirst(ManagedServers.regionsOn(cache, server));
            int share = Math.min(regions.size(), target.regions());
            return cache.migrate(regions.subList(0, share), server, target.address(), how);
        });
    }

    /** Its servers or its capacity have changed by the application's wish: the manager hears of it soon. */
    public void changed() {
        reclaims.changed();
    }

    /** As {@link #changed}, but at once where the manager answers. */
    public void tellNow(ManagedCache cache) {
        try {
            telling.now(cache);
        } catch (ControlException e) {
            changed();
        }
    }

    /** The application wants regions on a server: then the manager has room for them there, and the cache a grant. */
    public void reserve(ManagedCache cache, String server, int regions) {
        requireNotEnded();
        try {
            Allocation reserved = manager.call(asked -> asked.reserve(cacheId(), server, regions));
            grants.put(reserved);
            servers.connect(cache, server);
        } catch (ControlException e) {
            throw new CacheException("cache " + name + " stays where it is: " + e.getMessage(), e);
        }
    }

    /**
     * Asks for what the cache needs to be another; that is to follow.
     *
     * @param candidates of another objective; empty for the one that it has
     * @throws ControlException as the manager does; BUSY where it is to be asked again
     */
    public ManagedReshape reallocate(ManagedCache cache, long bytes, List<AllocationCandidate> candidates) {
        requireNotEnded();
        Allocation plan = manager.call(asked -> asked.reallocate(cacheId(), bytes, candidates));
        grants.put(plan);
        return new ManagedReshape(servers, telling, cache, how, plan, bytes, reclaims::isToLeave, this::changed);
    }

    private void deallocate(long cacheId) {
        manager.call(asked -> {
            asked.deallocate(cacheId);
            return cacheId;
        });
    }

    /** After the cache's memory was given back. A move that is under way ends by itself. */
    @Override
    public void close() {
        if (!reclaims.close()) {
            return;
        }
        manager.remove(cacheId());
        try {
            deallocate(cacheId());
        } catch (ControlException e) {
            // It gives the cache up by itself, when no server says any more that it holds something.
            LOG.log(
                    System.Logger.Level.WARNING,
                    "the manager does not hear that cache " + name + " is closed: " + e.getMessage());
        } finally {
            manager.close();
        }
    }
}
