package io.farheap.store.log;

import io.farheap.store.format.NativeWords;
import io.farheap.store.format.RecordLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A log whose tail is in memory (FASTER, section 5). A session allocates room at the tail by one fetch-and-add. The
 * log's own thread ({@link LogThread}) gives pages their memory, writes them to the device, and takes their memory
 * back.
 *
 * <p><b>The tail</b> is one word: the number of the page, and how many bytes of it are taken, which may exceed the
 * page. A session adds the bytes that it needs. If they lie within the page, they are its own. If they reach beyond the
 * page, the session has no room yet; the one whose bytes would have begun within the page stores a 0 there, so that a
 * scan sees where the page's records end. A session that sees beforehand that its bytes do not fit adds nothing. Any of
 * these sessions then moves the tail to the next page by a compare-and-set, once that page {@linkplain #ready has
 * memory}, and stores the 0 if the page had room left: the release store of {@code ready} by the log's thread pairs
 * with the acquire load here.
 *
 * <p>A page gets memory only if the device can store it without overwriting a part of the log that is in use. Otherwise
 * the tail waits until a compaction has moved the log's beginning.
 */
public final class HybridLog {

    /** The lowest address of a record, so that 0 is no address. */
    public static final long FIRST = 64;
    /** Pages of a device with a limited capacity that operations leave to compactions, which need them to make room. */
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

    /** @param capacity how many bytes of the log the device can hold */
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

    /** The lowest address that is not allocated; the end of the page if the page is full. */
    public long tail() {
        long tail = (long) WORD.getAcquire(words, TAIL);
        return ((tail >>> PAGE_SHIFT) << pageBits) + Math.min(tail & TAKEN, pageBytes);
    }

    /**
     * Allocates room within one page, inside an epoch.
     *
     * @param bytes a multiple of 8, at most a page
     * @param spare whether it may use the pages that are left to compactions
     * @return the address, or -1 if there is no memory at this moment
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

    /** Says that all pages up to {@code page} have memory; called by the log's thread. */
    void ready(long page) {
        WORD.setRelease(words, READY, page);
        open();
    }

    /**
     * Opens pages to operations as far as the device has room beside the spare pages; called by the log's thread.
     *
     * @return how many pages it opened
     */
    int open() {
        long last = Math.min(ready(), lastOpen());
        long before = (long) WORD.getAcquire(words, OPEN);
        if (last > before) {
            WORD.setRelease(words, OPEN, last);
        }
        return (int) Math.max(0, last - before);
    }

    /** The last page that the device can store without overwriting a part of the log that is in use. */
    private long lastKept() {
        return page(startOf(page(marks.begin())) + capacity) - 1;
    }

    private long lastOpen() {
        return lastKept() - SPARE_PAGES;
    }

    /** Whether the device has room for one more page. */
    boolean hasRoom() {
        return ready() < lastKept();
    }

    /** Whether there is room for a compaction's copies, or will be without a compaction. Any thread. */
    public boolean hasSpare() {
        return hasRoom() || page(tail()) < ready();
    }

    /** Whether operations find no room until a compaction has made some. Any thread. */
    public boolean atCapacity() {
        return (long) WORD.getAcquire(words, TAIL) >>> PAGE_SHIFT >= lastOpen();
    }

    public long page(long address) {
        return address >>> pageBits;
    }

    public long startOf(long page) {
        return page << pageBits;
    }

    /** Sets the thread that {@link #wake} unparks. */
    void servedBy(Thread logThread) {
        thread = logThread;
    }

    void wake() {
        LockSupport.unpark(thread);
    }
}
