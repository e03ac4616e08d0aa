package io.farheap.thread;

import io.farheap.posix.Posix;
import io.farheap.posix.PosixException;
import java.util.BitSet;

/** Pins threads to cores. */
public final class ThreadAffinity {

    /** Not a core: the thread stays where the scheduler puts it. */
    public static final int ANY = -1;

    private static final System.Logger LOG = System.getLogger(ThreadAffinity.class.getName());

    private ThreadAffinity() {}

    /** Pins the calling platform thread to one core. If the machine refuses, only speed is lost. */
    public static void pin(int core) {
        if (core == ANY) {
            return;
        }
        BitSet mask = new BitSet();
        mask.set(core);
        try {
            Posix.setAffinity(mask);
        } catch (PosixException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "thread " + Thread.currentThread().getName() + " is not pinned: " + e.getMessage());
        }
    }
}
