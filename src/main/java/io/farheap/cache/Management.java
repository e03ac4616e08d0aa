package io.farheap.cache;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ControlPlane;
import io.farheap.lifetime.Closing;
import io.farheap.manager.Allocation;
import io.farheap.manager.CacheAlerts;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Candidate;
import io.farheap.manager.ManagerConnection;
import io.farheap.manager.Reclaim;
import io.farheap.manager.Share;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A cache's dealings with its manager: what it was allocated, and what it does when it is told that a server leaves
 * (Redy, section 6.2). Then a thread of its own connects the cache to the servers that have room reserved for it, moves
 * there what is on the one that leaves, gives that one's lease back, and tells the manager where all regions are.
 *
 * <p>The manager is asked at the beginning and told at the end; in between, nobody waits for it. Any thread.
 */
final class Management implements CacheAlerts, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Management.class.getName());
    /** Between two attempts to tell a manager that does not answer. */
    private static final long RETRY_MILLIS = 500;

    private final ManagerConnection manager;
    private final String name;
    private final Allocation allocation;
    private final MigrationOptions how;
    private final @Nullable ReclaimListener listener;
    private final @Nullable Consumer<Duration> expiring;
    /** Guarded by this, as what follows. */
    private final Deque<Reclaim> reclaims = new ArrayDeque<>();

    private @Nullable Owner cache;
    private @Nullable Thread mover;
    private boolean closed;

    /** The cache, as this knows it: as {@code Cache} has them. */
    interface Owner {

        List<String> servers();

        int regions();

        String serverOf(int region);

        /** Whether a region, or some of it, is on a server. */
        boolean uses(int region, String address);

        void addServer(String address);

        MigrationResult migrate(List<Integer> regions, String to, MigrationOptions how);

        void retire(String address);
    }

    /** Asks for servers, and hears of them from then on. */
    private Management(
            ManagerConnection manager,
            CacheRequest request,
            MigrationOptions how,
            @Nullable ReclaimListener listener,
            @Nullable Consumer<Duration> expiring) {
        this.manager = manager;
        this.name = request.name();
        this.how = how;
        this.listener = listener;
        this.expiring = expiring;
        // Before: the manager is not to give the cache up for that of a process which it does not know.
        manager.add(request.cacheId(), this);
        try {
            allocation = manager.call(asked -> asked.allocate(request));
        } catch (Throwable e) {
            manager.remove(request.cacheId());
            if (e instanceof ControlException unknown && unknown.code() == Code.DEADLINE_EXCEEDED) {
                Closing.after(e, () -> deallocate(request.cacheId()));
            }
            throw e;
        }
    }

    /**
     * Asks for servers.
     *
     * @param lifetime null for ever
     * @param place of this process, as data center, cluster and rack; empty where nobody said
     * @param candidates configurations that meet the objective; {@link Candidate#ANY} where there is none
     * @param how regions move
     * @param listener told of each reclaim, or null
     * @param expiring told how much is left when the lifetime is nearly over, or null
     * @throws CacheException where no manager answers, or it refuses
     */
    static Management allocate(
            List<String> managers,
            String name,
            long capacity,
            @Nullable Duration lifetime,
            String place,
            List<Candidate> candidates,
            MigrationOptions how,
            @Nullable ReclaimListener listener,
            @Nullable Consumer<Duration> expiring) {
        try {
            ManagerConnection manager = ManagerConnection.open(managers);
            try {
                CacheRequest request = new CacheRequest(
                        newId(),
                        manager.clientId(),
                        name,
                        capacity,
                        lifetime == null ? 0 : lifetime.toMillis(),
                        place,
                        candidates);
                return new Management(manager, request, how, listener, expiring);
            } catch (Throwable e) {
                Closing.after(e, manager);
                throw e;
            }
        } catch (ControlException e) {
            throw new CacheException("no servers for a cache of " + capacity + " bytes: " + e.getMessage(), e);
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

    long cacheId() {
        return allocation.cacheId();
    }

    /** The configuration that the manager has chosen. */
    Candidate candidate() {
        return allocation.candidate();
    }

    /** Of the beginning. */
    List<String> servers() {
        return allocation.shares().stream().map(Share::address).toList();
    }

    /** How many regions of the beginning each of the {@link #servers} has. */
    int[] shares() {
        return allocation.shares().stream().mapToInt(Share::regions).toArray();
    }

    /** From now on the cache moves when it is told to, and where it was told meanwhile. */
    synchronized void manage(Owner managed) {
        cache = managed;
        startMover();
    }

    @Override
    public synchronized void reclaim(Reclaim alert) {
        reclaims.removeIf(earlier -> earlier.server().equals(alert.server()));
        reclaims.add(alert);
        startMover();
    }

    @Override
    public void expiring(long leftMillis) {
        if (expiring != null) {
            expiring.accept(Duration.ofMillis(leftMillis));
        }
    }

    /** @param lifetime from now; null for ever */
    void extend(@Nullable Duration lifetime) {
        try {
            manager.call(asked -> asked.extend(cacheId(), lifetime == null ? 0 : lifetime.toMillis()));
        } catch (ControlException | IllegalArgumentException e) {
            throw new CacheException("cache " + name + " is not extended: " + e.getMessage(), e);
        }
    }

    /** With the lock. */
    private void startMover() {
        if (cache != null && mover == null && !closed && !reclaims.isEmpty()) {
            mover = new Thread(this::move, "farheap-reclaim-" + name);
            mover.setDaemon(true);
            mover.start();
        }
    }

    private void move() {
        for (Reclaim alert = next(); alert != null; alert = next()) {
            Owner moved = Objects.requireNonNull(cache);
            try {
                move(moved, alert);
            } catch (Throwable e) {
                LOG.log(
                        System.Logger.Level.ERROR,
                        "cache " + name + " does not get off memory server " + alert.server(),
                        e);
            }
            tell(moved, alert);
        }
    }

    private synchronized @Nullable Reclaim next() {
        Reclaim alert = closed ? null : reclaims.poll();
        if (alert == null) {
            mover = null;
        }
        return alert;
    }

    private void move(Owner cache, Reclaim alert) {
        String server = alert.server();
        if (!cache.servers().contains(server)) {
            // It has moved before this alert came.
            return;
        }
        MigrationResult moved = MigrationResult.NONE;
        try {
            for (Share target : alert.targets()) {
                if (!cache.servers().contains(target.address())) {
                    cache.addServer(target.address());
                }
                List<Integer> regions = regionsOn(cache, server);
                int share = Math.min(regions.size(), target.regions());
                moved = moved.plus(cache.migrate(regions.subList(0, share), target.address(), how));
            }
            if (regionsOn(cache, server).isEmpty()) {
                cache.retire(server);
            }
        } catch (CacheException | IllegalStateException e) {
            // The manager hears what has moved, and finds other servers.
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cache " + name + " does not get off memory server " + server + ": " + e.getMessage());
        }
        if (listener != null) {
            listener.reclaimed(server, moved, regionsOn(cache, server).size());
        }
    }

    private static List<Integer> regionsOn(Owner cache, String server) {
        List<Integer> regions = new ArrayList<>();
        for (int region = 0; region < cache.regions(); region++) {
            if (cache.uses(region, server)) {
                regions.add(region);
            }
        }
        return regions;
    }

    /** Again until the manager has heard it, or the reclaim is over. */
    private void tell(Owner cache, Reclaim alert) {
        while (!isClosed()) {
            // What has moved in part needs the server that leaves as much as what has not.
            Map<String, Integer> regions = IntStream.range(0, cache.regions())
                    .boxed()
                    .collect(Collectors.toMap(
                            region -> cache.uses(region, alert.server()) ? alert.server() : cache.serverOf(region),
                            region -> 1,
                            Integer::sum,
                            TreeMap::new));
            List<Share> shares = regions.entrySet().stream()
                    .map(server -> new Share(server.getKey(), server.getValue()))
                    .toList();
            try {
                manager.call(told -> told.moved(cacheId(), alert.generation(), allocation.capacity(), shares));
                return;
            } catch (ControlException e) {
                if (e.code() == Code.NOT_FOUND || e.code() == Code.INVALID_ARGUMENT || e.code() == Code.BUSY) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "the manager does not take where cache " + name + " is: " + e.getMessage());
                    return;
                }
            }
            try {
                Thread.sleep(RETRY_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void deallocate(long cacheId) {
        manager.call(asked -> {
            asked.deallocate(cacheId);
            return cacheId;
        });
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** After the cache's memory was given back. A move that is under way ends by itself. */
    @Override
    public void close() {
        Thread moving;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            moving = mover;
        }
        if (moving != null && moving != Thread.currentThread()) {
            moving.interrupt();
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
