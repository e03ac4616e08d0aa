package io.farheap.cache.session;

import io.farheap.cache.calls.CallAccesses;
import io.farheap.cache.calls.LazySessionCalls;
import io.farheap.cache.calls.SessionCalls;
import io.farheap.latency.OperationLatency;
import io.farheap.migration.region.AddressLimit;
import org.jspecify.annotations.Nullable;

/**
 * A session from the inside: its parts, each of which has one concern. How a request is ordered, posted, completed and
 * called back is the concern of the {@linkplain SessionDataPath data path}.
 */
public final class SessionCore {

    /** Which thread owns the session, and which requests are admitted. */
    public final SessionAdmission admission;
    /** Issues reads and writes. */
    public final SessionRequests requests;
    /** Issues calls of procedures. */
    public final CallRequests calls;
    /** Reads, writes and calls that the owner waits for. */
    public final BlockingRequests blocking;
    /** Sending, polling and sleeping. */
    public final SessionProgress progress;
    /** Requests and calls that have not ended yet. */
    public final PendingRequests pending;
    /** The data path of requests now, and its replacement. */
    public final SessionDataPath dataPath;
    /** The session, as migrations and changes of the cache's servers use it. */
    public final SessionParticipant participant;
    /** Wakes the owner if it sleeps. */
    public final SessionSleeper sleeper;
    /** The session's end. */
    public final SessionLifeCycle lifeCycle;

    public final @Nullable OperationLatency latency;
    /**
     * Whether it is the cache's own session: that of a client thread, for the requests of other sessions, or one that
     * may access the last region beyond the capacity.
     */
    public final boolean worker;

    private final Owner cache;

    /** The cache, as its sessions use it, with the methods that end them. */
    public interface Owner extends SessionHost {

        /** Ends a session. */
        void close(SessionCore session);

        /** Fails all connections of a session. */
        void loseAll(SessionCore session);
    }

    /**
     * The caller gives it a {@linkplain SessionDataPath#use data path} before another thread knows it.
     *
     * @param capacity the address limit of its requests, in bytes
     */
    public SessionCore(Owner cache, AddressLimit capacity, @Nullable OperationLatency latency, boolean worker) {
        this.cache = cache;
        this.latency = latency;
        this.worker = worker;
        admission = new SessionAdmission(cache, capacity, new LazySessionCalls(this::makeCalls));
        sleeper = new SessionSleeper(cache.events());
        dataPath = new SessionDataPath(admission, sleeper);
        progress = new SessionProgress(admission, dataPath, sleeper);
        pending = new PendingRequests(admission);
        requests = new SessionRequests(admission);
        calls = new CallRequests(admission);
        blocking = new BlockingRequests(admission, requests, calls, progress, pending, cache);
        participant = new SessionParticipant(admission, dataPath, sleeper, progress);
        lifeCycle = new SessionLifeCycle(new End(), admission, dataPath, progress, pending);
    }

    private SessionCalls makeCalls() {
        admission.expectCalls();
        return new SessionCalls(
                cache.calls(), new CallAccesses(admission.calls(), admission::path), admission.gate(), sleeper::wake);
    }

    /** The cache's part in the end of this session. */
    private final class End implements SessionLifeCycle.Host {

        @Override
        public void refuseInCallback() {
            cache.refuseInCallback();
        }

        @Override
        public void close() {
            cache.close(SessionCore.this);
        }

        @Override
        public void loseAll() {
            cache.loseAll(SessionCore.this);
        }

        @Override
        public void forgetLatency() {
            if (latency != null) {
                cache.latency().remove(latency);
            }
        }
    }
}
