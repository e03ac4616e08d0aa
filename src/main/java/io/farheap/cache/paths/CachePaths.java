package io.farheap.cache.paths;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.move.CacheServers;
import io.farheap.cache.session.SessionCore;
import io.farheap.control.ControlException;
import io.farheap.verbs.VerbsException;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The data paths of a cache's sessions, and their replacement when the configuration changes. Sessions are listed with
 * {@code alone} held shared, never while a thread holds it exclusively: so each session is either seen by a change, or
 * sees it. No thread waits for a server while it holds {@code alone}.
 */
public final class CachePaths implements AutoCloseable {

    private final List<SessionCore> sessions;
    private final CacheServers servers;
    private final Lock alone;
    private final Function<CacheConfiguration, DataPaths> maker;
    /** Throws if the cache is about to end. */
    private final Runnable going;
    /** Replaced with {@code alone} held. */
    private volatile DataPaths paths;
    /** The change that sessions are prepared for, or null; replaced with {@code alone} held. */
    private volatile @Nullable Reconfiguration changing;

    /**
     * @param sessions of the cache, which change meanwhile
     * @param alone while it is held, no session is listed
     * @param maker makes paths of a configuration
     * @param going throws if the cache is about to end
     */
    public CachePaths(
            List<SessionCore> sessions,
            CacheServers servers,
            Lock alone,
            Function<CacheConfiguration, DataPaths> maker,
            Runnable going,
            CacheConfiguration first) {
        this.sessions = sessions;
        this.servers = servers;
        this.alone = alone;
        this.maker = maker;
        this.going = going;
        this.paths = maker.apply(first);
    }

    public CacheConfiguration configuration() {
        return paths.configuration();
    }

    /** Makes the paths of new sessions. */
    DataPaths now() {
        return paths;
    }

    /**
     * Called when a session is listed, with {@code alone} held shared. If the configuration is changing, the thread
     * that opens the session prepares it: otherwise new sessions could keep the change from ending.
     *
     * @return the change that has to {@linkplain Reconfiguration#prepare prepare} it, or null
     */
    @Nullable
    Reconfiguration join(SessionCore session) {
        Reconfiguration change = changing;
        if (change != null) {
            change.expect(session);
        }
        return change;
    }

    /** Called when a session has been closed. */
    public void forget(SessionCore session) {
        Reconfiguration change = changing;
        if (change != null) {
            change.forget(session);
        }
    }

    /**
     * Changes the configuration of all sessions; one change at a time.
     *
     * @throws CacheException if that is not possible; nothing has changed then
     */
    public void change(CacheConfiguration how) {
        DataPaths previous = paths;
        try (Reconfiguration change = new Reconfiguration(previous, maker.apply(how), servers::connect)) {
            try {
                for (SessionCore session : begin(change)) {
                    // Each step takes as long as servers take to answer.
                    going.run();
                    change.prepare(session);
                }
                do {
                    change.awaitQuiet(going);
                } while (!perform(change));
            } finally {
                end();
            }
        } catch (VerbsException | ControlException e) {
            throw new CacheException("the configuration stays " + previous.configuration() + ": " + e.getMessage(), e);
        }
    }

    /** @return the sessions to prepare; a session that is opened from now on is prepared by the thread that opens it */
    private List<SessionCore> begin(Reconfiguration change) {
        alone.lock();
        try {
            changing = change;
            List<SessionCore> all =
                    sessions.stream().filter(session -> !session.worker).toList();
            all.forEach(change::expect);
            return all;
        } finally {
            alone.unlock();
        }
    }

    /** @return false if a session is being opened that is not prepared yet; nothing has happened then */
    private boolean perform(Reconfiguration change) {
        alone.lock();
        try {
            if (!change.isPrepared()) {
                return false;
            }
            paths = change.perform();
            changing = null;
        } finally {
            alone.unlock();
        }
        // Before the sessions accept requests again.
        servers.loseLost(sessions);
        return true;
    }

    private void end() {
        alone.lock();
        try {
            changing = null;
        } finally {
            alone.unlock();
        }
    }

    /** Ends the client threads; the sessions' paths stay. */
    public void stop() {
        paths.stop();
    }

    @Override
    public void close() {
        paths.close();
    }
}
