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

/** The memory servers that a cache uses, from attaching to leaving, and sessions' connections to them. Any thread. */
public final class CacheServers {

    private static final System.Logger LOG = System.getLogger(CacheServers.class.getName());

    private final String name;
    private final @Nullable ManagedCacheClient management;
    private final OpenDevice device;
    private final List<SessionCore> sessions;
    private final Lock alone;
    private final BiConsumer<RemoteServer, ControlException> lost;
    private final List<RemoteServer> all = new CopyOnWriteArrayList<>();
    /** Guarded by the cache, which attaches one at a time. */
    private int next;

    /**
     * @param name of the cache
     * @param management of the cache; null where it has no manager
     * @param sessions of the cache, which change meanwhile
     * @param alone held while nobody opens a session
     * @param lost told of a lost server, on a thread of that server's, when all sessions know
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

    /** All of them, also those that come and go. */
    public List<RemoteServer> all() {
        return all;
    }

    public List<String> addresses() {
        return all.stream().map(RemoteServer::address).toList();
    }

    /**
     * Attaches to a server, which is {@linkplain #add added} when it can be used.
     *
     * @throws CacheException where that cannot be
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
     * Two leases on one server process would be two places that fail as one, and what is moved from one to the other
     * would stay where it is. A lease that is lost holds nothing: the server may be used anew.
     *
     * @throws CacheException where one of those in use is the same process
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

    /** Another that is lost waits for nobody here. */
    private void lost(RemoteServer server, ControlException cause) {
        // Each by itself: one that is long in a callback must not keep the others' requests waiting.
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

    /** @return the sessions to connect to it; those that are listed from now on do that themselves */
    List<SessionCore> add(RemoteServer server) {
        alone.lock();
        try {
            all.add(server);
            return List.copyOf(sessions);
        } finally {
            alone.unlock();
        }
    }

    /** Sessions that are opened from now on know nothing of it. */
    void remove(RemoteServer server) {
        alone.lock();
        try {
            all.remove(server);
        } finally {
            alone.unlock();
        }
    }

    /**
     * One whose lease holds before one that is lost, which may have been started anew at its address.
     *
     * @throws CacheException where there is none
     */
    public RemoteServer get(String address) {
        return get(all, address);
    }

    /** The same, of the servers of any cache. */
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

    /** Whether one at an address is so; lost ones are asked for too. */
    public boolean any(String address, Predicate<RemoteServer> what) {
        return all.stream().anyMatch(server -> server.address().equals(address) && what.test(server));
    }

    /**
     * Connects a new session's path to all; where that cannot be, the path is closed.
     *
     * @return all that there were
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

    /** Connects a session anew to those that it is not connected to. */
    public void reconnect(SessionCore session) {
        for (RemoteServer server : all) {
            tolerantly(server, () -> session.participant.ensureConnected(server));
        }
    }

    /** A server that is gone takes its own regions along, not the session's others. */
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

    /** What sessions have of servers that were lost before whoever fails that could see it. */
    public void loseLost(List<SessionCore> unseen) {
        for (RemoteServer server : all) {
            if (server.lost() != null) {
                unseen.forEach(session -> session.participant.lose(server));
            }
        }
    }
}
