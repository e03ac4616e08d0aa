package io.farheap.cache.paths;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.handover.ClientThread;
import io.farheap.cache.handover.HandoverConsumer;
import io.farheap.cache.handover.HandoverPath;
import io.farheap.cache.handover.HandoverRing;
import io.farheap.cache.route.MigrationLinks;
import io.farheap.cache.session.CacheSessionOptions;
import io.farheap.cache.session.DataPath;
import io.farheap.cache.session.SessionCore;
import io.farheap.latency.OperationLatency;
import io.farheap.lifetime.Closeables;
import io.farheap.thread.Cores;
import io.farheap.thread.ThreadAffinity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes the data paths of a cache's sessions for one configuration, and owns its client threads. Sessions are opened
 * and closed at the same time.
 */
public final class DataPaths implements AutoCloseable {

    /** The cache, as this class uses it. */
    public interface DataPathHost {

        /** Makes a path for a session whose own thread processes its requests. The caller connects it. */
        DataPath ownPath(SessionCore session, @Nullable OperationLatency latency, CacheConfiguration how);

        /** As {@link HandoverPath.HoldPredicate}. */
        boolean holds(boolean write, long address, long length);

        /** Opens the session of a client thread, connected to all servers. */
        SessionCore openWorkerSession(DataPaths paths);

        /** Fences the operations that a client thread's session has lost, and reconnects it. */
        void reconnect(SessionCore worker);

        void close(SessionCore session);
    }

    private final DataPathHost cache;
    private final CacheSessionOptions options;
    private final CacheConfiguration configuration;
    private final List<ClientThread> threads = new ArrayList<>();
    private final List<SessionCore> workers = new ArrayList<>();

    /**
     * Starts client threads and connects their sessions to all servers.
     *
     * @param device name of the device; the threads run on cores near it
     */
    public DataPaths(DataPathHost cache, String device, CacheSessionOptions options, CacheConfiguration configuration) {
        this.cache = cache;
        this.options = options;
        this.configuration = configuration;
        try {
            List<Integer> cores = configuration.pinned() ? Cores.near(device) : List.of();
            for (int i = 0; i < configuration.clientThreads(); i++) {
                workers.add(cache.openWorkerSession(this));
                int core = cores.size() > configuration.clientThreads() ? cores.get(i) : ThreadAffinity.ANY;
                threads.add(new ClientThread(workers.get(i), options.name() + "-cli-" + i, configuration.idle(), core));
            }
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    CacheConfiguration configuration() {
        return configuration;
    }

    /**
     * Reconnects the client threads' sessions, before a session is opened: a request that an earlier session lost must
     * not take effect after this session's, and the client thread needs a connection to every server. Takes as long as
     * the servers take to answer.
     */
    void reconnect() {
        workers.forEach(cache::reconnect);
    }

    /** Makes a path for a session of the application. The caller connects it. */
    public DataPath open(SessionCore session, @Nullable OperationLatency latency) {
        if (threads.isEmpty()) {
            return own(session, latency);
        }
        List<ClientThread> alive =
                threads.stream().filter(thread -> !thread.dead()).toList();
        if (alive.isEmpty()) {
            throw new CacheException("all client threads of the cache have ended, with the errors that they logged;"
                    + " reconfigure the cache to start others");
        }
        HandoverRing handOver = new HandoverRing(options.requests());
        HandoverConsumer taken = new HandoverConsumer(handOver, session.sleeper::wake);
        ClientThread thread = leastLoaded(alive, taken);
        HandoverPath handed = new HandoverPath(handOver, thread, cache::holds, latency);
        // The client thread's session has the channel and the links.
        return new DataPath(handed, MigrationLinks.NONE, null, () -> thread.remove(taken), ignored -> {});
    }

    /**
     * Chooses a client thread for a session. Synchronized, so that sessions that are opened at the same time are spread
     * over the threads.
     */
    private synchronized ClientThread leastLoaded(List<ClientThread> alive, HandoverConsumer requests) {
        int node = Cores.currentNode();
        ClientThread thread = alive.stream()
                .min(Comparator.comparingInt(ClientThread::load)
                        .thenComparing(candidate -> Cores.nodeOf(candidate.core()) != node))
                .orElseThrow();
        thread.add(requests);
        return thread;
    }

    /** Makes a path for a session whose own thread processes its requests. */
    public DataPath own(SessionCore session, @Nullable OperationLatency latency) {
        return cache.ownPath(session, latency, configuration);
    }

    public void stop() {
        threads.forEach(ClientThread::stop);
    }

    /** Ends the client threads and their sessions. */
    @Override
    public void close() {
        Closeables.all(this::stop, this::closeWorkers);
    }

    private void closeWorkers() {
        Closeables.all(workers.stream()
                .<AutoCloseable>map(worker -> () -> cache.close(worker))
                .toList());
    }
}
