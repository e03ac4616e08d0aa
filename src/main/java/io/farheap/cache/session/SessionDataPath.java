package io.farheap.cache.session;

import io.farheap.cache.route.MigrationLinks;
import io.farheap.lifetime.Closeables;
import io.farheap.verbs.CompletionChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The data path that a session uses now, from its first to the end of its last.
 *
 * <p><b>Replacing it.</b> Another thread lets the session take no requests ({@link #quiesce}), waits until those that
 * it has are called back ({@link #quiet}), puts another path in the place of this one ({@link #replace}), and lets the
 * session take requests again ({@link #goOn}).
 */
public final class SessionDataPath {

    private final SessionAdmission admission;
    private final SessionSleeper sleeper;
    /** Held by a thread that replaces the path, or closes the last. */
    private final ReentrantLock replacing = new ReentrantLock();
    /** Replaced with the gate claimed. */
    private DataPath now;
    /** Nothing is pending while requests are refused. Written inside the gate, or with it claimed. */
    private final AtomicBoolean quiet = new AtomicBoolean();
    /** Requests that were refused are taken again. Under the gate. */
    private boolean reopened;

    /** It has yet to be told {@linkplain #use what to use}. */
    @SuppressWarnings("NullAway.Init")
    SessionDataPath(SessionAdmission admission, SessionSleeper sleeper) {
        this.admission = admission;
        this.sleeper = sleeper;
    }

    /** The first. Before another thread knows of the session. */
    public void use(DataPath first) {
        now = first;
        admission.path(first.requests());
    }

    /** To the servers. */
    MigrationLinks links() {
        return now.links();
    }

    /** As {@link DataPath#channel}. Inside the gate. */
    @Nullable
    CompletionChannel channel() {
        return now.channel();
    }

    /**
     * Whether requests are taken again since the last look: one may have been refused before the owner was known to
     * sleep. Inside the gate.
     */
    boolean reopened() {
        boolean since = reopened;
        reopened = false;
        return since;
    }

    /** Takes no requests from now on, as if the queue were full. Any thread, as all below. */
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
     * Whether nothing is pending, and nothing will be until it {@linkplain #goOn goes on}. The session's thread says
     * so: a thread that asked under the gate's claim, again and again, would keep it out where a claimer is mostly
     * stopped in the claim.
     */
    public boolean quiet() {
        return quiet.get();
    }

    /** Takes requests again. */
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
     * Is to use another data path, once it {@linkplain #goOn goes on}; nothing may be pending.
     *
     * @param replaced told of the one to close before that, at once: what throws then has not kept it from changing
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
     * Closes the last, and then what else the session has, once; returns when that is done. The owner's next request is
     * refused.
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
