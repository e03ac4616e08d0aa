package io.farheap.server.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ServerStatus.LeaseStatus;
import io.farheap.control.plane.ControlPlane;
import io.farheap.server.fence.FailPoint;
import io.farheap.server.fence.RetiredResources;
import io.farheap.server.pool.RegionPool;
import io.farheap.server.pool.RegionZeroer;
import io.farheap.thread.FailSafeLog;
import io.farheap.thread.ThreadJoiner;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The open leases, and the threads that end those that are not renewed. Thread-safe.
 *
 * <p>The reaper only looks for them: a lease ends on one of a few other threads, since its client may be stopped in the
 * middle of an operation. If the device is still busy after a first try, {@link RetiredResources} tries again, and the
 * lease is kept until it is fenced, so that a caller that asks for a fence learns that there is none yet.
 * {@link RegionZeroer} then makes its regions free.
 */
public final class Leases {

    private static final System.Logger LOG = System.getLogger(Leases.class.getName());
    private static final long MAX_PAUSE_NANOS = 200_000_000L;
    private static final int ENDING_THREADS = 8;
    private static final long IDLE_SECONDS = 10;
    /**
     * How long {@link #stop} waits for all leases to be tried once. The device may wait for each client that is
     * stopped.
     */
    private static final long FIRST_TRIES_NANOS = 20_000_000_000L;
    /** How long it tries again then. */
    private static final long LAST_TRIES_NANOS = 2_000_000_000L;

    private final Map<Long, ClientLease> leases = new ConcurrentHashMap<>();
    private final RegionPool pool;
    private final RetiredResources retired;
    private final Thread reaper;
    private final ThreadPoolExecutor ending;
    private final long pauseNanos;
    private final long pullNanos;
    public final FailPoint fault = new FailPoint();
    /** Finds other things that have expired, such as spaces, and ends them on other threads. */
    private volatile Consumer<Executor> others = elsewhere -> {};

    /** Called for each lease that has ended. */
    private volatile LongConsumer told = lease -> {};

    private volatile boolean stopped;

    /** @param pullNanos how long a prepared pull waits to be begun */
    public Leases(long durationNanos, long pullNanos, RegionPool pool, RetiredResources retired) {
        this.pool = pool;
        this.retired = retired;
        this.pullNanos = pullNanos;
        pauseNanos = Math.min(MAX_PAUSE_NANOS, durationNanos / 4);
        ending = new ThreadPoolExecutor(
                ENDING_THREADS, ENDING_THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "farheap-lease-end");
                    thread.setDaemon(true);
                    return thread;
                });
        ending.allowCoreThreadTimeOut(true);
        reaper = new Thread(this::reap, "farheap-lease-reaper");
        reaper.setDaemon(true);
        reaper.start();
    }

    /**
     * @param looks finds other things that have expired; called often with an executor on which to end them, and never
     *     waits
     */
    public void alsoReap(Consumer<Executor> looks) {
        others = looks;
    }

    /** @param listener called for each lease of which no call is executed any more, on the threads that end leases */
    public void alsoTell(LongConsumer listener) {
        told = listener;
    }

    public void add(ClientLease lease) {
        leases.put(lease.id(), lease);
        if (stopped) {
            end(lease);
            throw new ControlException(Code.CANCELLED, "the server is stopping");
        }
    }

    /** How many regions the caches of managers hold, by the cache's id; 0 for a cache that has only a lease. */
    public Map<Long, Integer> regionsByCache() {
        Map<Long, Integer> regions = new HashMap<>();
        for (ClientLease lease : leases.values()) {
            if (lease.cacheId() != ControlPlane.NO_CACHE) {
                regions.merge(lease.cacheId(), lease.regions(), Integer::sum);
            }
        }
        return regions;
    }

    /**
     * The status of all leases, for observers.
     *
     * @param callNanos time that server threads have spent on calls of the lease with an id
     */
    public List<LeaseStatus> statuses(LongUnaryOperator callNanos) {
        return leases.values().stream()
                .map(lease -> lease.status(callNanos.applyAsLong(lease.id())))
                .toList();
    }

    public ClientLease require(long id) {
        ClientLease lease = leases.get(id);
        if (lease == null) {
            throw ClientLease.notOpen();
        }
        return lease;
    }

    /** The lease or null. */
    public @Nullable ClientLease find(long id) {
        return leases.get(id);
    }

    /**
     * Ends a lease at its client's request. The client waits until its regions are free again, but not for operations
     * that do not end.
     */
    public void close(ClientLease lease) {
        boolean first = lease.beginEnding();
        List<Integer> regions = null;
        try {
            regions = fenced(lease);
        } finally {
            if (regions == null && first) {
                later(lease);
            }
        }
        if (regions != null) {
            pool.giveBack(regions);
        }
    }

    /** Ends a lease for whose end no client waits. */
    private void end(ClientLease lease) {
        boolean done = false;
        try {
            done = ended(lease);
        } catch (Throwable e) {
            FailSafeLog.log(
                    LOG,
                    "an error while the lease of client " + lease.clientName() + " was ended; it is tried again",
                    e);
        } finally {
            if (!done) {
                later(lease);
            }
        }
    }

    private boolean ended(ClientLease lease) {
        List<Integer> regions = fenced(lease);
        if (regions == null) {
            return false;
        }
        if (!stopped) {
            pool.giveBackLater(regions);
        }
        return true;
    }

    /**
     * Fences a lease. The lease is listed until its regions are announced to the pool, because a thread that waits for
     * them checks first the leases, then the pool.
     *
     * @return the regions, which are to be given back, or null if the device is busy
     */
    private @Nullable List<Integer> fenced(ClientLease lease) {
        if (!lease.end()) {
            return null;
        }
        List<Integer> regions = lease.takeRegions();
        forget(lease);
        return regions;
    }

    private void forget(ClientLease lease) {
        if (!leases.remove(lease.id(), lease)) {
            return;
        }
        try {
            told.accept(lease.id());
        } catch (Throwable e) {
            FailSafeLog.log(
                    LOG,
                    "an error while services were notified that the lease of client " + lease.clientName()
                            + " has ended",
                    e);
        }
    }

    private void later(ClientLease lease) {
        boolean kept = false;
        try {
            retired.add("the lease of client " + lease.clientName(), () -> {
                boolean done = ended(lease);
                if (done) {
                    FailSafeLog.log(
                            LOG,
                            System.Logger.Level.INFO,
                            () -> "the memory that client " + lease.clientName() + " held is freed now");
                }
                return done;
            });
            kept = true;
        } finally {
            if (!kept) {
                lease.notEnding();
            }
        }
        FailSafeLog.log(
                LOG,
                System.Logger.Level.WARNING,
                () -> "the lease of client " + lease.clientName()
                        + " has ended, but the device is still busy with it, as if a process were stopped in the middle"
                        + " of an operation; " + lease.regions()
                        + " region(s) stay withdrawn until that operation ends");
    }

    private void reap() {
        while (!stopped) {
            LockSupport.parkNanos(this, pauseNanos);
            try {
                for (ClientLease lease : leases.values()) {
                    reap(lease);
                }
                others.accept(ending);
            } catch (Throwable e) {
                FailSafeLog.log(LOG, "an error in the thread that ends leases; it continues", e);
            }
        }
    }

    /** An error with one lease must not keep the thread from looking at the next. */
    private void reap(ClientLease lease) {
        try {
            if (stopped) {
                return;
            }
            fault.strike();
            if (lease.expired()) {
                end(lease, " was not renewed");
            } else if (lease.pullsExpire(pullNanos)) {
                ending.execute(() -> lease.expirePulls(pullNanos));
            }
        } catch (Throwable e) {
            FailSafeLog.log(
                    LOG,
                    "an error while looking at the lease of client " + lease.clientName() + "; it is looked at again",
                    e);
        }
    }

    /** Ends the leases of caches, soon. A caller that opens a lease at the same time has to end it itself. */
    public void endCaches(Set<Long> caches) {
        for (ClientLease lease : leases.values()) {
            if (caches.contains(lease.cacheId())) {
                end(lease, " is of a cache that has ended");
            }
        }
    }

    private void end(ClientLease lease, String why) {
        if (!lease.beginEnding()) {
            return;
        }
        boolean handed = false;
        try {
            ending.execute(() -> takeBack(lease, why));
            handed = true;
        } finally {
            if (!handed) {
                lease.notEnding();
            }
        }
    }

    /** No other thread ends the lease from now on, so a failure of the log must not prevent it. */
    private void takeBack(ClientLease lease, String why) {
        FailSafeLog.log(
                LOG,
                System.Logger.Level.INFO,
                () -> "the lease of client " + lease.clientName() + why + "; freeing the memory that it held");
        end(lease);
    }

    /**
     * Stops the threads and ends all leases, in bounded time.
     *
     * @return whether nothing is held any more; if false, the device is still busy, and the resources of leases must
     *     stay as long as the process
     */
    public boolean stop() {
        stopped = true;
        LockSupport.unpark(reaper);
        ThreadJoiner.join(reaper);
        for (ClientLease lease : leases.values()) {
            if (lease.beginEnding()) {
                ending.execute(() -> end(lease));
            }
        }
        ending.shutdown();
        boolean ended = await(ending);
        long deadline = System.nanoTime() + LAST_TRIES_NANOS;
        while (ended && !nothingHeld() && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(1_000_000L);
        }
        return ended && nothingHeld();
    }

    private boolean nothingHeld() {
        return leases.isEmpty() && retired.isEmpty();
    }

    /** @return whether all ended in time */
    private static boolean await(ThreadPoolExecutor executor) {
        long deadline = System.nanoTime() + FIRST_TRIES_NANOS;
        boolean interrupted = false;
        boolean ended = false;
        while (!ended && System.nanoTime() - deadline < 0) {
            try {
                ended = executor.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return ended;
    }
}
