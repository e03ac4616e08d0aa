package io.farheap.migration;

import io.farheap.posix.AsymmetricFence;
import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** All sessions at once, as a migration sees them. One thread at a time. */
final class Participants {

    private final Supplier<List<? extends MigrationParticipant>> open;
    private final List<MigrationParticipant> draining = new ArrayList<>();

    /** @param open the sessions that are open when it is called */
    Participants(Supplier<List<? extends MigrationParticipant>> open) {
        this.open = open;
    }

    void ensureConnected(RemoteServer server) {
        for (MigrationParticipant participant : open.get()) {
            participant.ensureConnected(server);
        }
    }

    /** What the caller did before is seen by whatever a session does after it has come out of its gate. */
    void publish() {
        AsymmetricFence.heavy();
    }

    /**
     * Returns when every session has seen the table and the marks as they were {@linkplain #publish published}, and
     * every operation that was posted to a region's server before has completed, or its connection is fenced.
     */
    void drain(RemoteRegion region) {
        RuntimeException failed = null;
        for (MigrationParticipant participant : open.get()) {
            try {
                if (!participant.drain(region)) {
                    draining.add(participant);
                }
            } catch (RuntimeException e) {
                failed = e;
            }
        }
        // Also after a failure: a drain that is on its way must not meet the next.
        while (!draining.isEmpty()) {
            for (int i = draining.size() - 1; i >= 0; i--) {
                try {
                    if (draining.get(i).drained(region)) {
                        draining.remove(i);
                    }
                } catch (RuntimeException e) {
                    draining.remove(i);
                    failed = e;
                }
            }
            Thread.onSpinWait();
        }
        region.server().fenceForgotten();
        if (failed != null) {
            throw failed;
        }
    }

    /** Requests that were held may go on, as far as the marks that were {@linkplain #publish published} allow. */
    void resume() {
        for (MigrationParticipant participant : open.get()) {
            participant.resume();
        }
    }
}
