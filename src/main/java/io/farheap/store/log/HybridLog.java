package io.farheap.store.log;

import io.farheap.store.format.NativeWords;
import io.farheap.store.format.RecordLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
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
 * <p><b>The bound.</b> A page gets memory only if the device can store it beside the part of the log that is kept
 * ({@link LogBound}). The last pages are left to {@linkplain #DELETE deletes}, the very last to {@linkplain #COMPACTION
 * compactions}; where there is no page for it the tail waits. Each kind of work has a word with the last page that it
 * may use. Kinds share that word's value until the tail's page is the last of the lower kind. A higher kind then fills
 * that page up, and the log's thread waits until every session that was inside an operation has left it: a session that
 * has seen room in that page finds it full, so none takes room in the page behind it. When the part that is kept has
 * become shorter, all kinds that the pages with memory suffice for share one value again.
 */
public final class HybridLog {

    /** The lowest address of a record, so that 0 is no address. */
    public static final long FIRST = 64;

    // Kinds of work that take room: each may use the pages of the kinds before it, and some more.
    /** All that is neither of the other two. */
    public static final int OPERATION = 0;
    /** Deletes, also by updates. */
    public static final int DELETE = 1;
    /** Copies of a compaction. */
    public static final int COMPACTION = 2;

    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int PAGE_SHIFT = 32;
    private static final long TAKEN = (1L << PAGE_SHIFT) - 1;

    private static final int TAIL = 16;
    private static final int READY = 32;
    /** The last page for work of each kind: three words. */
    private static final int OPEN = 33;
    /** The page that work of a higher kind than its own fills up to get beyond it, four times, and its kind; or -1. */
    private static final int LAST = 36;
    /** What the last round of compaction over the log found: {@link #ROOM}, {@link #SEEKING}, or a page. */
    private static final int VERDICT = 37;
    /** Whether that round left no room to deletes either. */
    private static final int NOT_EVEN_DELETES = 38;

    private static final int KIND_BITS = 2;

    private static final long ROOM = -1;
    private static final long SEEKING = -2;

    public final LogAddresses marks;
    public final PageFrames frames;
    final Epochs epochs;
    public final RecordLayout layout;

    private final int pageBits;
    private final long pageBytes;
    private final LogBound bound;
    /** The kind that may use the tail's page; kinds before it wait. Used by the log's thread alone. */
    private int stage;
    /** The epoch that has to pass before the next kind gets its pages, or 0. Used by the log's thread alone. */
    private long filled;

    private final long[] words = new long[64];
    private volatile @Nullable Thread thread;

    /** A log without a bound. */
    public HybridLog(PageFrames frames, Epochs epochs, RecordLayout layout, long first) {
        this(frames, epochs, layout, first, LogBound.unbounded(frames.pageBits), 0);
    }

    /**
     * @param first the address of the first record
     * @param bound how many pages the device may hold
     * @param kept the address from which on it has the log
     */
    public HybridLog(PageFrames frames, Epochs epochs, RecordLayout layout, long first, LogBound bound, long kept) {
        this.frames = frames;
        this.epochs = epochs;
        this.layout = layout;
        this.pageBits = frames.pageBits;
        this.pageBytes = 1L << pageBits;
        this.bound = bound;
        this.marks = new LogAddresses(first, kept);
        long page = first >>> pageBits;
        words[TAIL] = page << PAGE_SHIFT | first & pageBytes - 1;
        words[READY] = page - 1;
        Arrays.fill(words, OPEN, OPEN + COMPACTION + 1, page - 1);
        words[LAST] = -1;
        words[VERDICT] = ROOM;
        stage = page <= limit(OPERATION) ? OPERATION : page <= limit(DELETE) ? DELETE : COMPACTION;
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
     * @param kind {@link #OPERATION}, {@link #DELETE} or {@link #COMPACTION}
     * @return the address, or -1 if there is no room at this moment
     */
    public long allocate(long bytes, int kind) {
        while (true) {
            long tail = (long) WORD.getAcquire(words, TAIL);
            long page = tail >>> PAGE_SHIFT;
            long last = (long) WORD.getAcquire(words, OPEN + kind);
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
                if (kind != OPERATION && fillsUp(kind, page)) {
                    leave(tail, page << PAGE_SHIFT | pageBytes);
                }
                wake();
                return -1;
            } else if (leave(tail, page + 1 << PAGE_SHIFT)) {
                wake();
            }
        }
    }

    private boolean fillsUp(int kind, long page) {
        long last = (long) WORD.getAcquire(words, LAST);
        return page == last >> KIND_BITS && kind > (last & (1 << KIND_BITS) - 1);
    }

    /** Moves the tail to a later place, and marks the end of the records in the page that it leaves. */
    private boolean leave(long tail, long next) {
        if (!WORD.compareAndSet(words, TAIL, tail, next)) {
            return false;
        }
        long taken = tail & TAKEN;
        if (taken < pageBytes) {
            NativeWords.set(frames.memoryOf(((tail >>> PAGE_SHIFT) << pageBits) + taken), 0);
        }
        return true;
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
     * Opens pages to each kind of work as far as the bound allows; called by the log's thread.
     *
     * @return how much it did
     */
    int open() {
        long tail = (long) WORD.getAcquire(words, TAIL);
        long page = tail >>> PAGE_SHIFT;
        int done = 0;
        while (stage > OPERATION && limit(stage - 1) >= Math.max(page, last(COMPACTION))) {
            stage--;
        }
        if (stage < COMPACTION && page == last(stage) && page == limit(stage) && (tail & TAKEN) >= pageBytes) {
            if (filled == 0) {
                filled = epochs.advance();
            } else if (epochs.passed(filled)) {
                filled = 0;
                stage++;
                done++;
            }
        } else {
            filled = 0;
        }
        // Beyond the lower kinds' pages one page at a time, so that they get theirs back once there is one more.
        long most = stage == OPERATION ? ready() : Math.min(ready(), page + 1);
        for (int kind = stage; kind <= COMPACTION; kind++) {
            long last = Math.min(most, limit(stage));
            if (last > last(kind)) {
                WORD.setRelease(words, OPEN + kind, last);
                done++;
            }
        }
        long end = stage < COMPACTION && last(stage) == limit(stage) ? last(stage) << KIND_BITS | stage : -1;
        if (end != (long) WORD.getAcquire(words, LAST)) {
            WORD.setRelease(words, LAST, end);
        }
        return done;
    }

    private long tailPage() {
        return (long) WORD.getAcquire(words, TAIL) >>> PAGE_SHIFT;
    }

    private long last(int kind) {
        return (long) WORD.getAcquire(words, OPEN + kind);
    }

    /** Whether {@link #open} waits for sessions to leave their epoch. */
    boolean waits() {
        return filled != 0;
    }

    /** The last page for work of a kind, beside what the device keeps of the log. Any thread. */
    private long limit(int kind) {
        return limit(kind, marks.kept());
    }

    private long limit(int kind, long kept) {
        long last = bound.unitOf(page(kept)) + bound.pages() - 1;
        return switch (kind) {
            case OPERATION -> last - bound.reserve();
            case DELETE -> last - bound.compactions();
            default -> last;
        };
    }

    /** Whether the device has room for one more page. */
    boolean hasRoom() {
        return ready() < limit(COMPACTION);
    }

    /** Whether a compaction can open one more page. Any thread. */
    public boolean hasSpare() {
        return hasRoom() || tailPage() < ready();
    }

    /** Whether the tail is in the last page for work of a kind, or behind it. Any thread. */
    public boolean atCapacity(int kind) {
        return tailPage() >= limit(kind);
    }

    /** How many bytes operations can take in pages behind the tail's. Any thread. */
    public long roomBytes() {
        return Math.max(0, limit(OPERATION) - tailPage()) << pageBits;
    }

    /** How many bytes the device keeps, from the first unit that it cannot use again to the tail. Any thread. */
    public long spaceBytes() {
        return tail() - startOf(bound.unitOf(page(marks.kept())));
    }

    /** Whether the device could use a unit again that it keeps for a checkpoint. Any thread. */
    public boolean keepsMore() {
        return bound.unitOf(page(marks.kept())) < bound.unitOf(page(marks.begin()));
    }

    /** The address at which the unit begins that has an address. */
    public long unitStart(long address) {
        return startOf(bound.unitOf(page(address)));
    }

    /**
     * Where a compaction of all of the log ends: behind the unit that has the tail. As that unit comes back only once
     * all of it is passed over, it copies what it has copied into that unit once more; in all, copies that are as long
     * as the unit at most. Any thread.
     */
    public long roundEnd() {
        return unitStart(tail() + startOf(bound.unit()) - 1);
    }

    /** Says that the device has given the log below an address back. Any thread, one at a time. */
    public void kept(long address) {
        marks.kept(address);
        wake();
    }

    /** Says that a round of compaction over the log begins: operations wait for what it gains. */
    public void seekRoom() {
        WORD.setRelease(words, NOT_EVEN_DELETES, 0L);
        WORD.setRelease(words, VERDICT, SEEKING);
    }

    /**
     * Says that the round has ended. If it has gained nothing, and there is no room, operations need not wait any more,
     * until a delete or more room changes that.
     *
     * @param gained whether it has gained a page; operations may have taken that room
     * @param kept where the device's part of the log began when that was found. If it begins later by now, there is
     *     more room than the round has seen, and operations wait for another round once that is taken
     */
    public void soughtRoom(boolean gained, long kept) {
        long last = limit(OPERATION, kept);
        boolean full = !gained && tailPage() >= last;
        WORD.setRelease(words, NOT_EVEN_DELETES, full && tailPage() >= limit(DELETE, kept) ? 1L : 0L);
        WORD.compareAndSet(words, VERDICT, SEEKING, full ? last : ROOM);
    }

    /** Lets operations wait no more although there was a delete, since the next round is not due. */
    public void stayFull() {
        long last = limit(OPERATION);
        // Read once: if there is more room meanwhile, it is another page.
        if (tailPage() >= last) {
            WORD.setRelease(words, VERDICT, last);
        }
    }

    /** Whether work of a kind has no room, and the last round over the log has made none. Any thread. */
    public boolean isFull(int kind) {
        long kept = marks.kept();
        return (long) WORD.getAcquire(words, VERDICT) == limit(OPERATION, kept)
                && tailPage() >= limit(kind, kept)
                && (kind == OPERATION || (long) WORD.getAcquire(words, NOT_EVEN_DELETES) != 0);
    }

    /** Says that a key was deleted, so that a round over the log may gain something again. Any thread. */
    public void deleted() {
        if ((long) WORD.getOpaque(words, VERDICT) != ROOM) {
            WORD.setRelease(words, VERDICT, ROOM);
            wake();
        }
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
