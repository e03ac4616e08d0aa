package io.farheap.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A log whose tail is in memory (FASTER, section 5). Sessions take room at the tail by one fetch-and-add; pages get
 * memory, are written to the device and lose their memory again on the log's own thread ({@link LogThread}).
 *
 * <p><b>The tail</b> is one word: the page, and how many bytes of it are taken, which may be more than a page has.
 * Whoever adds to it and stays within the page has that room. Whose room would reach beyond has none, and of these the
 * one whose room began within stores a 0 there, so that who scans the page sees its end. Then any of them turns the
 * page by a compare-and-set, once the next one {@linkplain #ready has memory}: the release store of {@code ready} by
 * the log's thread pairs with the acquire load here.
 */
final class HybridLog {

    /** Below it there is no record: 0 is no address. */
    static final long FIRST = 64;

    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int PAGE_SHIFT = 32;
    private static final long TAKEN = (1L << PAGE_SHIFT) - 1;

    private static final int TAIL = 16;
    private static final int READY = 32;

    final Marks marks;
    final Frames frames;
    final Epochs epochs;
    final Layout layout;

    private final int pageBits;
    private final long pageBytes;
    private final long[] words = new long[64];
    private volatile @Nullable Thread thread;

    HybridLog(Frames frames, Epochs epochs, Layout layout, long first) {
        this.frames = frames;
        this.epochs = epochs;
        this.layout = layout;
        this.pageBits = frames.pageBits;
        this.pageBytes = 1L << pageBits;
        this.marks = new Marks(first);
        words[TAIL] = (first >>> pageBits) << PAGE_SHIFT | first & pageBytes - 1;
        words[READY] = (first >>> pageBits) - 1;
    }

    long pageBytes() {
        return pageBytes;
    }

    /** The first address that nobody has taken, or the end of the page where nothing of it is left. */
    long tail() {
        long tail = (long) WORD.getAcquire(words, TAIL);
        return ((tail >>> PAGE_SHIFT) << pageBits) + Math.min(tail & TAKEN, pageBytes);
    }

    /**
     * Takes room, inside an epoch. It is in one page.
     *
     * @param bytes a multiple of 8, at most a page
     * @return the address, or -1 where there is no memory at this moment
     */
    long allocate(long bytes) {
        while (true) {
            long tail = (long) WORD.getAcquire(words, TAIL);
            long page = tail >>> PAGE_SHIFT;
            if ((tail & TAKEN) + bytes <= pageBytes) {
                tail = (long) WORD.getAndAdd(words, TAIL, bytes);
                page = tail >>> PAGE_SHIFT;
                long taken = tail & TAKEN;
                if (taken + bytes <= pageBytes) {
                    return (page << pageBits) + taken;
                }
                if (taken < pageBytes) {
                    Words.set(frames.memoryOf((page << pageBits) + taken), 0);
                }
            } else if (page >= ready()) {
                wake();
                return -1;
            } else if (WORD.compareAndSet(words, TAIL, tail, page + 1 << PAGE_SHIFT)) {
                long taken = tail & TAKEN;
                if (taken < pageBytes) {
                    Words.set(frames.memoryOf((page << pageBits) + taken), 0);
                }
                wake();
            }
        }
    }

    /** The last page that has memory. */
    long ready() {
        return (long) WORD.getAcquire(words, READY);
    }

    /** By the log's thread. */
    void ready(long page) {
        WORD.setRelease(words, READY, page);
    }

    long page(long address) {
        return address >>> pageBits;
    }

    long startOf(long page) {
        return page << pageBits;
    }

    /** The thread that moves marks. */
    void servedBy(Thread logThread) {
        thread = logThread;
    }

    void wake() {
        LockSupport.unpark(thread);
    }
}
