package io.farheap.cache.session;

import io.farheap.cache.route.MigrationLinks;
import io.farheap.lifetime.Closeables;
import io.farheap.verbs.CompletionChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The data path that a session uses now: the first is set when the session opens, later ones replace it, and the last
 * is closed with the session.
 *
 * <p><b>Replacing it.</b> The reconfiguring thread makes the session refuse new requests ({@link #quiesce}), waits
 * until the pending ones are called back ({@link #quiet}), replaces the path ({@link #replace}), and makes the session
 * accept requests again ({@link #goOn}).
 */
public final class SessionDataPath {

    private final SessionAdmission admission;
    private final SessionSleeper sleeper;
    /** Held by a thread that replaces the path, or closes the last one. */
    private final ReentrantLock replacing = new ReentrantLock();
    /** Replaced with the gate claimed. */
    private DataPath now;
    /** Whether requests are refused and none is pending. Written inside the gate, or with it claimed. */
    private final AtomicBoolean quiet = new AtomicBoolean();
    /** Whether requests are accepted again after a refusal. Inside the gate, or with it claimed. */
    private boolean reopened;

    /** The caller sets the {@linkplain #use first path} before the first use. */
    @SuppressWarnings("NullAway.Init")
    SessionDataPath(SessionAdmission admission, SessionSleeper sleeper) {
        this.admission = admission;
        this.sleeper = sleeper;
    }

    /** Sets the first path. Before another thread knows the session. */
    public void use(DataPath first) {
        now = first;
        admission.path(first.requests());
    }

    /** The session's connections to servers. */
    MigrationLinks links() {
        return now.links();
    }

    /** As {@link DataPath#channel}. Inside the gate. */
    @Nullable
    CompletionChannel channel() {
        return now.channel();
    }

    /**
     * Whether requests have been accepted again since the last call: the owner may have been refused one before the
     * reconfiguring thread could see that it sleeps, so it must not sleep now. Inside the gate.
     */
    boolean reopened() {
        boolean since = reopened;
        reopened = false;
        return since;
    }

    /** Refuses requests from now on, as if the queue were full. Any thread, as for all methods below. */
    public void quiesce() {
        admission.gate().claimed(() -> {
            if (!admission.closed()) {
                admission.path(new QuiescingPath(now.requests(), quiet));
            }
            quiet.set(admission.closed() || admission.path().pending() == 0);
        });
        sleeper.wake();
    }

    /**
     * Whether no request is pending, and none will be until {@link #goOn}. The session's thread stores it: a thread
     * that claimed the gate to look, again and again, would keep the owner out whenever the scheduler stops it within a
     * claim.
     */
    public boolean quiet() {
        return quiet.get();
    }

    /** Accepts requests again. */
    public void goOn() {
        admission.gate().claimed(() -> {
            if (!admission.closed()) {
                admission.path(now.requests());
                reopened = true;
                quiet.set(false);
            }
        });
        sleeper.wake();
    }

    /**
     * Replaces the data path while the session is {@linkplain #quiet quiet}; the session uses the new one from
     * {@link #goOn} on.
     *
     * @param replaced receives the path that the caller has to close, before the session changes to the new one: the
     *     old path, or {@code next} if the session is closed
     */
    public void replace(DataPath next, Consumer<DataPath> replaced) {
        replacing.lock();
        try {
            long left = 0;
            QuiescingPath quiescing = new QuiescingPath(next.requests(), quiet);
            admission.gate().claim();
            try {
                replaced.accept(admission.closed() ? next : now);
                if (!admission.closed()) {
                    left = sleeper.leave();
                    now = next;
                    admission.path(quiescing);
                }
            } finally {
                admission.gate().unclaim();
            }
            sleeper.forget(left);
            sleeper.wake();
        } finally {
            replacing.unlock();
        }
    }

    /**
     * Closes the last path and then the session's other resources, once; returns when that is done. The owner's next
     * request is refused.
     */
    void close(AutoCloseable others) {
        replacing.lock();
        try {
            boolean first = admission.gate().asked(() -> {
                quiet.set(true);
                return admission.close();
            });
            if (first) {
                sleeper.wake();
                Closeables.all(() -> sleeper.forget(sleeper.leave()), now, others);
            }
        } finally {
            replacing.unlock();
        }
    }
}
