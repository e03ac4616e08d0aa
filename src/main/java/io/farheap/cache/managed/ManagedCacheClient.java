package io.farheap.cache.managed;

import io.farheap.cache.contract.CacheException;
import io.farheap.control.ControlException;
import io.farheap.control.SignedGrant;
import io.farheap.control.plane.ControlPlane;
import io.farheap.lifetime.Closeables;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReclaimOutcome;
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
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A cache's client of its manager: it has the cache's allocation, and follows the manager's alerts that a server is
 * about to leave (Redy, section 6.2). On an alert, a thread of its own connects the cache to the servers that have room
 * reserved for it, moves the regions of the leaving server there, gives that server's lease back, and reports to the
 * manager where all regions are.
 *
 * <p>If a server's machine wants memory back, it moves the regions there that are used least, as many as there is room
 * for elsewhere.
 *
 * <p>Reads and writes of the cache never wait for the manager. Any thread.
 */
public final class ManagedCacheClient implements CacheAlerts, AutoCloseable {

    /** Receives the manager's alerts for the application. */
    public interface Listener {

        /** As {@code ReclaimListener.reclaiming}. */
        void reclaiming(Reclaim alert);

        /** As {@code ReclaimListener.reclaimed}. */
        void reclaimed(String server, MigrationResult moved, int left);

        /** The lifetime is about to end. Called on a thread of its own. */
        void expiring(Duration left);

        /** As {@code ReclaimListener.late}. */
        void late(CacheDescription.LateMove move);

        /** As {@code ReclaimListener.wanted}. */
        default void wanted(String server, int regions) {}
    }

    private static final System.Logger LOG = System.getLogger(ManagedCacheClient.class.getName());
    /** Between two renewals of reserved room: one of them may be late. */
    private static final long RENEW_MILLIS = CacheManager.GROWTH_MILLIS / 4;
    /** After so many regions that have moved off a server that wants memory back, it gets that. */
    private static final int MOST_UNRETURNED = 8;

    /** A manager that says that so much less is left has another time of day than before. */
    private static final long WRONG_MILLIS = 60_000;

    private final ManagerConnection manager;
    private final String name;
    private final Allocation allocation;
    private final MigrationOptions how;
    private final Listener listener;
    private final Grants grants;
    private final ManagerReporter telling;
    private final ManagedServers servers;
    private final ReclaimWorker reclaims;
    /** The generation of the last alert by which only some regions were to leave a server. */
    private volatile long followed = -1;

    private volatile @Nullable ManagedCache cache;
    private volatile @Nullable String endedWhy;
    /** Held while the lifetime is set, so that the manager's answer counts before its next message. */
    private final Object lifetimeLock = new Object();
    /** When the cache's lifetime ends, as {@code nanoTime}; 0 for never. */
    private volatile long endsAt;

    /** Requests servers, and receives alerts about them from then on. */
    private ManagedCacheClient(
            ManagerConnection manager, CacheRequest request, MigrationOptions how, Listener listener) {
        this.manager = manager;
        this.name = request.name();
        this.how = how;
        this.listener = listener;
        // Before the allocation: otherwise the manager may take the cache for that of an unknown process, and give it
        // up. A capacity of one byte needs no room that the cache does not have: nothing is reserved.
        grants = new Grants(() -> manager.call(asked -> asked.reallocate(request.cacheId(), 1)));
        servers = new ManagedServers(grants, name);
        reclaims = new ReclaimWorker(name, new ReclaimMoves());
        endsAt = endsAt(request.lifetimeMillis());
        manager.add(request.cacheId(), this);
        try {
            allocation = manager.allocate(request);
            grants.put(allocation);
            telling = new ManagerReporter(
                    manager, allocation, name, grants, bytes -> terms(request, bytes), reclaims::isClosed);
        } catch (Throwable e) {
            manager.remove(request.cacheId());
            if (e instanceof ControlException unknown && mayHaveHappened(unknown)) {
                Closeables.after(e, () -> deallocate(request.cacheId()));
            }
            throw e;
        }
    }

    private static boolean mayHaveHappened(ControlException e) {
        return switch (e.code()) {
            case DEADLINE_EXCEEDED, UNAVAILABLE, CANCELLED -> true;
            default -> false;
        };
    }

    /** The terms on which the cache is allocated, with another capacity and for the rest of its lifetime. */
    private CacheRequest terms(CacheRequest request, long bytes) {
        long ends = endsAt;
        return new CacheRequest(
                request.cacheId(),
                request.clientId(),
                request.name(),
                bytes,
                ends == 0 ? 0 : leftMillis(ends),
                request.place(),
                List.of(telling.candidate()),
                request.tenant());
    }

    /** Returns when a lifetime from now ends, as {@code nanoTime}; 0 for never. */
    private static long endsAt(long lifetimeMillis) {
        return lifetimeMillis == 0 ? 0 : System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(lifetimeMillis) | 1;
    }

    /**
     * Requests servers for a cache.
     *
     * @param tenant the tenant that the cache belongs to; empty for the default one
     * @param lifetime null for ever
     * @param place of this process, as data center, cluster and rack; empty if unknown
     * @param candidates configurations that meet the objective; {@link io.farheap.manager.AllocationCandidate#ANY} if
     *     there is no objective
     * @param how regions move
     * @param listener called at each reclaim, and when the lifetime nearly ends
     * @throws CacheException if no manager answers, or it refuses
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

    /** The servers of the first allocation. */
    public List<String> servers() {
        return allocation.shares().stream().map(RegionShare::address).toList();
    }

    /** How many regions each of the {@link #servers} has in the first allocation. */
    public int[] shares() {
        return allocation.shares().stream().mapToInt(RegionShare::regions).toArray();
    }

    /** The cache follows alerts from now on, and those that have arrived meanwhile. */
    public void manage(ManagedCache managed) {
        cache = managed;
        reclaims.begin();
    }

    @Override
    public void reclaim(Reclaim alert) {
        grants.saw(alert.generation());
        if (alert.targets().isEmpty()) {
            reclaims.announce(alert);
        } else {
            reclaims.add(alert);
        }
    }

    @Override
    public void expiring(long leftMillis) {
        // This thread receives the manager's alerts and answers for all caches, so a listener that calls the manager
        // must not run on it.
        Thread.ofVirtual().name("farheap-expiring-" + name).start(() -> {
            if (!corrects(leftMillis)) {
                guarded(() -> listener.expiring(Duration.ofMillis(leftMillis)));
            }
        });
    }

    /**
     * Tells the manager what is left of the lifetime by the clock of this process, if that is much more than the
     * manager says: its time of day may have been set, and its own clock began with it.
     *
     * @return whether the manager has the longer lifetime now
     */
    private boolean corrects(long leftMillis) {
        if (cache == null) {
            return false;
        }
        synchronized (lifetimeLock) {
            long left = endsAt == 0 ? Long.MAX_VALUE : leftMillis(endsAt);
            if (left - leftMillis < WRONG_MILLIS) {
                return false;
            }
            try {
                manager.call(asked -> asked.extend(cacheId(), endsAt == 0 ? 0 : left));
                LOG.log(
                        System.Logger.Level.WARNING,
                        "the manager had another time of day than when cache " + name
                                + " was allocated, and has the cache's lifetime from this process again");
                return true;
            } catch (ControlException e) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "the manager ends cache " + name + " too early, and does not extend it: " + e.getMessage());
                return false;
            }
        }
    }

    private static long leftMillis(long ends) {
        return Math.max(1, TimeUnit.NANOSECONDS.toMillis(ends - System.nanoTime()));
    }

    @Override
    public void late(CacheDescription.LateMove move) {
        Thread.ofVirtual().name("farheap-late-" + name).start(() -> guarded(() -> listener.late(move)));
    }

    @Override
    public void wanted(String server, int regions) {
        Thread.ofVirtual().name("farheap-wanted-" + name).start(() -> guarded(() -> listener.wanted(server, regions)));
    }

    @Override
    public void lost(String server) {
        ManagedCache managed = cache;
        if (managed != null) {
            managed.doubt(server);
        }
    }

    @Override
    public void unknown() {
        // It is not known either while it is being allocated.
        if (cache != null && endedWhy == null) {
            reclaims.changed();
        }
    }

    @Override
    public void ended(String why) {
        if (endedWhy == null) {
            LOG.log(System.Logger.Level.WARNING, "cache " + name + " is lost: " + why);
        }
        endedWhy = why;
    }

    /** Why the manager has ended the cache, so that all of it is lost; null if it has not. */
    public @Nullable String endedWhy() {
        return endedWhy;
    }

    /** Throws if the manager has ended the cache. */
    private void requireNotEnded() {
        String why = endedWhy;
        if (why != null) {
            throw new CacheException("cache " + name + " has ended: " + why);
        }
    }

    /**
     * Extends the cache's lifetime.
     *
     * @param lifetime from now; null for ever
     */
    public void extend(@Nullable Duration lifetime) {
        requireNotEnded();
        try {
            extendMillis(CacheRequest.millis(lifetime));
        } catch (ControlException | IllegalArgumentException e) {
            throw new CacheException("cache " + name + " is not extended: " + e.getMessage(), e);
        }
    }

    private void extendMillis(long millis) {
        synchronized (lifetimeLock) {
            long ends = endsAt(millis);
            try {
                manager.call(asked -> asked.extend(cacheId(), millis));
                endsAt = ends;
            } catch (ControlException e) {
                if (mayHaveHappened(e) && endsAt != 0 && (ends == 0 || ends - endsAt > 0)) {
                    endsAt = ends;
                }
                throw e;
            }
        }
    }

    private final class ReclaimMoves implements ReclaimWorker.ReclaimHandler {

        @Override
        public boolean tell() {
            return telling.report(managed());
        }

        @Override
        public void move(Reclaim alert) {
            ManagedCache moved = managed();
            boolean again = true;
            MoveTimes times = new MoveTimes();
            try {
                ManagedCacheClient.this.move(moved, alert, times);
            } finally {
                // Also if it has moved only in part.
                try {
                    again = telling.moved(moved, alert, () -> times.outcome(alert.server()));
                } finally {
                    if (again) {
                        changed();
                    }
                }
            }
        }

        /** The cache is set before the worker begins. */
        private ManagedCache managed() {
            return Objects.requireNonNull(cache);
        }
    }

    /** When the regions of one reclaim have moved. */
    private static final class MoveTimes {
        private long began;
        private long ended;
        private boolean any;

        void moves() {
            began = any ? began : System.nanoTime();
            any = true;
        }

        void moved() {
            ended = System.nanoTime();
        }

        ReclaimOutcome outcome(String server) {
            if (!any) {
                return ReclaimOutcome.nothing(server);
            }
            long now = System.nanoTime();
            return new ReclaimOutcome(
                    server, TimeUnit.NANOSECONDS.toMillis(now - began), TimeUnit.NANOSECONDS.toMillis(now - ended));
        }
    }

    private void move(ManagedCache cache, Reclaim alert, MoveTimes times) {
        String server = alert.server();
        if (!cache.servers().contains(server)) {
            // It has moved before this alert came.
            return;
        }
        if (isPartial(alert) && alert.generation() <= followed) {
            // It has come again, over another connection: as many regions would leave again.
            return;
        }
        followed = isPartial(alert) ? alert.generation() : followed;
        grants.put(alert.targets());
        guarded(() -> listener.reclaiming(alert));
        MigrationResult moved = MigrationResult.NONE;
        List<String> connected = new ArrayList<>();
        try {
            for (RegionShare target : alert.targets()) {
                if (mustGiveWay(alert)) {
                    break;
                }
                if (servers.connect(cache, target.address())) {
                    connected.add(target.address());
                }
                moved = moved.plus(moveShare(cache, alert, target, times));
            }
            if (ManagedServers.regionsOn(cache, server).isEmpty()) {
                cache.retire(server);
            } else {
                cache.stay();
            }
        } catch (CacheException | ControlException | IllegalStateException | PosixException | VerbsException e) {
            // This process may be out of descriptors or memory. The manager receives a report of the regions that have
            // moved, and finds other servers.
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cache " + name + " cannot leave memory server " + server + ": " + e.getMessage());
            cache.stay();
        }
        connected.forEach(target -> servers.leaveUnused(cache, target));
        MigrationResult all = moved;
        guarded(() -> listener.reclaimed(
                server, all, ManagedServers.regionsOn(cache, server).size()));
    }

    /** Calls a listener, and logs an exception that it throws. */
    private void guarded(Runnable told) {
        try {
            told.run();
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "a listener of cache " + name + " has thrown an exception", e);
        }
    }

    /**
     * Moves the regions that a target has room for. It gives way to a move off a server that ends before, and for which
     * the manager says that it cannot wait. The cache does not become smaller between the look and the move.
     */
    private MigrationResult moveShare(ManagedCache cache, Reclaim alert, RegionShare target, MoveTimes times) {
        return cache.unmoved(() -> {
            List<Integer> regions = cache.hottestFirst(ManagedServers.regionsOn(cache, alert.server()));
            if (regions.isEmpty()) {
                return MigrationResult.NONE;
            }
            int count = Math.min(regions.size(), target.regions());
            times.moves();
            try {
                return isPartial(alert)
                        ? moveAndReturn(cache, alert, regions.reversed().subList(0, count), target.address())
                        : migrate(cache, alert, regions.subList(0, count), target.address());
            } finally {
                times.moved();
            }
        });
    }

    private MigrationResult migrate(ManagedCache cache, Reclaim alert, List<Integer> regions, String target) {
        return cache.migrate(regions, alert.server(), target, how, () -> mustGiveWay(alert));
    }

    /** Moves regions off a server that stays, which gets the memory of some at a time back. */
    private MigrationResult moveAndReturn(ManagedCache cache, Reclaim alert, List<Integer> regions, String target) {
        MigrationResult moved = MigrationResult.NONE;
        for (int from = 0; from < regions.size() && !mustGiveWay(alert); from += MOST_UNRETURNED) {
            List<Integer> some = regions.subList(from, Math.min(regions.size(), from + MOST_UNRETURNED));
            try {
                moved = moved.plus(migrate(cache, alert, some, target));
            } finally {
                cache.stay();
            }
        }
        return moved;
    }

    /** Whether only as many regions leave the server as the alert has targets for. */
    private static boolean isPartial(Reclaim alert) {
        return alert.reason() == Reclaim.Reason.PRESSURE;
    }

    /** A move off a server that stays gives way to one off that server, too, if it is to end. */
    private boolean mustGiveWay(Reclaim alert) {
        return reclaims.isToLeave(alert.generation(), isPartial(alert) ? "" : alert.server());
    }

    /** The application has changed the cache's servers or capacity: reports that to the manager soon. */
    public void changed() {
        reclaims.changed();
    }

    /** As {@link #changed}, but at once if the manager answers. */
    public void tellNow(ManagedCache cache) {
        try {
            telling.now(cache);
        } catch (ControlException e) {
            changed();
        }
    }

    /**
     * Reserves room for regions on a server that the application has named, and connects the cache to it, however long
     * that takes.
     *
     * @param left the server that all of the regions leave; empty if they leave several
     * @return renews the reservation until the caller closes it
     */
    public RoomRenewal reserve(ManagedCache cache, String left, String server, int regions) {
        requireNotEnded();
        try {
            Allocation reserved = manager.call(asked -> asked.reserve(cacheId(), server, regions));
            grants.put(reserved);
            RoomRenewal room = RoomRenewal.start(
                    name,
                    RENEW_MILLIS,
                    () -> {
                        Allocation renewed = manager.call(asked -> asked.reserve(cacheId(), server, regions));
                        grants.put(renewed);
                    },
                    this::changed,
                    () -> reclaims.isToLeave(reserved.generation(), left));
            try {
                servers.connect(cache, server);
                return room;
            } catch (Throwable e) {
                room.close();
                throw e;
            }
        } catch (ControlException e) {
            throw new CacheException("cache " + name + " stays where it is: " + e.getMessage(), e);
        }
    }

    /**
     * Requests a plan for another capacity or objective. The caller executes it.
     *
     * @param candidates of another objective; empty for the one that it has
     * @throws ControlException as the manager does; BUSY if the caller should try again
     */
    public ManagedReshape reallocate(ManagedCache cache, long bytes, List<AllocationCandidate> candidates) {
        requireNotEnded();
        Allocation plan = manager.call(asked -> asked.reallocate(cacheId(), bytes, candidates));
        grants.put(plan);
        return new ManagedReshape(
                servers,
                telling,
                cache,
                how,
                plan,
                bytes,
                () -> reclaims.isToLeave(plan.generation(), ""),
                this::changed);
    }

    private void deallocate(long cacheId) {
        manager.call(asked -> {
            asked.deallocate(cacheId);
            return cacheId;
        });
    }

    /** Called after the cache's memory was given back. A move that is under way ends by itself. */
    @Override
    public void close() {
        if (!reclaims.close()) {
            return;
        }
        manager.remove(cacheId());
        try {
            deallocate(cacheId());
        } catch (ControlException e) {
            // The manager gives the cache up by itself, once no server reports regions of it.
            LOG.log(
                    System.Logger.Level.WARNING,
                    "the manager cannot be notified that cache " + name + " is closed: " + e.getMessage());
        } finally {
            manager.close();
        }
    }
}
