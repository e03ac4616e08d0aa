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
 * Regenerates one slab from others, or the part that its server has not made ({@link ServerRebuild}). It reads a window
 * of pages at a time, decodes it and writes it, while sessions continue: reads of the range do not wait, and writes
 * wait only for the pages of the window, whose stripe words it holds. Sources may change from one window to the next.
 * Pages whose words are stuck come last. If splits disagree, it finds out which are wrong. One thread.
 *
 * <p>A split is late a write timeout after it was posted. Then this ends the connection that owes it, which completes
 * all operations on it: so nothing lands in this object's memory afterwards, and the words can be released. Splits that
 * were late to be read are read from other slabs at the window's next turn. A slab that was late to be written is never
 * used: its memory goes back as any void slab's does, once no operation can write it.
 */
final class SlabRebuild implements AutoCloseable {

    private static final int WINDOW_PAGES = 64;
    private static final int MOST_WINDOW_BYTES = 256 << 10;
    private static final int DEPTH = 16;
    private static final long NAP_NANOS = 1_000_000;
    /** A split of a window is late after a write timeout, but not sooner than this, as it is many pages long. */
    private static final long LEAST_LATE_NANOS = 50_000_000;
    /** How long words are held while too few sources are connected. */
    private static final long REACH_NANOS = 50_000_000;
    /**
     * The clock's largest step, as in {@link CodedSessionContext}: time in which this thread did not run makes no split
     * late.
     */
    private static final long MOST_STEP_NANOS = 1_000_000;

    private static final int MADE = 0;
    /** Its words are taken, or splits were late: tried again later. */
    private static final int POSTPONED = 1;

    private static final int FAILED = 2;
    /** How long, in addition to two write timeouts, it continues without progress. */
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
    /** Advances while this thread runs. */
    private long waited;
    /** The splits of the range that were late since the run began: they are asked only if there are too few others. */
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
     * @param from offset of the first missing byte, at the start of a page's split; it fills to the slab's end
     * @param between is run before each window, while no words are held
     * @return false if it could not: too few other slabs are good or in time, the slab is void or late to be written,
     *     sessions keep words for too long, or the thread was interrupted
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
            // The time that this took is not counted as lack of progress.
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
                // Polls first: completions that have come would end each sleep at once.
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
     * Splits disagree: reads all good slabs, and decides page by page. If it cannot be told which are wrong, the new
     * split is made to agree with none, so that no read takes it for right.
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
     * Reads a window from {@code wanted} random good slabs of a range, or from fewer if no more are good or connected:
     * from k at least, and in the corruption modes from k + Δ while so many are good, since fewer show no error. Slabs
     * that were late are asked only to reach that least number.
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
                // A slab that has become void meanwhile has missed no write of these pages, as their words are held.
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

    /**
     * Awaits all outstanding splits, or the ends of their connections: when it returns, the device uses none of this
     * object's memory.
     */
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

    /** Polls the queue, and reconnects failed connections. */
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
