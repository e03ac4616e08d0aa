package io.farheap.store.log;

import io.farheap.store.format.NativeWords;
import io.farheap.store.format.RecordLayout;
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
 *
 * <p>A page gets memory only if the device takes it without giving up a part of the log that is in use: beyond that the
 * tail waits until a compaction has moved the log's beginning.
 */
public final class HybridLog {

    /** Below it there is no record: 0 is no address. */
    public static final long FIRST = 64;
    /** Of a device with a capacity, what operations leave to compactions, which make room with it. */
    public static final int SPARE_PAGES = 4;

    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int PAGE_SHIFT = 32;
    private static final long TAKEN = (1L << PAGE_SHIFT) - 1;

    private static final int TAIL = 16;
    private static final int READY = 32;
    private static final int OPEN = 33;

    public final LogAddresses marks;
    public final PageFrames frames;
    final Epochs epochs;
    public final RecordLayout layout;

    private final int pageBits;
    private final long pageBytes;
    private final long capacity;
    private final long[] words = new long[64];
    private volatile @Nullable Thread thread;

    /** @param capacity bytes of it that the device has at most */
    public HybridLog(PageFrames frames, Epochs epochs, RecordLayout layout, long first, long capacity) {
        this.frames = frames;
        this.epochs = epochs;
        this.layout = layout;
        this.pageBits = frames.pageBits;
        this.pageBytes = 1L << pageBits;
        this.capacity = capacity;
        this.marks = new LogAddresses(first);
        words[TAIL] = (first >>> pageBits) << PAGE_SHIFT | first & pageBytes - 1;
        words[READY] = (first >>> pageBits) - 1;
        words[OPEN] = words[READY];
    }

    public long pageBytes() {
        return pageBytes;
    }

    /** The first address that nobody has taken, or the end of the page where nothing of it is left. */
    public long tail() {
        long tail = (long) WORD.getAcquire(words, TAIL);
        return ((tail >>> PAGE_SHIFT) << pageBits) + Math.min(tail & TAKEN, pageBytes);
    }

    /**
     * Takes room, inside an epoch. It is in one page.
     *
     * @param bytes a multiple of 8, at most a page
     * @param spare whether it may be of the pages that compactions have to themselves
     * @return the address, or -1 where there is no memory at this moment
     */
    public long allocate(long bytes, boolean spare) {
        while (true) {
            long tail = (long) WORD.getAcquire(words, TAIL);
            long page = tail >>> PAGE_SHIFT;
            long last = (long) WORD.getAcquire(words, spare ? READY : OPEN);
            if ((tail & TAKEN) + bytes <= pageBytes && page <= last) {
                tail = (long) WORD.getAndAdd(words, TAIL, bytes);
                page = tail >>> PAGE_SHIFT;
                long taken = tail & TAKEN;
                if (taken + bytes <= pageBytes) {
                    return (page << pageBits) + taken;
                }
                if (taken < pageBytes) {
                    NativeWords.set(frames.memoryOf((page << pageBits) + taken), 0);
                }
            } else if (page >= last) {
                wake();
                return -1;
            } else if (WORD.compareAndSet(words, TAIL, tail, page + 1 << PAGE_SHIFT)) {
                long taken = tail & TAKEN;
                if (taken < pageBytes) {
                    NativeWords.set(frames.memoryOf((page << pageBits) + taken), 0);
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
        open();
    }

    /**
     * Opens to operations what the device has room for beside the spare pages; by the log's thread. @return how many
     */
    int open() {
        long last = Math.min(ready(), lastOpen());
        long before = (long) WORD.getAcquire(words, OPEN);
        if (last > before) {
            WORD.setRelease(words, OPEN, last);
        }
        return (int) Math.max(0, last - before);
    }

    /** The last page that the device takes and keeps all that is in use. */
    private long lastKept() {
        return page(startOf(page(marks.begin())) + capacity) - 1;
    }

    private long lastOpen() {
        return lastKept() - SPARE_PAGES;
    }

    /** Whether the device has room for a page more. */
    boolean hasRoom() {
        return ready() < lastKept();
    }

    /** Whether there is room for a compaction, or will be before one has made some. Any thread. */
    public boolean hasSpare() {
        return hasRoom() || page(tail()) < ready();
    }

    /** Whether operations find no room before a compaction has made some. Any thread. */
    public boolean atCapacity() {
        return (long) WORD.getAcquire(words, TAIL) >>> PAGE_SHIFT >= lastOpen();
    }

    public long page(long address) {
        return address >>> pageBits;
    }

    public long startOf(long page) {
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
