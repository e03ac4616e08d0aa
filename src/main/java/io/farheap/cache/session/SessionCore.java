package io.farheap.cache.session;

import io.farheap.cache.calls.CallAccesses;
import io.farheap.cache.calls.CallLinks;
import io.farheap.cache.calls.LazySessionCalls;
import io.farheap.cache.calls.SessionCalls;
import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.order.RequestSource;
import io.farheap.cache.route.MigrationLinks;
import io.farheap.latency.OperationLatency;
import io.farheap.lifetime.Closeables;
import io.farheap.migration.region.AddressLimit;
import io.farheap.migration.region.MigrationParticipant;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.OwnerGate;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a session is inside: its gate, the thread that enters it, and what its requests and calls go through, which is
 * replaced while the cache is reconfigured. The owner enters; migrations, reconfigurations and whoever closes the cache
 * claim the gate.
 *
 * <p>A session is one object in four classes: {@link SessionThread} says whose it is, this class what it is made of,
 * {@link SessionRequests} is its way in, and {@link BlockingRequests} waits. Each object between a session and the
 * native call would be a load that the next one waits for.
 */
public class SessionCore extends SessionThread {

    private final SessionHost cache;
    private final AddressLimit capacity;
    private final @Nullable OperationLatency latency;
    private final OwnerGate gate = new OwnerGate();
    /** {@link #wake}, made once: who goes to sleep allocates nothing. */
    private final Runnable waking = this::wake;

    /**
     * Whether it is the cache's own: a client thread's, for the requests of others, or one for what is beyond its end.
     */
    private final boolean worker;
    /** Replaced under the gate's claim, as what it is made of is. */
    private DataPath dataPath;

    private RequestPath path;
    /** The same, while the session is open and has no calls, which might be in a request's way; else null. */
    private @Nullable RequestPath clear;

    private MigrationLinks links;

    private final SessionParticipant participant = new SessionParticipant(() -> links, this::wake, this::mayResume);
    private final SessionEvents events;
    private final ReentrantLock destroying = new ReentrantLock();

    private final LazySessionCalls calls = new LazySessionCalls(this::makeCalls);

    private boolean closing;
    private boolean closed;

    private volatile boolean resumed;
    /** Nothing is pending while requests are refused. Written inside the gate, or with it claimed. */
    private final AtomicBoolean quiet = new AtomicBoolean();
    /** Requests that were refused are taken again. Under the gate. */
    private boolean reopened;

    /**
     * It has yet to be told {@linkplain #use what to use}, before anybody else knows of it.
     *
     * @param capacity bytes up to which it may read and write, now
     */
    @SuppressWarnings("NullAway.Init")
    SessionCore(SessionHost cache, AddressLimit capacity, @Nullable OperationLatency latency, boolean worker) {
        this.cache = cache;
        this.capacity = capacity;
        this.latency = latency;
        this.worker = worker;
        this.events = new SessionEvents(cache.events());
    }

    public @Nullable OperationLatency latency() {
        return latency;
    }

    public OwnerGate gate() {
        return gate;
    }

    public boolean worker() {
        return worker;
    }

    public long capacity() {
        return capacity.bytes();
    }

    /** The session, as a migration sees it. */
    public MigrationParticipant participant() {
        return participant;
    }

    /** Before anybody else knows of it. */
    public void use(DataPath first) {
        dataPath = first;
        path(first.requests());
        links = first.links();
    }

    private void path(RequestPath next) {
        path = next;
        clear = closed || closing || calls.any() ? null : next;
    }

    /** Where requests go now. Inside the gate. */
    public RequestPath path() {
        return path;
    }

    /** Its calls. Inside the gate. */
    public LazySessionCalls calls() {
        return calls;
    }

    private SessionCalls makeCalls() {
        clear = null;
        return new SessionCalls(cache.calls(), new CallAccesses(calls, this::path), gate, this::wake);
    }

    /** Whether a buffer is of this cache. */
    boolean owns(RequestBuffer buffer) {
        return buffer.owner() == cache;
    }

    /**
     * @return to be handed to {@link #exit}: whether the gate was entered, and not before a callback that is running
     *     now
     */
    public boolean enter() {
        own();
        boolean entered = !gate.inside();
        if (entered) {
            gate.enter();
        }
        if (closed) {
            exit(entered);
            throw new IllegalStateException("the session is closed");
        }
        return entered;
    }

    public void exit(boolean entered) {
        if (entered) {
            gate.exit();
        }
    }

    void enterOutsideCallback() {
        refuseInCallback();
        enter();
    }

    /** Where a request may go now; null where calls are in its way, or the session is closed. Inside the gate. */
    @Nullable
    RequestPath pathOf(boolean write, long address, long length) {
        if (clear != null) {
            return clear;
        }
        return closed || closing || calls.block(write, address, length) ? null : path;
    }

    void refuseWhileClosing() {
        if (closing) {
            throw new IllegalStateException("the session is closing");
        }
    }

    /** Throws where the calling thread is in a callback of this session. */
    public void refuseInCallback() {
        if (isCurrent() && gate.inside()) {
            throw new IllegalStateException(
                    "a callback may issue requests, but not poll, block on, release or close its session,"
                            + " nor create, close or move anything of its cache");
        }
    }

    public void release() {
        enterOutsideCallback();
        gate.exit();
        disown();
    }

    /** Makes progress, and runs callbacks. Inside the gate. */
    private int progress() {
        if (resumed) {
            resumed = false;
            path.resumeHeld();
        }
        return path.poll() + calls.poll();
    }

    public int poll() {
        enterOutsideCallback();
        try {
            return progress();
        } finally {
            gate.exit();
        }
    }

    public void flush() {
        boolean entered = enter();
        try {
            path.send();
            calls.send();
        } finally {
            exit(entered);
        }
    }

    public int pending() {
        boolean entered = enter();
        try {
            return path.pending() + calls.pending();
        } finally {
            exit(entered);
        }
    }

    public int held() {
        boolean entered = enter();
        try {
            return path.heldCount() + calls.kept();
        } finally {
            exit(entered);
        }
    }

    /** As {@link RequestPath#owes}. */
    public boolean owes() {
        boolean entered = enter();
        try {
            return path.owes();
        } finally {
            exit(entered);
        }
    }

    /** As {@link RequestPath#unsettled}. */
    public boolean unsettled() {
        boolean entered = enter();
        try {
            return path.unsettled();
        } finally {
            exit(entered);
        }
    }

    /**
     * On a client thread: issues what another session's thread has handed over.
     *
     * @return how many requests
     */
    public int take(RequestSource handed) {
        boolean entered = enter();
        try {
            return handed.issueTo(path);
        } finally {
            exit(entered);
        }
    }

    /** Sleeps until something happens, the thread is unparked or {@code most} ns are over; 0 is for ever. */
    public void sleep(long most) {
        long patience;
        RequestPath sleeping;
        fallsAsleep();
        try {
            enterOutsideCallback();
            try {
                if (reopened) {
                    // Perhaps after a request was refused and before we were known to sleep.
                    reopened = false;
                    return;
                }
                events.watch(dataPath.channel(), waking);
                sleeping = path;
                patience = least(most, least(sleeping.listen(), calls.listen()));
                // What completed before raises no event.
                if (progress() > 0) {
                    return;
                }
            } finally {
                gate.exit();
            }
            sleeping.park(this, events.patience(patience));
        } finally {
            isAwake();
        }
    }

    /** Of two times of which 0 stands for ever. */
    private static long least(long one, long other) {
        return one == 0 || other == 0 ? one + other : Math.min(one, other);
    }

    /** Takes no requests from now on, as if the queue were full. Any thread, as all below. */
    public void quiesce() {
        gate.claimed(() -> {
            if (!closed) {
                path(new QuiescingPath(dataPath.requests(), quiet));
            }
            quiet.set(closed || path.pending() == 0);
        });
        wake();
    }

    /**
     * Whether nothing is pending, and nothing will be until it {@linkplain #goOn goes on}. Its thread tells: who asked
     * under the gate's claim, again and again, would keep it out where a claimer is mostly stopped in the claim.
     */
    public boolean quiet() {
        return quiet.get();
    }

    /** Whose it is, and what of its requests has not ended; for messages. */
    public String describe() {
        gate.claim();
        try {
            return "it is of thread " + name() + ", and has " + path.describe();
        } finally {
            gate.unclaim();
        }
    }

    /** Takes requests again. */
    public void goOn() {
        gate.claimed(() -> {
            if (!closed) {
                path(dataPath.requests());
                reopened = true;
                quiet.set(false);
            }
        });
        wake();
    }

    /**
     * Is to use another data path, once it {@linkplain #goOn goes on}; nothing may be pending.
     *
     * @param replaced told of the one to close before that, at once: what throws then has not kept it from changing
     */
    public void replace(DataPath next, Consumer<DataPath> replaced) {
        destroying.lock();
        try {
            long left = 0;
            RequestPath quiescing = new QuiescingPath(next.requests(), quiet);
            gate.claim();
            try {
                replaced.accept(closed ? next : dataPath);
                if (!closed) {
                    left = events.leave();
                    use(next);
                    path(quiescing);
                }
            } finally {
                gate.unclaim();
            }
            events.forget(left);
            wake();
        } finally {
            destroying.unlock();
        }
    }

    /** A migration lets held requests go on, if there are any: the session looks at its next poll. */
    private void mayResume() {
        if (path.mayHold()) {
            resumed = true;
            wake();
        }
    }

    /** Connects to a server, before a region of it enters the table, unless whoever opens a session has done so. */
    public void connect(RemoteServer server) {
        links.ensure(server);
    }

    /** Ends the connection to a server, if there is one; what is still in flight on it is failed. */
    public void disconnect(RemoteServer server) {
        links.disconnect(server);
        @Nullable CallLinks[] ofCalls = new CallLinks[1];
        gate.claimed(() -> ofCalls[0] = calls.leave(server));
        wake();
        if (ofCalls[0] != null) {
            ofCalls[0].forget(server);
        }
    }

    /** What it has of a server whose lease is lost is lost, from whatever thread. */
    public void lose(RemoteServer server) {
        MigrationLinks[] current = new MigrationLinks[1];
        gate.claimed(() -> {
            current[0] = links;
            calls.lose(server);
        });
        current[0].lose(server);
        wake();
    }

    /**
     * As {@link RequestPath#prepareCopies}, from another thread.
     *
     * @throws IllegalStateException where the session is closed: nothing would free what is prepared
     */
    public void prepareCopies() {
        gate.claimed(() -> {
            if (closed) {
                throw new IllegalStateException("the session is closed");
            }
            path.prepareCopies();
        });
    }

    /** Whether a request uses a buffer that the cache has marked closed. */
    public boolean uses(RequestBuffer buffer) {
        return gate.asked(() -> path.uses(buffer) || calls.uses(buffer));
    }

    /** Whether a request that has not been called back goes beyond an address of the cache, from whatever thread. */
    public boolean reaches(long end) {
        return gate.asked(() -> !closed && (path.reaches(end) || calls.reaches(end)));
    }

    /** Shows where its requests go. Any thread, outside of the gate: the tables that it reads are there for good. */
    public void sample(RegionHeat heat) {
        path.sample(heat);
    }

    boolean isClosed() {
        return gate.asked(() -> closed);
    }

    /** Takes no requests any more, and ends what has not been posted. */
    void beginClose() {
        enter();
        try {
            closing = true;
            clear = null;
            path.abandonUnposted();
            calls.abandonUnposted();
        } finally {
            gate.exit();
        }
    }

    /**
     * Frees everything, from whatever thread, and returns when that is done. The owner's next call is told that it is
     * closed.
     */
    public void destroy() {
        destroying.lock();
        try {
            gate.claim();
            boolean first = !closed;
            closed = true;
            clear = null;
            quiet.set(true);
            gate.unclaim();
            if (first) {
                free();
            }
        } finally {
            destroying.unlock();
        }
    }

    private void free() {
        wake();
        // Calls after what makes accesses for them.
        Closeables.all(() -> events.forget(events.leave()), dataPath, calls, () -> {
            if (latency != null) {
                cache.latency().remove(latency);
            }
        });
    }
}
