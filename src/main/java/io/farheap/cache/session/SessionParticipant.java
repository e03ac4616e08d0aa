package io.farheap.cache.session;

import io.farheap.cache.route.MigrationLinks;
import io.farheap.migration.region.MigrationParticipant;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.util.function.Supplier;

/** A session, as a migration sees it: on the migration's thread, while the session's goes on or sleeps. */
final class SessionParticipant implements MigrationParticipant {

    private final Supplier<MigrationLinks> links;
    private final Runnable wake;
    private final Runnable mayResume;

    /**
     * @param links the session's now
     * @param wake makes its thread poll, if it sleeps
     * @param mayResume lets requests that it holds go on
     */
    SessionParticipant(Supplier<MigrationLinks> links, Runnable wake, Runnable mayResume) {
        this.links = links;
        this.wake = wake;
        this.mayResume = mayResume;
    }

    @Override
    public void ensureConnected(RemoteServer server) {
        links.get().ensure(server);
        wake.run();
    }

    @Override
    public boolean drain(RemoteRegion region) {
        MigrationLinks now = links.get();
        if (now.isDrained(region)) {
            return true;
        }
        try {
            return now.drain(region);
        } finally {
            // Completions that the session sleeps for may have been taken meanwhile.
            wake.run();
        }
    }

    @Override
    public boolean drained(RemoteRegion region) {
        try {
            return links.get().drained(region);
        } finally {
            wake.run();
        }
    }

    @Override
    public void resume() {
        mayResume.run();
    }
}
