package io.farheap.manager.client;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.grpc.ManagerClient;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A process's connection to its managers: one for all of its caches, shared by all users that {@linkplain #open open}
 * it with the same addresses. Every {@value #CONFIRM_MILLIS} ms it asks whether the manager answers, and every
 * {@value #RENEW_MILLIS} ms it confirms that the process is alive; it connects again, to the first manager that
 * answers, if either fails, and passes alerts to the caches that they concern.
 *
 * <p>Thread-safe. Only the keeper's thread replaces {@code attendance}; {@code client} is replaced under the lock by
 * the thread that a thread starts which finds it missing.
 */
public final class ManagerConnection implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ManagerConnection.class.getName());
    private static final Map<List<String>, ManagerConnection> OPEN = new HashMap<>();

    private static final long RENEW_MILLIS = 10_000;
    /** A manager that hangs sends no alerts: the client must notice long before a server's notice has passed. */
    private static final long CONFIRM_MILLIS = 1_000;

    private static final long RETRY_MILLIS = 200;
    /** As long as one call lasts at most. */
    private static final long PATIENCE_MILLIS = 5_000;

    private static final long STOP_MILLIS = 2_000;

    private final List<String> addresses;
    private final long clientId = new SecureRandom().nextLong();
    private final Map<Long, CacheAlerts> caches = new ConcurrentHashMap<>();
    private final Thread keeper;
    /** Guarded by {@code OPEN}. */
    private int users;

    /** Guarded by this. */
    private @Nullable ManagerClient client;
    /** Completed with the client that is looked for; null if none is. Guarded by this. */
    private @Nullable CompletableFuture<ManagerClient> search;
    /** The client whose connection is attended. Guarded by this, as are the fields that follow. */
    private @Nullable ManagerClient attended;
    /** Caches have come or gone since the last renewal. */
    private boolean dirty;

    private boolean ended;
    private boolean closed;

    private ManagerConnection(List<String> addresses) {
        this.addresses = addresses;
        keeper = new Thread(this::keep, "farheap-manager-keeper");
        keeper.setDaemon(true);
    }

    /**
     * The process's connection to managers, which each user closes.
     *
     * @param addresses HOST:PORT; the first that answers is asked
     * @throws ControlException INVALID_ARGUMENT if there are none
     */
    public static ManagerConnection open(List<String> addresses) {
        if (addresses.isEmpty()) {
            throw new ControlException(Code.INVALID_ARGUMENT, "no cache manager is named; name one as HOST:PORT");
        }
        synchronized (OPEN) {
            ManagerConnection connection = OPEN.computeIfAbsent(List.copyOf(addresses), ManagerConnection::new);
            if (connection.users++ == 0) {
                connection.keeper.start();
            }
            return connection;
        }
    }

    /** Id of this process, as its manager knows it. */
    public long clientId() {
        return clientId;
    }

    /**
     * Calls the first manager that answers.
     *
     * @param call is made again for some seconds if the manager answers others and cannot do it now, and once, to the
     *     first manager that answers then, if the connection fails during it or the manager hangs; it may have taken
     *     effect before
     * @throws ControlException as the call does; UNAVAILABLE if none of them answers
     */
    public <T> T call(Function<CacheManager, T> call) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
        boolean left = false;
        while (true) {
            ManagerClient asked = client();
            try {
                return call.apply(asked);
            } catch (ControlException e) {
                if (e.code() != Code.UNAVAILABLE && e.code() != Code.DEADLINE_EXCEEDED && e.code() != Code.CANCELLED) {
                    throw e;
                }
                boolean answers = answers(asked);
                // An interrupted thread ends its own call, not the connection that all share. A manager that answers,
                // and not this call, waits for its disk: another call would wait, too.
                if (Thread.currentThread().isInterrupted()
                        || answers && (e.code() != Code.UNAVAILABLE || System.nanoTime() - until >= 0)) {
                    throw e;
                }
                if (!answers) {
                    forget(asked);
                    if (left) {
                        throw e;
                    }
                    left = true;
                    // The next one may have begun to lead just now, and be unable to write at first.
                    until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
                    continue;
                }
            }
            pause("the manager could not do it");
        }
    }

    private static void pause(String why) {
        try {
            Thread.sleep(RETRY_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControlException(Code.CANCELLED, "interrupted while " + why, e);
        }
    }

    private static boolean answers(ManagerClient asked) {
        try {
            asked.confirm();
            return true;
        } catch (ControlException e) {
            return false;
        }
    }

    /**
     * As {@link CacheManager#allocate}, and asks again as long as servers are being started for the cache.
     *
     * @throws ControlException as the call does; CANCELLED if the thread is interrupted
     */
    public Allocation allocate(CacheRequest request) {
        while (true) {
            try {
                return call(asked -> asked.allocate(request));
            } catch (ControlException e) {
                if (e.code() != Code.BUSY) {
                    throw e;
                }
            }
            pause("servers were being started");
        }
    }

    /** Sends alerts for a cache to a listener from now on, on a thread that it must not block. */
    public void add(long cacheId, CacheAlerts listener) {
        caches.put(cacheId, listener);
        renewSoon();
    }

    /** Sends no more alerts for a cache. */
    public void remove(long cacheId) {
        caches.remove(cacheId);
        renewSoon();
    }

    private synchronized void renewSoon() {
        dirty = true;
        notifyAll();
    }

    /** Returns the client; if there is none, all threads wait for one search, and none with the lock. */
    private ManagerClient client() {
        CompletableFuture<ManagerClient> found;
        synchronized (this) {
            if (closed) {
                throw closed();
            }
            if (client != null) {
                return client;
            }
            if (search == null) {
                // The thread waits for the lock before it ends the search.
                CompletableFuture<ManagerClient> begun = new CompletableFuture<>();
                Thread.ofVirtual().name("farheap-manager-connect").start(() -> connect(begun));
                search = begun;
            }
            found = search;
        }
        try {
            return found.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControlException(Code.CANCELLED, "interrupted while a cache manager was looked for", e);
        } catch (ExecutionException e) {
            Throwable why = Objects.requireNonNullElse(e.getCause(), e);
            Code code = why instanceof ControlException refused ? refused.code() : Code.INTERNAL;
            throw new ControlException(code, why.getMessage(), why);
        }
    }

    private void connect(CompletableFuture<ManagerClient> begun) {
        ManagerClient found = null;
        Throwable failure = null;
        try {
            found = ManagerClient.connectFirst(addresses);
        } catch (Throwable e) {
            failure = e;
        }
        boolean late;
        synchronized (this) {
            search = null;
            late = closed;
            client = late ? null : found;
        }
        if (found == null) {
            begun.completeExceptionally(Objects.requireNonNullElseGet(failure, ManagerConnection::closed));
        } else if (late) {
            found.close();
            // The keeper, too, may have found that this is closed, and completes none.
            begun.completeExceptionally(closed());
        } else {
            begun.complete(found);
        }
    }

    private static ControlException closed() {
        return new ControlException(Code.CANCELLED, "the connection to the cache manager is closed");
    }

    private void forget(ManagerClient failed) {
        synchronized (this) {
            if (client == failed) {
                client = null;
            }
        }
        failed.close();
    }

    private void keep() {
        CacheManager.Attendance attendance = null;
        long renewed = 0;
        boolean changed = true;
        while (true) {
            long pause = CONFIRM_MILLIS;
            try {
                ManagerClient manager = client();
                if (attendance == null) {
                    attended(manager);
                    attendance = manager.attend(clientId, new Alerts(manager));
                    changed = true;
                } else {
                    // A stream does not notice that the process at its other end is gone or hangs; a call does.
                    manager.confirm();
                }
                long now = System.nanoTime();
                if (changed || now - renewed >= TimeUnit.MILLISECONDS.toNanos(RENEW_MILLIS)) {
                    attendance.renew(Set.copyOf(caches.keySet()));
                    renewed = now;
                }
            } catch (ControlException | IllegalStateException e) {
                // An IllegalStateException comes from a stream that ended during a call.
                attendance = null;
                pause = RETRY_MILLIS;
                forgetAttended();
            } catch (Throwable e) {
                LOG.log(System.Logger.Level.ERROR, "the line to the cache manager fails; it is tried again", e);
                attendance = null;
                pause = RETRY_MILLIS;
            }
            synchronized (this) {
                await(pause);
                if (closed) {
                    break;
                }
                changed = dirty;
                dirty = false;
                if (ended) {
                    attendance = null;
                    ended = false;
                    await(RETRY_MILLIS);
                }
            }
        }
        if (attendance != null) {
            attendance.close();
        }
    }

    private void forgetAttended() {
        ManagerClient failed;
        synchronized (this) {
            failed = attended;
            attended = null;
        }
        if (failed != null) {
            forget(failed);
        }
    }

    private synchronized void attended(ManagerClient manager) {
        attended = manager;
    }

    /** With the lock. */
    private void await(long millis) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        try {
            while (!closed && !dirty && !ended) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (left <= 0) {
                    return;
                }
                wait(left);
            }
        } catch (InterruptedException e) {
            closed = true;
        }
    }

    private final class Alerts implements CacheManager.Listener {

        private final ManagerClient manager;

        Alerts(ManagerClient manager) {
            this.manager = manager;
        }

        private void tell(long cacheId, Consumer<CacheAlerts> alert) {
            CacheAlerts cache = caches.get(cacheId);
            if (cache != null) {
                alert.accept(cache);
            }
        }

        @Override
        public void reclaim(Reclaim alert) {
            tell(alert.cacheId(), cache -> cache.reclaim(alert));
        }

        @Override
        public void expiring(long cacheId, long leftMillis) {
            tell(cacheId, cache -> cache.expiring(leftMillis));
        }

        @Override
        public void lost(long cacheId, String server) {
            tell(cacheId, cache -> cache.lost(server));
        }

        @Override
        public void unknown(long cacheId) {
            tell(cacheId, CacheAlerts::unknown);
        }

        @Override
        public void late(long cacheId, CacheDescription.LateMove move) {
            tell(cacheId, cache -> cache.late(move));
        }

        @Override
        public void wanted(long cacheId, String server, int regions) {
            tell(cacheId, cache -> cache.wanted(server, regions));
        }

        @Override
        public void ended(long cacheId, String why) {
            tell(cacheId, cache -> cache.ended(why));
        }

        @Override
        public void ended(ControlException why) {
            LOG.log(System.Logger.Level.DEBUG, "the line to the cache manager has ended: " + why.getMessage());
            synchronized (ManagerConnection.this) {
                if (attended == manager) {
                    ended = true;
                    ManagerConnection.this.notifyAll();
                }
            }
            // On another thread: this one is its I/O thread.
            Thread.ofVirtual().start(() -> forget(manager));
        }
    }

    /** Ends it with its last user. */
    @Override
    public void close() {
        synchronized (OPEN) {
            if (--users > 0) {
                return;
            }
            OPEN.remove(addresses);
        }
        ManagerClient last;
        synchronized (this) {
            closed = true;
            last = client;
            client = null;
            if (search != null) {
                search.completeExceptionally(closed());
            }
            notifyAll();
        }
        try {
            keeper.join(STOP_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (last != null) {
            last.close();
        }
    }
}
