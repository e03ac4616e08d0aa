package io.farheap.resilience.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A word for each page (beyond a number of pages, for several), by which sessions of one process keep splits of two
 * writes apart. Its states:
 *
 * <pre>
 * FREE      version | 0       | 00      read, compare afterwards
 * WRITING   version | 0       | 01      a write has it: not read
 * OWED      version | splits  | 00      the write has been called back, these splits are not there yet: others are read
 * HELD      version | 0       | 10      somebody else keeps writers out, and changes nothing: read as if FREE
 * </pre>
 *
 * The version goes up when a write makes its page readable again. A reader notes the word before it asks for splits
 * (acquire: it sees which slabs that write's end has made void), and compares it once it has them: where version and
 * WRITING are as they were, no write was under way meanwhile to a split that it read.
 *
 * <p>A word is taken by a compare-and-swap from FREE, by whoever finds it so; nobody waits in here, and nobody who
 * waits for one has another, so there is no order in which to take them. Who is to sleep until one is free says so
 * first ({@link #beginWaiting}), looks again, and sleeps: an end stores the word before it reads whether somebody
 * waits.
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

    /** As it is; what is read afterwards is read after it. */
    public long look(long page) {
        return (long) WORD.getAcquire(words, index(page));
    }

    public static boolean writing(long word) {
        return (word & WRITING) != 0;
    }

    public static boolean held(long word) {
        return (word & HELD) != 0;
    }

    /** Splits that are not there yet, a bit each. */
    public static int owed(long word) {
        return (int) ((word & OWED) >>> OWED_SHIFT);
    }

    /** Whether no write was under way between two looks but to splits that were owed at the first. */
    public static boolean same(long before, long after) {
        return ((before ^ after) & ~(HELD | OWED)) == 0 && (before & WRITING) == 0;
    }

    /** Begins a write. */
    public boolean tryWrite(long page) {
        return take(page, WRITING);
    }

    /** Keeps writers out, and readers not. */
    public boolean tryHold(long page) {
        return take(page, HELD);
    }

    /**
     * The same for some pages, all or none: a write that is stuck must not hold up those of other pages. Spins a
     * little.
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

    /** A write is called back, and some of its splits are to come. */
    public void owe(long page, int splits) {
        int index = index(page);
        long word = (long) WORD.get(words, index);
        WORD.setVolatile(words, index, (word & ~WRITING) + VERSION | (long) splits << OWED_SHIFT);
    }

    /** Splits of a write that has been called back are there, or their slabs void. */
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

    /** Somebody is about to sleep until a word is free, and looks once more. */
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
