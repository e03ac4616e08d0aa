package io.farheap.cache.paths;

import io.farheap.cache.move.CacheServers;
import io.farheap.cache.session.DataPath;
import io.farheap.cache.session.SessionCore;
import io.farheap.latency.OperationLatency;
import io.farheap.migration.region.AddressLimit;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.device.OpenDevice;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * Opens the sessions of a cache that is not coded. A session is connected first, which takes as long as servers take to
 * answer, and then listed: a server that does not answer delays the opening of this session, but no other session and
 * no change of the cache. Any thread.
 */
public final class SessionOpener {

    private final SessionCore.Owner cache;
    private final OpenDevice device;
    private final RegionTable table;
    private final List<SessionCore> sessions;
    private final CacheServers servers;
    private final Lock listing;
    private final Runnable checkOpen;

    /**
     * @param sessions of the cache
     * @param listing the shared lock that a thread holds for the moment in which it lists a session
     * @param checkOpen throws if the cache is deleted
     */
    public SessionOpener(
            SessionCore.Owner cache,
            OpenDevice device,
            RegionTable table,
            List<SessionCore> sessions,
            CacheServers servers,
            Lock listing,
            Runnable checkOpen) {
        this.cache = cache;
        this.device = device;
        this.table = table;
        this.sessions = sessions;
        this.servers = servers;
        this.listing = listing;
        this.checkOpen = checkOpen;
    }

    /** Opens a session for the application. */
    public SessionCore open(CachePaths paths, @Nullable OperationLatency recorder) {
        SessionCore session = new SessionCore(cache, table.bound(), recorder, false);
        if (!device.hold()) {
            throw new IllegalStateException("the cache is deleted");
        }
        // The cache may be closed meanwhile.
        try (OpenDevice _ = device) {
            while (!tryToList(session, paths, paths.now(), recorder)) {
                checkOpen.run();
            }
        }
        return session;
    }

    /** @return false if the configuration, or the set of servers, has changed meanwhile */
    private boolean tryToList(
            SessionCore session, CachePaths paths, DataPaths through, @Nullable OperationLatency recorder) {
        DataPath path;
        List<RemoteServer> before = List.copyOf(servers.all());
        List<RemoteServer> known;
        try {
            through.reconnect();
            path = through.open(session, recorder);
            known = servers.connect(path);
        } catch (RuntimeException e) {
            // If the cache has left a server meanwhile, connecting to it fails: try again without it.
            if (paths.now() == through && servers.all().equals(before)) {
                throw e;
            }
            return false;
        }
        Reconfiguration change = null;
        boolean listed = false;
        listing.lock();
        try {
            checkOpen.run();
            listed = paths.now() == through && servers.all().equals(known);
            if (listed) {
                session.dataPath.use(path);
                sessions.add(session);
                change = paths.join(session);
            }
        } finally {
            listing.unlock();
            if (!listed) {
                path.close();
            }
        }
        if (listed) {
            complete(session, change);
        }
        return listed;
    }

    private void complete(SessionCore session, @Nullable Reconfiguration change) {
        try {
            servers.loseLost(List.of(session));
            if (change != null) {
                change.prepare(session);
            }
        } catch (Throwable e) {
            cache.close(session);
            throw e;
        }
    }

    /**
     * Opens a session for the cache itself, which may access all of the last region, also beyond the capacity. The
     * caller prevents changes of the servers and of the configuration.
     */
    public SessionCore openInternal(CachePaths paths) {
        DataPaths through = paths.now();
        through.reconnect();
        SessionCore session = new SessionCore(cache, new AddressLimit(table.size() * table.regionBytes()), null, true);
        return begin(session, through.open(session, null));
    }

    /** Opens the session of a client thread; as {@link #openInternal}, but up to the capacity. */
    public SessionCore openWorker(DataPaths owner) {
        SessionCore session = new SessionCore(cache, table.bound(), null, true);
        return begin(session, owner.own(session, null));
    }

    private SessionCore begin(SessionCore session, DataPath path) {
        servers.connect(path);
        session.dataPath.use(path);
        sessions.add(session);
        servers.loseLost(List.of(session));
        return session;
    }
}
