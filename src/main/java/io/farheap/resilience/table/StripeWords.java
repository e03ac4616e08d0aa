package io.farheap.resilience.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A word for each page (in large spaces several pages share one), which keeps the splits of two writes apart, among all
 * sessions of one process. Its states:
 *
 * <pre>
 * FREE      version | 0       | 00      may be read; compare afterwards
 * WRITING   version | 0       | 01      a write has the word: not read
 * OWED      version | splits  | 00      the write has completed but these splits are not there yet: the others are read
 * HELD      version | 0       | 10      a regeneration or a read keeps writers out and changes nothing: read as if FREE
 * </pre>
 *
 * The version rises when a write makes its page readable again. A reader notes the word before it asks for splits, with
 * acquire: so it sees which slabs the end of the last write has made void. It compares the word once it has the splits.
 * If the version is the same and WRITING was not set, no write was under way meanwhile to a split that it read.
 *
 * <p>A thread takes a word by a compare-and-swap from FREE, and does not wait in here if that fails. A thread that
 * waits for a word to write holds no other word, so no order of taking is needed. A thread that wants to sleep until a
 * word is free first calls {@link #beginWaiting}, tries again, and then sleeps; a thread that frees a word stores the
 * word first and reads the count of waiting threads afterwards. Both are volatile, so one of the two sees the other.
 */
public final class StripeWords {

    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

    private static final long WRITING = 1;
    private static final long HELD = 2;
    private static final int OWED_SHIFT = 2;
    private static final long OWED = 0xFFFFFL << OWED_SHIFT;
    private static final int VERSION_SHIFT = 22;
    private static final long VERSION = 1L << VERSION_SHIFT;
    private static final long TAKEN = WRITING | HELD | OWED;

    private static final int MOST_WORDS = 1 << 20;
    private static final int TRIES = 200;

    private final long[] words;
    private final int mask;
    private final AtomicInteger waiting = new AtomicInteger();
    private final List<Runnable> sleepers = new CopyOnWriteArrayList<>();

    StripeWords(long pages) {
        int size = 1;
        while (size < pages && size < MOST_WORDS) {
            size <<= 1;
        }
        this.words = new long[size];
        this.mask = size - 1;
    }

    private int index(long page) {
        return (int) page & mask;
    }

    /** The word as it is now, with acquire: loads that follow are not moved before it. */
    public long look(long page) {
        return (long) WORD.getAcquire(words, index(page));
    }

    public static boolean writing(long word) {
        return (word & WRITING) != 0;
    }

    public static boolean held(long word) {
        return (word & HELD) != 0;
    }

    /** The splits that are not there yet, a bit for each. */
    public static int owed(long word) {
        return (int) ((word & OWED) >>> OWED_SHIFT);
    }

    /** Whether no write was under way between two looks, except to splits that were owed at the first look. */
    public static boolean same(long before, long after) {
        return ((before ^ after) & ~(HELD | OWED)) == 0 && (before & WRITING) == 0;
    }

    /** Begins a write. */
    public boolean tryWrite(long page) {
        return take(page, WRITING);
    }

    /** Takes the word to keep writers out; readers are not kept out. */
    public boolean tryHold(long page) {
        return take(page, HELD);
    }

    /**
     * The same for several pages, all or none: it must not keep the words of other pages while one write is stuck.
     * Spins briefly.
     */
    public boolean tryHold(long first, int pages) {
        for (int i = 0; i < pages; i++) {
            int tries = 0;
            while (!tryHold(first + i)) {
                if (++tries > TRIES) {
                    endHold(first, i);
                    return false;
                }
                Thread.onSpinWait();
            }
        }
        return true;
    }

    private boolean take(long page, long how) {
        int index = index(page);
        long word = (long) WORD.getVolatile(words, index);
        return (word & TAKEN) == 0 && WORD.compareAndSet(words, index, word, word | how);
    }

    /** A write completes although some of its splits are still to come. */
    public void owe(long page, int splits) {
        int index = index(page);
        long word = (long) WORD.get(words, index);
        WORD.setVolatile(words, index, (word & ~WRITING) + VERSION | (long) splits << OWED_SHIFT);
    }

    /** Owed splits of a write have come, or their slabs are void. */
    public void pay(long page, int splits) {
        int index = index(page);
        long word = (long) WORD.get(words, index) & ~((long) splits << OWED_SHIFT);
        WORD.setVolatile(words, index, word);
        if ((word & TAKEN) == 0) {
            wake();
        }
    }

    /** Ends a write: every split is there, or its slab is void. */
    public void endWrite(long page) {
        int index = index(page);
        long word = (long) WORD.get(words, index);
        WORD.setVolatile(words, index, (word & ~WRITING) + VERSION);
        wake();
    }

    public void endHold(long page) {
        int index = index(page);
        long word = (long) WORD.get(words, index);
        WORD.setVolatile(words, index, word & ~HELD);
        wake();
    }

    public void endHold(long first, int pages) {
        for (int i = 0; i < pages; i++) {
            endHold(first + i);
        }
    }

    /** The calling thread is about to sleep until a word is free, and tries once more before it does. */
    public void beginWaiting() {
        waiting.incrementAndGet();
    }

    public void endWaiting() {
        waiting.decrementAndGet();
    }

    public void add(Runnable sleeper) {
        sleepers.add(sleeper);
    }

    public void remove(Runnable sleeper) {
        sleepers.remove(sleeper);
    }

    private void wake() {
        if (waiting.get() != 0) {
            sleepers.forEach(Runnable::run);
        }
    }
}
