package io.farheap.resilience.keeper;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.posix.TimerSlack;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.server.PacedPull;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.Slab;
import io.farheap.resilience.table.SlabTable;
import io.farheap.resilience.table.SpaceState;
import io.farheap.time.TimeLimit;
import io.farheap.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Has a slab made by the server that it is on, which reads the good ones of the range and decodes. This end only says
 * how far it may go: it holds the stripe words of some windows of pages, clears them, and releases each as the server
 * says that it is there. So reads of the range go on, and writes wait for the windows under way. One thread.
 *
 * <p>It makes windows in the order of pages and has the same sources for all of them. Where it gets no further, since a
 * source fails, splits disagree or a page is stuck, {@link SlabRebuild} makes the rest.
 */
final class ServerRebuild {

    /** Of the slab: the server reads k times as much for it. */
    private static final int WINDOW_BYTES = 64 << 10;

    private static final int MOST_WINDOW_PAGES = 128;
    /** Held at a time, so that the server has always one to go on with. */
    private static final int WINDOWS = 4;

    /** So long servers may take to have everything ready: a server that is stopped does not answer. */
    private static final long PREPARE_NANOS = TimeLimit.of(1_000_000_000L);
    /** Not tried again for so long after it was not ready in time. */
    private static final long PAUSE_NANOS = 5_000_000_000L;
    /** So long, and two timeouts of writes, it may get no further. */
    private static final long PATIENCE_NANOS = TimeLimit.of(100_000_000L);
    /** Between two looks at what does not wait for a regeneration; no words are held then. */
    private static final long DUTIES_NANOS = 20_000_000;

    /** Half of what the call may take that fills a region: then another one goes on. */
    private static final long MOST_PULL_NANOS = 60_000_000_000L;

    private static final long SPIN_NANOS = 20_000;
    private static final long PARK_NANOS = 20_000;

    /** @param end offset in the slab */
    private record Window(long firstPage, int pages, long end) {}

    private final SpaceState space;
    private final Resilience resilience;
    private final SlabRebuild rebuild;
    private final int splitBytes;
    private final int windowPages;
    /** Of a slab that are pages' splits: a little may be left at its end. */
    private final long slabBytes;

    private final ArrayDeque<Window> windows = new ArrayDeque<>();
    private final AtomicLong bytesRead = new AtomicLong();
    private final AtomicLong bytesRebuilt = new AtomicLong();

    private long pausedUntil = System.nanoTime();
    /** Of the slab. */
    private long made;

    private boolean destinationFailed;

    ServerRebuild(SpaceState space, SlabRebuild rebuild) {
        this.space = space;
        this.resilience = space.resilience;
        this.rebuild = rebuild;
        this.splitBytes = resilience.splitBytes();
        this.windowPages = Math.clamp(WINDOW_BYTES / splitBytes, 1, MOST_WINDOW_PAGES);
        this.slabBytes = space.pagesPerSlab * splitBytes;
    }

    long bytesRead() {
        return bytesRead.get();
    }

    long bytesRebuilt() {
        return bytesRebuilt.get();
    }

    /** Whether the latest run ended because the new slab could not be written, or may still be by its server. */
    boolean destinationFailed() {
        return destinationFailed || rebuild.destinationFailed();
    }

    /**
     * Fills a slab that is in the table and REBUILDING.
     *
     * @param between is run now and then, while no words are held
     * @return as {@link SlabRebuild#run}
     */
    boolean run(Slab slab, Runnable between) {
        destinationFailed = false;
        made = 0;
        boolean more = space.slabBytes() >= space.leastForServers;
        while (more && System.nanoTime() - pausedUntil >= 0) {
            more = askServer(slab, between);
        }
        return rebuild.run(slab, made, between);
    }

    /** @return whether it was made up to where another pull is to go on */
    private boolean askServer(Slab slab, Runnable between) {
        List<Slab> sources = choose(slab);
        if (sources.isEmpty()) {
            return false;
        }
        PacedPull pull;
        try {
            pull = prepare(slab, sources, between);
        } catch (ControlException | VerbsException | CompletionException e) {
            pausedUntil = System.nanoTime() + PAUSE_NANOS;
            return false;
        }
        long before = made;
        try (TimerSlack _ = new TimerSlack()) {
            pull.start();
            return lead(slab, pull, sources, between);
        } catch (ControlException | VerbsException | CompletionException e) {
            // What is there is right.
            return false;
        } finally {
            end(slab, pull);
            bytesRead.addAndGet((made - before) * sources.size());
            bytesRebuilt.addAndGet(made - before);
        }
    }

    private void end(Slab slab, PacedPull pull) {
        try {
            pull.close();
        } finally {
            if (pull.mayStillFill()) {
                // Before the words are released: nothing that is written to it afterwards matters.
                space.table.makeVoid(slab);
                destinationFailed = true;
            }
            while (!windows.isEmpty()) {
                release();
            }
        }
    }

    /** As many good slabs as are needed, or none where there are not so many. */
    private List<Slab> choose(Slab slab) {
        int wanted = SlabTable.rebuildAsks(resilience);
        int chosen = rebuild.lines().someGood(slab.range(), wanted, 0, wanted);
        if (Integer.bitCount(chosen) < wanted) {
            return List.of();
        }
        return IntStream.range(0, resilience.splits())
                .filter(split -> (chosen >>> split & 1) != 0)
                .mapToObj(split -> space.table.slab(slab.range(), split))
                .toList();
    }

    private PacedPull prepare(Slab slab, List<Slab> sources, Runnable between) {
        SortedMap<Integer, RemoteRegion> splits = new TreeMap<>();
        sources.forEach(source -> splits.put(source.split(), source.region()));
        long deadline = System.nanoTime() + PREPARE_NANOS;
        return PacedPull.prepareRebuild(
                space.memory.context(),
                slab.region(),
                new RebuildPlan(resilience.dataSplits(), resilience.paritySplits(), slab.split(), List.of()),
                splits,
                made,
                slabBytes,
                windowPages * splitBytes,
                () -> {
                    between.run();
                    if (over(slab) || System.nanoTime() - deadline > 0) {
                        throw new ControlException(Code.CANCELLED, slab + " is not made by its server");
                    }
                });
    }

    private static boolean over(Slab slab) {
        return slab.isVoid() || Thread.currentThread().isInterrupted();
    }

    /** @return whether it ended since one pull is not to take longer */
    private boolean lead(Slab slab, PacedPull pull, List<Slab> sources, Runnable between) {
        long patience = PATIENCE_NANOS + 2 * resilience.timeoutNanos();
        long begun = System.nanoTime();
        long progress = begun;
        long duties = begun + DUTIES_NANOS;
        while (made < slabBytes) {
            long now = System.nanoTime();
            boolean due = now - duties >= 0;
            if (due && windows.isEmpty()) {
                if (now - begun > MOST_PULL_NANOS) {
                    return true;
                }
                between.run();
                due = false;
                long took = System.nanoTime() - now;
                now += took;
                progress += took;
                duties = now + DUTIES_NANOS;
            }
            if (over(slab)) {
                return false;
            }
            while (!due && windows.size() < WINDOWS && held() < slabBytes && hold(slab)) {
                // With the words held: what is not void now has missed no write of these pages.
                if (!sources.stream().allMatch(Slab::isGood)) {
                    return false;
                }
                pull.clear(held());
            }
            pull.check();
            if (released(pull.copied())) {
                progress = now;
            } else if (now - progress > patience) {
                return false;
            } else if (now - progress > SPIN_NANOS) {
                LockSupport.parkNanos(PARK_NANOS);
            } else {
                Thread.onSpinWait();
            }
        }
        return false;
    }

    /** Up to where of the slab the server may make it, or has. */
    private long held() {
        return windows.isEmpty() ? made : windows.getLast().end();
    }

    private boolean hold(Slab slab) {
        long page = held() / splitBytes;
        int pages = (int) Math.min(windowPages, space.pagesPerSlab - page);
        long first = slab.range() * space.pagesPerSlab + page;
        if (!space.words.tryHold(first, pages)) {
            return false;
        }
        windows.addLast(new Window(first, pages, (page + pages) * splitBytes));
        return true;
    }

    private boolean released(long copied) {
        boolean any = false;
        while (!windows.isEmpty() && windows.getFirst().end() <= copied) {
            made = release().end();
            any = true;
        }
        return any;
    }

    private Window release() {
        Window window = windows.removeFirst();
        space.words.endHold(window.firstPage(), window.pages());
        return window;
    }
}
