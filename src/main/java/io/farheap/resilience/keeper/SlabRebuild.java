package io.farheap.resilience.keeper;

import io.farheap.coding.Coder;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.session.CodedConnections;
import io.farheap.resilience.session.CodedSessionContext;
import io.farheap.resilience.session.ValueLayouts;
import io.farheap.resilience.table.Slab;
import io.farheap.resilience.table.SlabTable;
import io.farheap.resilience.table.SpaceState;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes one slab of others, or what its server has not made of it ({@link ServerRebuild}): reads a window of pages at a
 * time, decodes and writes it, while sessions go on: reads of the range without a pause, writes but for the pages of
 * the window, whose stripe words it has. Sources may change from one window to the next, pages that are stuck come
 * last, and where splits disagree it finds out which are wrong. One thread.
 *
 * <p>No words are held while splits are later than a timeout of writes, each time that some are posted: then the
 * connections that owe them are ended, which brings their tags back, so nothing lands in its memory afterwards. What
 * was late to be read is asked of others at the window's next turn. A slab that was late to be written is never used:
 * its memory goes back as any void slab's does, once nothing can write it.
 */
final class SlabRebuild implements AutoCloseable {

    private static final int WINDOW_PAGES = 64;
    private static final int MOST_WINDOW_BYTES = 256 << 10;
    private static final int DEPTH = 16;
    private static final long NAP_NANOS = 1_000_000;
    /** A split of a window is late after a timeout of writes, and not sooner than this: it is many pages long. */
    private static final long LEAST_LATE_NANOS = 50_000_000;
    /** So long words are held while too few sources are connected. */
    private static final long REACH_NANOS = 50_000_000;
    /** As {@link CodedSessionContext} counts: what kept this thread itself from running makes no split late. */
    private static final long MOST_STEP_NANOS = 1_000_000;

    private static final int MADE = 0;
    /** Its words are taken, or splits were late: another time. */
    private static final int POSTPONED = 1;

    private static final int FAILED = 2;
    /** So long, and two timeouts of writes, it goes on without getting any further. */
    private static final long PATIENCE_NANOS = 1_000_000_000;

    private final SpaceState space;
    private final Resilience resilience;
    private final RemoteQueue queue;
    private final CodedConnections lines;
    private final RegisteredBuffer buffer;
    private final MemorySegment memory;
    private final Coder coder;
    private final int splitBytes;
    private final int windowPages;
    private final long lateNanos;
    private final long[] addresses;
    private final long[] pageAddresses;

    private final AtomicLong bytesRead = new AtomicLong();
    private final AtomicLong bytesRebuilt = new AtomicLong();
    private long clock;
    private long lastNanos = System.nanoTime();
    /** Goes on while this thread runs. */
    private long waited;
    /** Of the range, those that were late since the run began: asked where there are too few others. */
    private int late;

    private long lateSplits;
    /** Splits of the window that are on their way, and those that are there. */
    private int outstanding;

    private int there;
    private int range;
    private boolean destinationFailed;
    private final CompletionHandler handler = this::ended;

    SlabRebuild(SpaceState space) {
        this.space = space;
        this.resilience = space.resilience;
        this.splitBytes = resilience.splitBytes();
        this.windowPages = Math.clamp(MOST_WINDOW_BYTES / splitBytes, 1, WINDOW_PAGES);
        this.lateNanos = Math.max(resilience.timeoutNanos(), LEAST_LATE_NANOS);
        try (CloseStack opened = new CloseStack()) {
            this.queue = opened.add(space.memory.openQueue(
                    new QueueOptions(Math.min(DEPTH, space.memory.maxQueueDepth()), DEPTH * resilience.splits(), 0)));
            this.lines = new CodedConnections(space, queue);
            this.buffer = opened.add(space.memory.register((long) windowPages * splitBytes * resilience.splits()));
            this.memory = buffer.segment();
            this.coder = opened.add(new Coder(space.code));
            opened.keep();
        }
        this.addresses = new long[resilience.splits()];
        this.pageAddresses = new long[resilience.splits()];
        space.sessions.add(lines);
    }

    long bytesRead() {
        return bytesRead.get();
    }

    long bytesRebuilt() {
        return bytesRebuilt.get();
    }

    /**
     * Fills a slab that is in the table and REBUILDING.
     *
     * @param from where bytes are missing, of whole pages; to the slab's end
     * @param between is run before each window, while no words are held
     * @return false where it could not: too few others are good or in time, it is void or late to be written, sessions
     *     keep words for too long, or the thread was interrupted
     */
    boolean run(Slab slab, long from, Runnable between) {
        destinationFailed = false;
        late = 0;
        long patience = PATIENCE_NANOS + 2 * resilience.timeoutNanos();
        long progress = System.nanoTime();
        range = slab.range();
        Deque<Long> windows = new ArrayDeque<>();
        for (long page = from / splitBytes; page < space.pagesPerSlab; page += windowPages) {
            windows.add(page);
        }
        int postponed = 0;
        while (!windows.isEmpty()) {
            long begun = System.nanoTime();
            between.run();
            // That is no session's fault.
            progress += System.nanoTime() - begun;
            if (slab.isVoid() || Thread.currentThread().isInterrupted()) {
                return false;
            }
            long window = windows.removeFirst();
            int outcome = attempt(slab, window);
            long now = System.nanoTime();
            if (outcome == MADE) {
                postponed = 0;
                progress = now;
                continue;
            }
            if (outcome == FAILED || now - progress > patience) {
                return false;
            }
            windows.addLast(window);
            if (++postponed >= windows.size()) {
                // What has come is taken first: it would end each sleep at once.
                poll();
                queue.await(NAP_NANOS);
                postponed = 0;
            }
        }
        return space.table.rebuilt(slab);
    }

    /** @return {@link #MADE}, {@link #POSTPONED} or {@link #FAILED}; no words are held any more */
    private int attempt(Slab slab, long window) {
        int pages = (int) Math.min(windowPages, space.pagesPerSlab - window);
        long first = slab.range() * space.pagesPerSlab + window;
        if (!space.words.tryHold(first, pages)) {
            return POSTPONED;
        }
        try {
            return rebuild(slab, window * splitBytes, pages);
        } finally {
            space.words.endHold(first, pages);
        }
    }

    CodedConnections lines() {
        return lines;
    }

    /** Whether the latest run ended because the new slab could not be written. */
    boolean destinationFailed() {
        return destinationFailed;
    }

    private int rebuild(Slab slab, long offset, int pages) {
        int bytes = pages * splitBytes;
        int gathered = gather(slab, offset, bytes, SlabTable.rebuildAsks(resilience));
        if (gathered != MADE) {
            return gathered;
        }
        aim(addresses, 0);
        int bit = 1 << slab.split();
        if (coder.agree(addresses, bytes, there)) {
            coder.recover(addresses, bytes, there, bit);
        } else {
            int mended = mend(slab, offset, pages);
            if (mended != MADE) {
                return mended;
            }
        }
        bytesRead.addAndGet((long) Integer.bitCount(there) * bytes);
        if (!write(slab, offset, bytes)) {
            return FAILED;
        }
        bytesRebuilt.addAndGet(bytes);
        return MADE;
    }

    private void aim(long[] to, long at) {
        for (int split = 0; split < to.length; split++) {
            to[split] = memory.address() + (long) split * windowPages * splitBytes + at;
        }
    }

    /**
     * Splits disagree: with all that there are, page by page. Where it cannot be told which are wrong, what is made
     * agrees with none, so that nobody takes it for right.
     */
    private int mend(Slab slab, long offset, int pages) {
        int gathered = gather(slab, offset, pages * splitBytes, resilience.splits() - 1);
        if (gathered != MADE) {
            return gathered;
        }
        int bit = 1 << slab.split();
        int spare = Integer.bitCount(there) - resilience.dataSplits();
        int most = Math.max(0, Math.min(spare / 2, spare - resilience.additional()));
        for (int page = 0; page < pages; page++) {
            aim(pageAddresses, (long) page * splitBytes);
            int wrong = coder.wrong(pageAddresses, splitBytes, there, most);
            coder.recover(pageAddresses, splitBytes, wrong < 0 ? there : there & ~wrong, bit);
            if (wrong < 0) {
                invert((long) (slab.split() * windowPages + page) * splitBytes);
            }
            for (int left = Math.max(0, wrong); left != 0; left &= left - 1) {
                Slab other = space.table.slab(slab.range(), Integer.numberOfTrailingZeros(left));
                space.record(other.region().server()).wrong.increment();
            }
        }
        return MADE;
    }

    private void invert(long at) {
        for (long i = at; i < at + splitBytes; i++) {
            memory.set(ValueLayouts.BYTE, i, (byte) ~memory.get(ValueLayouts.BYTE, i));
        }
    }

    /**
     * Reads a window of so many random good slabs of a range, or of fewer where no more are good or reached: of at
     * least k, in the corruption modes of at least k + Δ while so many are good, since fewer show nothing. Those that
     * were late are not asked beyond that.
     */
    private int gather(Slab slab, long offset, int bytes, int wanted) {
        int least = SlabTable.rebuildAsks(resilience);
        long lateBefore = lateSplits;
        long begun = waited;
        do {
            int good = space.table.good(slab.range());
            if (Integer.bitCount(good) < resilience.dataSplits() || slab.isVoid()) {
                return FAILED;
            }
            int chosen = lines.someGood(slab.range(), wanted, late, least);
            if (Integer.bitCount(chosen) >= Math.min(least, Integer.bitCount(good))) {
                there = 0;
                for (int left = chosen; left != 0; left &= left - 1) {
                    int split = Integer.numberOfTrailingZeros(left);
                    post(space.table.slab(slab.range(), split), offset, bytes, false);
                }
                finish();
                // Those that have become void meanwhile have missed no write of these pages, whose words are held.
                if (Integer.bitCount(there) >= Math.min(wanted, Integer.bitCount(chosen))) {
                    return MADE;
                }
            }
            if (lateSplits != lateBefore || Thread.currentThread().isInterrupted()) {
                break;
            }
            queue.await(NAP_NANOS);
            poll();
        } while (waited - begun < REACH_NANOS);
        return POSTPONED;
    }

    private boolean write(Slab slab, long offset, int bytes) {
        there = 0;
        post(slab, offset, bytes, true);
        finish();
        destinationFailed = there == 0;
        return there != 0;
    }

    private void post(Slab slab, long offset, int bytes, boolean write) {
        long at = (long) slab.split() * windowPages * splitBytes;
        int posting = write
                ? queue.write(slab.region(), offset, buffer, at, bytes, slab.split())
                : queue.read(slab.region(), offset, buffer, at, bytes, slab.split());
        if (posting == PostResult.OK) {
            outstanding |= 1 << slab.split();
        } else if (posting != PostResult.FULL && !slab.isVoid()) {
            lines.broke(slab.region().server(), clock);
        }
    }

    /** Awaits all of them, or their connections' ends: when it returns the device uses none of its memory. */
    private void finish() {
        int owed = 0;
        long begun = waited;
        while (outstanding != 0) {
            poll();
            if (waited - begun >= lateNanos) {
                for (int left = outstanding & ~owed; left != 0; left &= left - 1) {
                    endLate(Integer.numberOfTrailingZeros(left));
                }
                owed |= outstanding;
            }
        }
    }

    private void endLate(int split) {
        late |= 1 << split;
        lateSplits++;
        RemoteServer server = space.table.slab(range, split).region().server();
        space.record(server).late.increment();
        lines.end(server, clock);
    }

    /** Makes connections anew, and takes what has come. */
    void poll() {
        queue.poll(handler);
        long now = System.nanoTime();
        clock += now - lastNanos;
        waited += Math.min(now - lastNanos, MOST_STEP_NANOS);
        lastNanos = now;
        lines.tick(clock);
    }

    private void ended(long tag, int outcome) {
        if (CodedConnections.isReconnect(tag)) {
            lines.reconnected(tag, outcome, clock);
            return;
        }
        int split = (int) tag;
        outstanding &= ~(1 << split);
        if (outcome == Outcome.DONE) {
            there |= 1 << split;
        } else {
            lines.broke(space.table.slab(range, split).region().server(), clock);
        }
    }

    @Override
    public void close() {
        lines.beginClosing();
        Closeables.all(queue, () -> space.sessions.remove(lines), coder, buffer);
    }
}
