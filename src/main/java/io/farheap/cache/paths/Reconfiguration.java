package io.farheap.cache.paths;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.session.DataPath;
import io.farheap.cache.session.SessionCore;
import io.farheap.lifetime.Closeables;
import io.farheap.thread.StallAwareTimeout;
import io.farheap.thread.Uninterruptibles;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One change of a cache's configuration, for all its sessions or for none. First each session gets a second data path
 * beside its own, which takes as long as connecting does, and from then on refuses requests. When the pending requests
 * of all sessions have ended, all sessions change to their second path. One thread, except for methods that say
 * otherwise.
 */
public final class Reconfiguration implements AutoCloseable {

    public static final int QUIET_SECONDS = 10;
    private static final long LOOK_NANOS = 20_000;

    private final DataPaths previous;
    private final DataPaths next;
    private final Consumer<DataPath> connector;
    /** The paths to close in the end: the new ones until the change, the old ones from then on. */
    private final Map<SessionCore, DataPath> spare = new LinkedHashMap<>();

    /** Sessions that are about to be prepared, which the change waits for. Guarded by this. */
    private final Set<SessionCore> expected = new HashSet<>();

    private boolean performed;

    /** @param connector connects a data path to all servers, or closes it and throws */
    Reconfiguration(DataPaths previous, DataPaths next, Consumer<DataPath> connector) {
        this.previous = previous;
        this.next = next;
        this.connector = connector;
    }

    /** Announces a session that is about to be {@linkplain #prepare prepared}, or closed. Any thread. */
    synchronized void expect(SessionCore session) {
        expected.add(session);
    }

    /**
     * Makes and connects a second data path for a session that is {@linkplain #expect expected}, and makes the session
     * refuse requests from now on. Any thread, also while other sessions are awaited; takes as long as servers take to
     * answer.
     */
    void prepare(SessionCore session) {
        next.reconnect();
        DataPath path = next.open(session, session.latency);
        connector.accept(path);
        if (!keep(session, path)) {
            path.close();
        }
    }

    /** @return false if the path is not needed any more: the session is closed, or the change has been given up */
    private synchronized boolean keep(SessionCore session, DataPath path) {
        boolean wanted = expected.remove(session);
        if (wanted) {
            spare.put(session, path);
            session.dataPath.quiesce();
        }
        return wanted;
    }

    /** Called when a session has been closed. Any thread. */
    void forget(SessionCore session) {
        DataPath path;
        synchronized (this) {
            expected.remove(session);
            path = spare.remove(session);
        }
        Closeables.all(path);
    }

    /** Whether all expected sessions have been prepared. Any thread. */
    synchronized boolean isPrepared() {
        return expected.isEmpty();
    }

    private synchronized List<SessionCore> prepared() {
        return List.copyOf(spare.keySet());
    }

    /**
     * Returns when no session has requests pending.
     *
     * @param going throws if the change has to be given up
     * @throws CacheException if that takes too long
     */
    void awaitQuiet(Runnable going) {
        StallAwareTimeout patience = new StallAwareTimeout(TimeUnit.SECONDS.toNanos(QUIET_SECONDS));
        while (!isPrepared()) {
            going.run();
            if (patience.over()) {
                throw new CacheException("sessions have been on their way to memory servers that do not answer for "
                        + QUIET_SECONDS + " s, so the configuration stays; reconfigure again when they are open");
            }
            Uninterruptibles.parkNanos(this, LOOK_NANOS);
        }
        // Sessions that are opened meanwhile have no request pending.
        for (SessionCore session : prepared()) {
            while (!session.dataPath.quiet()) {
                going.run();
                if (patience.over()) {
                    throw new CacheException("a session has had requests pending for " + QUIET_SECONDS
                            + " s, so the configuration stays; poll or close it, and reconfigure again: "
                            + session.pending.describe());
                }
                Uninterruptibles.parkNanos(this, LOOK_NANOS);
            }
        }
    }

    /**
     * Changes all prepared sessions to their second path; they accept requests again when this is {@linkplain #close
     * closed}. If one cannot be changed, those that were changed before it get their old path back.
     *
     * @return makes the data paths of new sessions
     */
    synchronized DataPaths perform() {
        List<SessionCore> changed = new ArrayList<>();
        try {
            for (SessionCore session : prepared()) {
                exchange(session, changed);
            }
        } catch (Throwable e) {
            List<AutoCloseable> back = new ArrayList<>();
            changed.forEach(session -> back.add(() -> exchange(session, new ArrayList<>())));
            Closeables.after(e, () -> Closeables.all(back));
            throw e;
        }
        performed = true;
        return next;
    }

    private void exchange(SessionCore session, List<SessionCore> changed) {
        session.dataPath.replace(Objects.requireNonNull(spare.get(session)), previous -> {
            changed.add(session);
            spare.put(session, previous);
        });
    }

    /**
     * Closes the paths that are not used, and then lets the sessions accept requests again: operations that were lost
     * on the old paths are fenced before any is posted on the new ones.
     */
    @Override
    public synchronized void close() {
        try {
            Closeables.all(() -> Closeables.all(spare.values()), performed ? previous : next);
        } finally {
            spare.keySet().forEach(session -> session.dataPath.goOn());
            spare.clear();
            expected.clear();
        }
    }
}
