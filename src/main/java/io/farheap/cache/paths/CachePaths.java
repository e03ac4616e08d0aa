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
 * How the requests of a cache's sessions travel, and the change of that. Sessions are listed while others are, and
 * never while {@code alone} is held: so each session is seen by a change, or sees it. No thread waits for a server
 * while it holds that.
 */
public final class CachePaths implements AutoCloseable {

    private final List<SessionCore> sessions;
    private final CacheServers servers;
    private final Lock alone;
    private final Function<CacheConfiguration, DataPaths> maker;
    /** Throws where the cache is about to end. */
    private final Runnable going;
    /** Replaced with {@code alone} held. */
    private volatile DataPaths paths;
    /** The change that sessions are prepared for, or null; replaced with {@code alone} held. */
    private volatile @Nullable Reconfiguration changing;

    /**
     * @param sessions of the cache, which change meanwhile
     * @param alone held while nobody opens a session
     * @param maker makes paths of a configuration
     * @param going throws where the cache is about to end
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

    /** What makes the paths of new sessions. */
    DataPaths now() {
        return paths;
    }

    /**
     * A session is listed, with {@code alone} shared. The thread that opens it while the configuration changes prepares
     * it then: else new sessions could keep the change from ending.
     *
     * @return what {@link Reconfiguration#prepare prepares} it, or null
     */
    @Nullable
    Reconfiguration join(SessionCore session) {
        Reconfiguration change = changing;
        if (change != null) {
            change.expect(session);
        }
        return change;
    }

    /** A session has been closed. */
    public void forget(SessionCore session) {
        Reconfiguration change = changing;
        if (change != null) {
            change.forget(session);
        }
    }

    /**
     * Lets all sessions' requests travel in another way; one change at a time.
     *
     * @throws CacheException where that cannot be, and all stays as it is
     */
    public void change(CacheConfiguration how) {
        DataPaths previous = paths;
        try (Reconfiguration change = new Reconfiguration(previous, maker.apply(how), servers::connect)) {
            try {
                for (SessionCore session : begin(change)) {
                    // Each takes as long as servers take to answer.
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

    /** @return the sessions to prepare; those that are opened from now on are prepared by whoever opens them */
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

    /** @return false where a session is being opened that has yet to be prepared; nothing has happened then */
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
        // Before they go on.
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

    /** Client threads end; sessions' paths stay. */
    public void stop() {
        paths.stop();
    }

    @Override
    public void close() {
        paths.close();
    }
}
