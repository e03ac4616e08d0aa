package io.farheap.cache.session;

import io.farheap.cache.order.RequestPath;
import io.farheap.cache.order.RequestSource;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes a session's requests and calls progress: sends them, polls for them and calls them back, and lets the owner
 * sleep while there is no progress. The owner alone, except for {@link #resume}.
 */
public final class SessionProgress {

    private static final long SPIN_NANOS = 50_000;
    /**
     * The longest sleep of an interrupted thread: clearing the interrupt may have consumed the unpark that was to wake
     * it.
     */
    private static final long INTERRUPTED_NANOS = 1_000_000;

    private final SessionAdmission admission;
    private final SessionDataPath dataPath;
    private final SessionSleeper sleeper;
    /**
     * Whether the next poll has to look for held requests that may be posted. Set by migrations, cleared by the owner
     * inside its gate.
     */
    private volatile boolean resumed;

    SessionProgress(SessionAdmission admission, SessionDataPath dataPath, SessionSleeper sleeper) {
        this.admission = admission;
        this.dataPath = dataPath;
        this.sleeper = sleeper;
    }

    /** As {@link io.farheap.cache.CacheSession#poll}. */
    public int poll() {
        boolean entered = admission.enterOutsideCallback();
        try {
            return progress();
        } finally {
            admission.exit(entered);
        }
    }

    /** Inside the gate. */
    private int progress() {
        RequestPath path = admission.path();
        if (resumed) {
            resumed = false;
            path.resumeHeld();
        }
        return path.poll() + admission.calls().poll();
    }

    /** As {@link io.farheap.cache.CacheSession#flush}. */
    public void flush() {
        boolean entered = admission.enter();
        try {
            admission.path().send();
            admission.calls().send();
        } finally {
            admission.exit(entered);
        }
    }

    /**
     * On a client thread: issues requests that another session's thread has handed over.
     *
     * @return how many requests
     */
    public int take(RequestSource handed) {
        boolean entered = admission.enter();
        try {
            return handed.issueTo(admission.path());
        } finally {
            admission.exit(entered);
        }
    }

    /** As {@link io.farheap.cache.CacheSession#awaitProgress}. */
    public void awaitProgress() {
        awaitProgress(0);
    }

    /** @param most as for {@link #sleep} */
    public void awaitProgress(long most) {
        // An interrupt makes parking return at once, so that waiting would spin: clear it here, and set it again for
        // the caller.
        boolean interrupted = Thread.interrupted();
        try {
            if (interrupted) {
                // Interrupting a thread also unparks it, and each wait here interrupts it again: consume that permit.
                LockSupport.parkNanos(this, 1);
            }
            pollOrSleep(interrupted ? INTERRUPTED_NANOS : most);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** @param most as for {@link #sleep} */
    private void pollOrSleep(long most) {
        if (poll() > 0) {
            return;
        }
        if (!Thread.currentThread().isVirtual()) {
            long deadline = System.nanoTime() + SPIN_NANOS;
            while (System.nanoTime() - deadline < 0) {
                Thread.onSpinWait();
                if (poll() > 0) {
                    return;
                }
            }
        }
        sleep(most);
    }

    /** Sleeps until there may be progress, the thread is unparked or {@code most} ns have passed; 0 is for ever. */
    public void sleep(long most) {
        long patience;
        RequestPath sleeping;
        sleeper.fallsAsleep();
        try {
            boolean entered = admission.enterOutsideCallback();
            try {
                if (dataPath.reopened()) {
                    return;
                }
                sleeper.watch(dataPath.channel());
                sleeping = admission.path();
                patience =
                        least(most, least(sleeping.listen(), admission.calls().listen()));
                // Operations that completed before raise no event.
                if (progress() > 0) {
                    return;
                }
                patience = least(patience, sleeping.longestSleep());
            } finally {
                admission.exit(entered);
            }
            sleeping.park(this, sleeper.patience(patience));
        } finally {
            sleeper.isAwake();
        }
    }

    /** The shorter of two times, of which 0 stands for ever. */
    private static long least(long one, long other) {
        return one == 0 || other == 0 ? one + other : Math.min(one, other);
    }

    /** Makes the next poll look at held requests, and wakes the owner if it sleeps. Any thread. */
    public void look() {
        resumed = true;
        sleeper.wake();
    }

    /**
     * Called by a migration that has released a range: if requests are held, the session looks at them with its next
     * poll. Any thread.
     */
    void resume() {
        if (admission.path().mayHold()) {
            look();
        }
    }
}
