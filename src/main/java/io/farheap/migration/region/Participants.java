package io.farheap.migration.region;

import io.farheap.control.ControlException;
import io.farheap.posix.AsymmetricFence;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.Uninterruptibles;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** All sessions at once, as a migration sees them. One thread at a time. */
final class Participants {

    /** Looks with no pause. */
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

    /** Nothing is awaited any more. Any thread. */
    void stop() {
        stopped = true;
    }

    /** @throws ControlException where it was {@linkplain #stop stopped} */
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

    /** What the caller did before is seen by whatever a session does after it has come out of its gate. */
    void publish() {
        AsymmetricFence.heavy();
    }

    /**
     * Returns when every session has seen the table and the marks as they were {@linkplain #publish published}, and
     * every operation that was posted to a region's server before has completed, or its connection is fenced.
     *
     * @throws ControlException where it was {@linkplain #stop stopped}: nothing is known then
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
        // Also after a failure: a drain that is on its way must not meet the next.
        for (int looks = 0; !draining.isEmpty(); looks++) {
            if (stopped) {
                // Its sessions are about to end: no other drain meets this one.
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

    /** Each look keeps sessions out, and costs a fence: what has not ended after a few takes long. */
    private static void pause(int looks) {
        if (looks < SPINS) {
            Thread.onSpinWait();
        } else {
            Uninterruptibles.parkNanos(
                    Participants.class, Math.min(PAUSE_NANOS * (looks - SPINS + 1), LONGEST_PAUSE_NANOS));
        }
    }

    /** Requests that were held may go on, as far as the marks that were {@linkplain #publish published} allow. */
    void resume() {
        for (MigrationParticipant participant : open.get()) {
            participant.resume();
        }
    }
}
