package io.farheap.cache.route;

import io.farheap.migration.region.MigrationParticipant;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.time.TimeLimit;
import java.util.concurrent.CompletableFuture;

/**
 * A session's connections to servers, as migrations and the cache see them: made, replaced, drained and ended by them.
 */
public interface MigrationLinks extends AutoCloseable {

    /** How long a drain may take before what it awaits is taken for lost. */
    long DRAIN_TIMEOUT_NANOS = TimeLimit.of(5_000_000_000L);

    /** Connects to a server, before a region of it enters the table. */
    void connect(RemoteServer server);

    /** Connects anew where a connection to a server has failed, or there is none. */
    void ensure(RemoteServer server);

    /** Ends the connections to a server, if there are any; what is still in flight on them is failed. */
    void disconnect(RemoteServer server);

    /**
     * Fails the connections to a server whose lease is lost: what is in flight on them is lost. It waits for the
     * session's thread at most.
     */
    void lose(RemoteServer server);

    /** Whether {@link #drain} would find nothing to do, for a caller that has executed a heavy fence. */
    boolean isDrained(RemoteRegion region);

    /** As {@link MigrationParticipant#drain}. */
    boolean drain(RemoteRegion region);

    /** As {@link MigrationParticipant#drained}. */
    boolean drained(RemoteRegion region);

    /** Ends all, and returns when that is done; they stay listed, for a migration that has to fence them. */
    @Override
    void close();

    /** Completes when all that was ended is closed, also what a silent server would not let go of. */
    default CompletableFuture<Void> closed() {
        return CompletableFuture.completedFuture(null);
    }

    /** To no server: of a session whose requests a client thread's session posts. */
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
