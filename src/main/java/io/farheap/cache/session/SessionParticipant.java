package io.farheap.cache.session;

import io.farheap.cache.calls.CallLinks;
import io.farheap.cache.route.MigrationLinks;
import io.farheap.lifetime.Closeables;
import io.farheap.migration.region.MigrationParticipant;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.Uninterruptibles;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A session, as migrations and changes of the cache's servers use it: on their threads, while the session's own thread
 * runs or sleeps.
 */
public final class SessionParticipant implements MigrationParticipant {

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
            progress.look();
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
            // The drain may have taken completions that the session sleeps for, or been a fence that it waits for.
            progress.look();
        }
    }

    @Override
    public boolean drained(RemoteRegion region) {
        try {
            return dataPath.links().drained(region);
        } finally {
            progress.look();
        }
    }

    @Override
    public void resume() {
        progress.resume();
    }

    /**
     * Ends the connections of sessions to a server that the cache leaves, as far as there are any; operations still in
     * flight on them fail. Calls are waited for, so that they continue elsewhere; the sessions' threads need not poll
     * for that. Exceptions are thrown when all sessions are disconnected.
     */
    public static void disconnect(List<SessionParticipant> sessions, RemoteServer server) {
        List<AutoCloseable> steps = new ArrayList<>();
        List<BooleanSupplier> calls = new ArrayList<>();
        for (SessionParticipant session : sessions) {
            steps.add(() -> session.dataPath.links().disconnect(server));
            calls.add(() -> session.settle(server));
        }
        CallSettlement settlement =
                new CallSettlement(server, System::nanoTime, nanos -> Uninterruptibles.parkNanos(server, nanos));
        steps.add(() -> settlement.await(calls));
        for (SessionParticipant session : sessions) {
            steps.add(() -> session.leave(server));
        }
        Closeables.all(steps);
    }

    /** Takes the answers that have arrived from a server. Returns whether calls are still under way there. */
    private boolean settle(RemoteServer server) {
        try {
            return admission.gate().asked(() -> admission.calls().settle(server));
        } finally {
            // The session may sleep for what has been taken, or for operations that have failed.
            sleeper.wake();
        }
    }

    private void leave(RemoteServer server) {
        @Nullable CallLinks[] ofCalls = new CallLinks[1];
        admission.gate().claimed(() -> ofCalls[0] = admission.calls().leave(server));
        sleeper.wake();
        if (ofCalls[0] != null) {
            ofCalls[0].forget(server);
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
        progress.look();
    }
}
