package io.farheap.store.log;

import io.farheap.posix.AsymmetricFence;
import io.farheap.thread.Uninterruptibles;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Which sessions are inside an operation, and since which epoch (FASTER, section 2.4). With it a thread moves a mark of
 * the log and learns when no session acts on the old mark any more.
 *
 * <p>A session stores the current epoch into its place when it enters an operation, and 0 when it leaves: each a single
 * store to a cache line of its own. A thread that has changed a mark then {@linkplain #advance advances} the epoch.
 * Once the new epoch has {@linkplain #passed passed}, no session acts on the old mark. A session that is not in a call
 * is outside, and holds up no thread.
 *
 * <p>A session's store of its epoch pairs with the fence in {@code advance}: if the store came before the fence, the
 * scan sees it and waits for the session to leave; if it came after, the session's loads of marks also come after, and
 * see the new mark. The release store of 0 pairs with the acquire load of the scan: all that the session did inside
 * happened before.
 */
public final class Epochs {

    /** How many sessions there may be at a time. */
    static final int PLACES = 512;

    private static final long NAP_NANOS = 50_000;
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int PAIR_OF_LINES = 128 / Long.BYTES;

    /** The epoch, then a pair of cache lines for each place; 0 is outside. */
    private final long[] words = new long[(PLACES + 1) * PAIR_OF_LINES];

    private final boolean[] taken = new boolean[PLACES];
    /** Places above it were never taken. */
    private volatile int used;

    public Epochs() {
        words[0] = 1;
    }

    /** @return a place, which the caller gives back */
    public synchronized int take() {
        for (int place = 0; place < PLACES; place++) {
            if (!taken[place]) {
                taken[place] = true;
                used = Math.max(used, place + 1);
                return place;
            }
        }
        throw new IllegalStateException(
                "the store has " + PLACES + " sessions, which is the limit; close one, or share one between threads");
    }

    public synchronized void giveBack(int place) {
        taken[place] = false;
    }

    /**
     * Enters an operation; called by the place's owner. Loads after this see each mark whose epoch does not wait for
     * this place.
     */
    public void enter(int place) {
        WORD.setOpaque(words, (place + 1) * PAIR_OF_LINES, (long) WORD.getOpaque(words, 0));
        AsymmetricFence.light();
    }

    /** Leaves the operation; called by the place's owner. */
    public void leave(int place) {
        WORD.setRelease(words, (place + 1) * PAIR_OF_LINES, 0L);
    }

    /** Whether the place's owner is inside. If not, the caller sees everything that the owner did before it left. */
    public boolean inside(int place) {
        return (long) WORD.getAcquire(words, (place + 1) * PAIR_OF_LINES) != 0;
    }

    /** Advances the epoch, after the caller has stored a mark. @return the epoch to wait for */
    public long advance() {
        long epoch = (long) WORD.getAndAdd(words, 0, 1L) + 1;
        AsymmetricFence.heavy();
        return epoch;
    }

    /** Whether all sessions that were inside when that epoch began have left. */
    public boolean passed(long epoch) {
        for (int place = 0, places = used; place < places; place++) {
            long entered = (long) WORD.getAcquire(words, (place + 1) * PAIR_OF_LINES);
            if (entered != 0 && entered < epoch) {
                return false;
            }
        }
        return true;
    }

    /** Returns when all sessions that are inside at this moment have left. The calling thread is outside. */
    public void awaitAll() {
        long epoch = advance();
        while (!passed(epoch)) {
            Uninterruptibles.parkNanos(this, NAP_NANOS);
        }
    }
}
