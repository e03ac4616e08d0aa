package io.farheap.kv.blocks;

import java.util.concurrent.locks.LockSupport;

/**
 * Wakes a map's keeper. That it is unparked is not enough: within a call to a server it sleeps, too, and would use that
 * up without a look at who has rung. So the bell keeps it.
 *
 * <p>Whoever rings has written before what the keeper is to find. The keeper {@linkplain #hear hears} before it looks,
 * and asks whether it {@linkplain #rings rings} before it sleeps: what was written behind its look has rung by then, or
 * unparks it.
 */
public final class KeeperWakeup {

    private final Thread keeper;
    private volatile boolean rings;

    public KeeperWakeup(Thread keeper) {
        this.keeper = keeper;
    }

    /** Any thread. */
    public void ring() {
        rings = true;
        LockSupport.unpark(keeper);
    }

    /** The keeper's thread, which looks for what there is to do behind this. */
    public void hear() {
        rings = false;
    }

    /** Whether somebody has rung since. */
    public boolean rings() {
        return rings;
    }
}
