package io.farheap.migration.region;

import io.farheap.control.ControlException;
import io.farheap.posix.AsymmetricFence;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.Uninterruptibles;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** All sessions at once, as a migration uses them. One thread at a time. */
final class Participants {

    /** Number of looks without a pause between them. */
    private static final int SPINS = 32;

    private static final long PAUSE_NANOS = 5_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000;

    private final Supplier<List<? extends MigrationParticipant>> open;
    private final List<MigrationParticipant> draining = new ArrayList<>();
    private volatile boolean stopped;

    /** @param open the sessions that are open when it is called */
    Participants(Supplier<List<? extends MigrationParticipant>> open) {
        this.open = open;
    }

    /** Stops all waiting. Any thread. */
    void stop() {
        stopped = true;
    }

    /**
     * Throws if the migration is to stop.
     *
     * @throws ControlException if it was {@linkplain #stop stopped}
     */
    void requireGoing() {
        if (stopped) {
            throw new ControlException(ControlException.Code.CANCELLED, "the cache is being closed");
        }
    }

    void ensureConnected(RemoteServer server) {
        for (MigrationParticipant participant : open.get()) {
            participant.ensureConnected(server);
        }
    }

    /**
     * Makes the caller's earlier stores visible to each session's operations after it has next passed its gate (heavy
     * fence).
     */
    void publish() {
        AsymmetricFence.heavy();
    }

    /**
     * Returns when every session has seen the table and the marks as they were {@linkplain #publish published}, and
     * every operation that was posted to the region's server before has completed, or its connection is fenced.
     *
     * @throws ControlException if it was {@linkplain #stop stopped}: nothing is known then
     */
    void drain(RemoteRegion region) {
        requireGoing();
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
        // Also after a failure: a drain that is in progress must have ended before the next one begins.
        for (int looks = 0; !draining.isEmpty(); looks++) {
            if (stopped) {
                // The sessions are about to end, so no other drain follows.
                draining.clear();
                requireGoing();
            }
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
            pause(looks);
        }
        region.server().fenceForgotten();
        if (failed != null) {
            throw failed;
        }
    }

    /**
     * Each look keeps sessions out of their gates and costs a fence; a drain that has not ended after a few looks takes
     * long.
     */
    private static void pause(int looks) {
        if (looks < SPINS) {
            Thread.onSpinWait();
        } else {
            Uninterruptibles.parkNanos(
                    Participants.class, Math.min(PAUSE_NANOS * (looks - SPINS + 1), LONGEST_PAUSE_NANOS));
        }
    }

    /** Lets held requests continue, as far as the marks that were {@linkplain #publish published} allow. */
    void resume() {
        for (MigrationParticipant participant : open.get()) {
            participant.resume();
        }
    }
}
