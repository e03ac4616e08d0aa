package io.farheap.cache.route;

import io.farheap.migration.region.MigrationParticipant;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.time.TimeLimit;
import java.util.concurrent.CompletableFuture;

/**
 * A session's connections to servers, as migrations and the cache use them: they make, replace, drain and end these.
 */
public interface MigrationLinks extends AutoCloseable {

    /** How long a drain may take before the operations that it awaits are treated as lost. */
    long DRAIN_TIMEOUT_NANOS = TimeLimit.of(5_000_000_000L);

    /** Connects to a server, before a region of it enters the table. */
    void connect(RemoteServer server);

    /** Connects again if the connection to a server has failed, or there is none. */
    void ensure(RemoteServer server);

    /** Ends the connections to a server, if there are any; operations still in flight on them fail. */
    void disconnect(RemoteServer server);

    /**
     * Fails the connections to a server whose lease is lost: operations in flight on them are lost. It waits for no
     * server, at most for the session's thread to leave its gate.
     */
    void lose(RemoteServer server);

    /** Whether {@link #drain} has nothing to do. The caller has executed a heavy fence. */
    boolean isDrained(RemoteRegion region);

    /** As {@link MigrationParticipant#drain}. */
    boolean drain(RemoteRegion region);

    /** As {@link MigrationParticipant#drained}. */
    boolean drained(RemoteRegion region);

    /**
     * Ends all connections, and returns when that is done; they stay listed, for a migration that has to fence them.
     */
    @Override
    void close();

    /** Completes when all connections are closed, including those to servers that do not answer. */
    default CompletableFuture<Void> closed() {
        return CompletableFuture.completedFuture(null);
    }

    /** Connections to no server, of a session whose requests a client thread's session posts. */
    MigrationLinks NONE = new MigrationLinks() {

        @Override
        public void connect(RemoteServer server) {}

        @Override
        public void ensure(RemoteServer server) {}

        @Override
        public void disconnect(RemoteServer server) {}

        @Override
        public void lose(RemoteServer server) {}

        @Override
        public boolean isDrained(RemoteRegion region) {
            return true;
        }

        @Override
        public boolean drain(RemoteRegion region) {
            return true;
        }

        @Override
        public boolean drained(RemoteRegion region) {
            return true;
        }

        @Override
        public void close() {}
    };
}
