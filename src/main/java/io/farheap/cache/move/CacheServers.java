package io.farheap.cache.move;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.managed.ManagedCacheClient;
import io.farheap.cache.session.DataPath;
import io.farheap.cache.session.SessionCore;
import io.farheap.control.ControlException;
import io.farheap.control.SignedGrant;
import io.farheap.control.plane.ControlPlane;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.device.OpenDevice;
import io.farheap.remote.server.LeasedServer;
import io.farheap.thread.ThreadJoiner;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The memory servers that a cache uses, from attaching to leaving, and the sessions' connections to them. Any thread.
 */
public final class CacheServers {

    private static final System.Logger LOG = System.getLogger(CacheServers.class.getName());

    private final String name;
    private final @Nullable ManagedCacheClient management;
    private final OpenDevice device;
    private final List<SessionCore> sessions;
    private final Lock alone;
    private final BiConsumer<RemoteServer, ControlException> lost;
    private final List<RemoteServer> all = new CopyOnWriteArrayList<>();
    /** The next server's index. Guarded by the cache, which attaches one server at a time. */
    private int next;

    /**
     * @param name of the cache
     * @param management the cache's client of its manager; null if it has none
     * @param sessions the cache's sessions, a list that other threads change
     * @param alone while it is held, no session is listed
     * @param lost called for a lost server, on a thread of that server's, after all sessions' connections to it have
     *     been failed
     */
    public CacheServers(
            String name,
            @Nullable ManagedCacheClient management,
            OpenDevice device,
            List<SessionCore> sessions,
            Lock alone,
            BiConsumer<RemoteServer, ControlException> lost) {
        this.name = name;
        this.management = management;
        this.device = device;
        this.sessions = sessions;
        this.alone = alone;
        this.lost = lost;
    }

    /** The list of all servers, which other threads may change. */
    public List<RemoteServer> all() {
        return all;
    }

    public List<String> addresses() {
        return all.stream().map(RemoteServer::address).toList();
    }

    /**
     * Attaches to a server; the caller {@linkplain #add adds} it once it can be used.
     *
     * @throws CacheException if the server cannot be used
     */
    public RemoteServer attach(String address) {
        try {
            return management == null
                    ? attach(address, SignedGrant.NONE)
                    : management.granted(address, grant -> attach(address, grant));
        } catch (ControlException e) {
            throw new CacheException("cannot use memory server " + address + ": " + e.getMessage(), e);
        }
    }

    private RemoteServer attach(String address, SignedGrant grant) {
        RemoteServer server = LeasedServer.attach(
                address,
                next++,
                device.domain(),
                name,
                management == null ? ControlPlane.NO_CACHE : management.cacheId(),
                grant,
                this::lost,
                device.lifetime()::closesLater);
        try {
            refuseTwice(all, server);
            return server;
        } catch (Throwable e) {
            Closeables.after(e, server);
            throw e;
        }
    }

    /**
     * Refuses a second lease on one server process: the two would fail together, and a region that moves from one to
     * the other would stay in the same memory. A lost lease has no memory, so its server may be used again.
     *
     * @throws CacheException if one of the servers in use is the same process
     */
    public static void refuseTwice(List<RemoteServer> used, RemoteServer another) {
        for (RemoteServer each : used) {
            if (each != another && each.lost() == null && each.isSameProcess(another)) {
                String as = each.address().equals(another.address()) ? "" : ", as " + each.address();
                throw new CacheException("the cache uses memory server " + another.address() + " already" + as
                        + "; a server process can be in use once: name another");
            }
        }
    }

    /** Called on a thread for each lost server, so that one loss does not wait for another. */
    private void lost(RemoteServer server, ControlException cause) {
        // One thread for each session: a session that is in a long callback must not delay the others' requests.
        List<Thread> losing = sessions.stream()
                .map(session -> Thread.ofVirtual().start(() -> lose(session, server)))
                .toList();
        losing.forEach(ThreadJoiner::join);
        lost.accept(server, cause);
    }

    private static void lose(SessionCore session, RemoteServer server) {
        try {
            session.participant.lose(server);
        } catch (Throwable e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "cannot fail a session's connections to lost memory server " + server,
                    e);
        }
    }

    /** @return the sessions to connect to it; sessions that are listed from now on connect by themselves */
    List<SessionCore> add(RemoteServer server) {
        alone.lock();
        try {
            all.add(server);
            return List.copyOf(sessions);
        } finally {
            alone.unlock();
        }
    }

    /** Removes a server: sessions that are opened from now on do not connect to it. */
    void remove(RemoteServer server) {
        alone.lock();
        try {
            all.remove(server);
        } finally {
            alone.unlock();
        }
    }

    /**
     * The server at an address. If there are several, since a lost server was started again at its address, one with a
     * valid lease.
     *
     * @throws CacheException if there is none
     */
    public RemoteServer get(String address) {
        return get(all, address);
    }

    /** The same among the servers of any cache. */
    public static RemoteServer get(List<RemoteServer> all, String address) {
        RemoteServer gone = null;
        for (RemoteServer server : all) {
            if (server.address().equals(address)) {
                if (server.lost() == null) {
                    return server;
                }
                gone = server;
            }
        }
        if (gone != null) {
            return gone;
        }
        throw new CacheException("the cache does not use server " + address + "; it uses "
                + all.stream().map(RemoteServer::address).toList());
    }

    /** Whether a server at an address satisfies a predicate; lost servers are tested too. */
    public boolean any(String address, Predicate<RemoteServer> what) {
        return all.stream().anyMatch(server -> server.address().equals(address) && what.test(server));
    }

    /**
     * Connects a new session's path to all servers; if that fails, closes the path.
     *
     * @return the servers that it has connected to
     */
    public List<RemoteServer> connect(DataPath path) {
        try {
            List<RemoteServer> known = List.copyOf(all);
            for (RemoteServer server : known) {
                tolerantly(server, () -> path.links().connect(server));
            }
            return known;
        } catch (Throwable e) {
            Closeables.after(e, path);
            throw e;
        }
    }

    /** Connects a session again to the servers that it has no working connection to. */
    public void reconnect(SessionCore session) {
        for (RemoteServer server : all) {
            tolerantly(server, () -> session.participant.ensureConnected(server));
        }
    }

    /** Ignores the failure of a server that is gone: the session can still use the regions of the others. */
    private static void tolerantly(RemoteServer server, Runnable connect) {
        try {
            connect.run();
        } catch (ControlException e) {
            switch (e.code()) {
                case UNAVAILABLE, DEADLINE_EXCEEDED, LEASE_EXPIRED -> {}
                default -> throw new CacheException("cannot connect a session to " + server + ": " + e.getMessage(), e);
            }
        }
    }

    /**
     * Fails the connections of sessions, which have just been listed or have changed their path, to servers that were
     * lost before: {@link #lost} did not find these connections.
     */
    public void loseLost(List<SessionCore> unseen) {
        for (RemoteServer server : all) {
            if (server.lost() != null) {
                unseen.forEach(session -> session.participant.lose(server));
            }
        }
    }
}
