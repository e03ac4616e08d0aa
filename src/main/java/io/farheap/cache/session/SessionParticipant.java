package io.farheap.cache.session;

import io.farheap.cache.calls.CallLinks;
import io.farheap.cache.route.MigrationLinks;
import io.farheap.migration.region.MigrationParticipant;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.StallAwareTimeout;
import io.farheap.thread.Uninterruptibles;
import org.jspecify.annotations.Nullable;

/**
 * A session, as migrations and changes of the cache's servers use it: on their threads, while the session's own thread
 * runs or sleeps.
 */
public final class SessionParticipant implements MigrationParticipant {

    /** How long a server that the cache leaves may take to send calls back. */
    private static final long ANSWERS_NANOS = 1_000_000_000;
    /** Between two looks: each claims the gate. */
    private static final long LOOK_NANOS = 100_000;

    private final SessionAdmission admission;
    private final SessionDataPath dataPath;
    private final SessionSleeper sleeper;
    private final SessionProgress progress;

    SessionParticipant(
            SessionAdmission admission, SessionDataPath dataPath, SessionSleeper sleeper, SessionProgress progress) {
        this.admission = admission;
        this.dataPath = dataPath;
        this.sleeper = sleeper;
        this.progress = progress;
    }

    /**
     * Connects to a server before a region of it enters the table, unless the session connected to it when it was
     * opened.
     */
    public void connect(RemoteServer server) {
        dataPath.links().ensure(server);
    }

    @Override
    public void ensureConnected(RemoteServer server) {
        try {
            dataPath.links().ensure(server);
        } finally {
            // Operations of an end that was left are lost, also if no other end was made.
            sleeper.wake();
        }
    }

    @Override
    public boolean drain(RemoteRegion region) {
        MigrationLinks now = dataPath.links();
        if (now.isDrained(region)) {
            return true;
        }
        try {
            return now.drain(region);
        } finally {
            // The drain may have taken completions that the session sleeps for.
            sleeper.wake();
        }
    }

    @Override
    public boolean drained(RemoteRegion region) {
        try {
            return dataPath.links().drained(region);
        } finally {
            sleeper.wake();
        }
    }

    @Override
    public void resume() {
        progress.resume();
    }

    /** Ends the connection to a server, if there is one; operations still in flight on it fail. */
    public void disconnect(RemoteServer server) {
        dataPath.links().disconnect(server);
        settleCalls(server);
        @Nullable CallLinks[] ofCalls = new CallLinks[1];
        admission.gate().claimed(() -> ofCalls[0] = admission.calls().leave(server));
        sleeper.wake();
        if (ofCalls[0] != null) {
            ofCalls[0].forget(server);
        }
    }

    /**
     * Waits until a server that the cache leaves has sent the session's calls back, so that they continue elsewhere: a
     * call that writes would be lost. The session's thread need not poll for that. Calls of a server that does not
     * answer for long are lost.
     */
    private void settleCalls(RemoteServer server) {
        StallAwareTimeout patience = new StallAwareTimeout(ANSWERS_NANOS);
        while (server.lost() == null
                && admission.gate().asked(() -> admission.calls().settle(server))) {
            if (patience.over()) {
                return;
            }
            Uninterruptibles.parkNanos(this, LOOK_NANOS);
        }
    }

    /** Fails the session's connections and calls to a server whose lease is lost. */
    public void lose(RemoteServer server) {
        MigrationLinks[] current = new MigrationLinks[1];
        admission.gate().claimed(() -> {
            current[0] = dataPath.links();
            admission.calls().lose(server);
        });
        current[0].lose(server);
        sleeper.wake();
    }
}
