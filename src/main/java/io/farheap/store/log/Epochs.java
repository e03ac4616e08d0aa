package io.farheap.store.log;

import io.farheap.posix.AsymmetricFence;
import io.farheap.thread.Uninterruptibles;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Who is inside an operation, and since when (FASTER, section 2.4). A session stores the present epoch when it enters
 * and 0 when it leaves, each a plain store of its own cache line; whoever changes a mark {@linkplain #advance advances}
 * the epoch behind it, and knows that nobody acts on the old mark once the new epoch has {@linkplain #passed passed}. A
 * session that nobody calls is outside, and holds up nothing.
 *
 * <p>A session's store of its epoch pairs with the fence in {@code advance}: where the store came before, the scan sees
 * it and waits for it to go; where it comes after, the session's loads of marks do too, and see the new one. Its
 * release store of 0 pairs with the acquire load of the scan: what it did inside has happened.
 */
public final class Epochs {

    /** Sessions at a time. */
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

    /** @return a place, to be given back */
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

    /** By the place's owner. Loads after it see each mark whose epoch does not wait for this place. */
    public void enter(int place) {
        WORD.setOpaque(words, (place + 1) * PAIR_OF_LINES, (long) WORD.getOpaque(words, 0));
        AsymmetricFence.light();
    }

    /** By the place's owner. */
    public void leave(int place) {
        WORD.setRelease(words, (place + 1) * PAIR_OF_LINES, 0L);
    }

    /** Whether the place's owner is inside. What it did before it left is seen by who is told no. */
    public boolean inside(int place) {
        return (long) WORD.getAcquire(words, (place + 1) * PAIR_OF_LINES) != 0;
    }

    /** Behind a store of a mark. @return the epoch to wait for */
    public long advance() {
        long epoch = (long) WORD.getAndAdd(words, 0, 1L) + 1;
        AsymmetricFence.heavy();
        return epoch;
    }

    /** Whether all who were inside when that epoch began have left. */
    public boolean passed(long epoch) {
        for (int place = 0, places = used; place < places; place++) {
            long entered = (long) WORD.getAcquire(words, (place + 1) * PAIR_OF_LINES);
            if (entered != 0 && entered < epoch) {
                return false;
            }
        }
        return true;
    }

    /** Returns when all who are inside at this moment have left. By a thread that is outside. */
    public void awaitAll() {
        long epoch = advance();
        while (!passed(epoch)) {
            Uninterruptibles.parkNanos(this, NAP_NANOS);
        }
    }
}
