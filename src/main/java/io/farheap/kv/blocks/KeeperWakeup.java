package io.farheap.kv.blocks;

import java.util.concurrent.locks.LockSupport;

/**
 * Wakes a map's keeper. Unparking it is not enough: the keeper also sleeps within a call to a server, and that sleep
 * would use the permit up without a look at the mailboxes. So a flag remembers the wake-up.
 *
 * <p>{@code rings} is written by any thread (true) and by the keeper (false). A thread first writes what the keeper is
 * to find, and then {@linkplain #ring rings}. The keeper first {@linkplain #hear clears} the flag, then looks for work,
 * and asks whether it {@linkplain #rings rings} before it sleeps. If it missed something that was written after its
 * look, the flag is set, or the unpark ends its sleep.
 */
public final class KeeperWakeup {

    private final Thread keeper;
    private volatile boolean rings;

    /** @param keeper the keeper's thread, which need not run yet */
    public KeeperWakeup(Thread keeper) {
        this.keeper = keeper;
    }

    /** Any thread. */
    public void ring() {
        rings = true;
        LockSupport.unpark(keeper);
    }

    /** Clears the flag. The keeper's thread, which looks for work after this. */
    public void hear() {
        rings = false;
    }

    /** Whether a thread has rung since {@link #hear}. */
    public boolean rings() {
        return rings;
    }
}
