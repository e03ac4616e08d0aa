package io.farheap.resilience.keeper;

import io.farheap.control.ControlException;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.table.FenceStatus;
import io.farheap.resilience.table.ServerErrorCounts;
import io.farheap.resilience.table.Slab;
import io.farheap.resilience.table.SpaceState;
import io.farheap.thread.ThreadJoiner;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The background thread of a space. It notices lost servers and judges the others, regenerates void slabs, moves slabs
 * off servers, and gives the memory of replaced slabs back once no operation can write it any more.
 */
public final class SlabKeeper implements AutoCloseable {

    private static final long ROUND_NANOS = 20_000_000;
    private static final long WINDOW_NANOS = 500_000_000;
    /**
     * How long a server gets no slab after its errors made the keeper give up its slabs or begin to move them, or after
     * it did not answer whether it has room.
     */
    private static final long AVOID_NANOS = 10_000_000_000L;
    /** How long a server gets no slab after it could not be connected to, or written. */
    private static final long UNREACHABLE_NANOS = 1_000_000_000L;
    /**
     * How long a session's own operations may take before it is asked to fence them, and how long after that the keeper
     * fences in its place.
     */
    private static final long FENCE_NANOS = 1_000_000_000L;
    /** How long nothing is tried after there was no room for a new slab, or no way to fill it. */
    private static final long PAUSE_NANOS = 100_000_000;

    /** A slab's memory that is to be given back. */
    private static final class RetiredSlab {
        final RemoteRegion region;
        final long since = System.nanoTime();
        /** Whether sessions have been asked to fence it: only once, as it costs each of them a connection. */
        boolean asked;
        /** The keeper fences in the place of sessions from this time on. */
        long nextFence = since + 2 * FENCE_NANOS;
        /** For each session, the fence that the keeper has made or is making in its place. */
        private final Map<FenceStatus, CompletableFuture<Void>> ends = new HashMap<>();

        RetiredSlab(RemoteRegion region) {
            this.region = region;
        }

        /** Whether no operation that a session has posted can write it any more. */
        boolean isFenced(FenceStatus session) {
            CompletableFuture<Void> end = ends.get(session);
            return end != null && end.state() == Future.State.SUCCESS;
        }

        /** Fences a session's connection to the server, unless that is done or being done. */
        void fence(FenceStatus session) {
            region.usable(false);
            CompletableFuture<Void> before = ends.get(session);
            if (before == null || before.isDone() && !isFenced(session)) {
                ends.put(session, session.fence(region.server()));
            }
        }
    }

    private final SpaceState space;
    private final SlabPlacement placement;
    private final SlabRebuild rebuild;
    private final ServerRebuild onServer;
    private final SlabEvictions evictions;
    private final FailureDetector judge;
    /** Changed by the keeper's thread. */
    private final Queue<RetiredSlab> retired = new ConcurrentLinkedQueue<>();

    /** The void slabs that are in {@link #retired} and still in the table. */
    private final Set<Slab> retiredVoid = Collections.newSetFromMap(new IdentityHashMap<>());

    private final Map<RemoteServer, Long> avoided = new ConcurrentHashMap<>();
    /** Servers whose slabs are to move, and until when. */
    private final Map<RemoteServer, Long> leaving = new HashMap<>();
    /**
     * Servers that are being retired, with the reason why one of their slabs has no other place; empty if all have one.
     */
    private final Map<RemoteServer, String> emptied = new ConcurrentHashMap<>();

    /**
     * Held from the choice of a new slab's server until the slab is in the table: the thread that empties a server
     * takes it, and so waits for a slab that is just being placed there.
     */
    private final ReentrantLock placing = new ReentrantLock();

    private final LongAdder regenerated = new LongAdder();
    private final LongAdder evicted = new LongAdder();
    private final Thread thread;
    private @Nullable HealthWatch watch;
    private volatile boolean closed;
    private volatile String trouble = "";
    private long windowEnds = System.nanoTime() + WINDOW_NANOS;
    private long pausedUntil = System.nanoTime();
    private long dutiesAt = System.nanoTime();

    public SlabKeeper(SpaceState space, SlabPlacement placement) {
        this.space = space;
        this.placement = placement;
        this.rebuild = new SlabRebuild(space);
        this.onServer = new ServerRebuild(space, rebuild);
        this.evictions = new SlabEvictions(space);
        this.judge = new FailureDetector(space.resilience);
        this.thread = Thread.ofPlatform().daemon().name("farheap-slabs").unstarted(this::run);
    }

    /** Sets the watch, which it closes. Called before {@link #start}. */
    public void watch(HealthWatch health) {
        watch = health;
    }

    public void start() {
        thread.start();
    }

    /** Makes the thread look for work now. Any thread; does not wait. */
    public void wake() {
        LockSupport.unpark(thread);
    }

    private void run() {
        while (!closed) {
            try {
                round();
            } catch (Throwable e) {
                // For example a server that does not answer, a device that refuses, an exception of the user's function
                // of domains, a space that is being closed, or no memory. The next round tries again: without this
                // thread nothing would be regenerated any more.
                trouble = String.valueOf(e.getMessage());
            }
            if (!closed) {
                LockSupport.parkNanos(this, ROUND_NANOS);
            }
        }
    }

    private void round() {
        rebuild.poll();
        retireVoid();
        duties(System.nanoTime());
        if (System.nanoTime() - pausedUntil >= 0) {
            regenerate();
            move(evictions.wanted(), true);
            move(slabsThatLeave(), false);
        }
    }

    /** Does the work that must not wait for a regeneration, which may take long. */
    private void betweenWindows() {
        long now = System.nanoTime();
        if (now - dutiesAt >= 0) {
            duties(now);
        }
    }

    private void duties(long now) {
        dutiesAt = now + ROUND_NANOS;
        // In each round, as a slab may have been placed on a server just before the server was lost.
        space.table.makeVoidWhatIsLost();
        if (now - windowEnds >= 0) {
            windowEnds = now + WINDOW_NANOS;
            judge(now);
        }
        giveBack();
        evictions.check(now);
        if (watch != null) {
            watch.check();
        }
    }

    private void judge(long now) {
        List<ServerErrorCounts> there = space.records.values().stream()
                .filter(record -> record.server.lost() == null && !space.left.contains(record.server))
                .toList();
        judge.windowEnds(there, now).forEach((record, verdict) -> {
            if (verdict == FailureDetector.Verdict.STAY) {
                return;
            }
            avoid(record.server, AVOID_NANOS);
            if (verdict == FailureDetector.Verdict.GIVE_UP) {
                space.table.slabsAt(record.server).forEach(space.table::giveUp);
            } else {
                leaving.put(record.server, now + AVOID_NANOS);
            }
        });
        avoided.values().removeIf(until -> now - until >= 0);
        leaving.values().removeIf(until -> now - until >= 0);
    }

    /** The slabs of servers whose connections fail repeatedly, and of those that are being retired. */
    private List<Slab> slabsThatLeave() {
        return Stream.concat(leaving.keySet().stream(), emptied.keySet().stream())
                .distinct()
                .flatMap(server -> space.table.slabsAt(server).stream())
                .toList();
    }

    /**
     * Regenerates void slabs, each time the one that is the most urgent by then. A slab for which it fails is tried
     * again after a pause.
     */
    private void regenerate() {
        Set<Integer> failed = new HashSet<>();
        for (int left = space.table.voidSlabs().size(); left > 0 && !closed; left--) {
            Optional<Slab> old = space.table.voidSlabs().stream()
                    .filter(slab -> !failed.contains(number(slab)))
                    .findFirst();
            if (old.isEmpty()) {
                return;
            }
            if (!regenerate(old.get())) {
                failed.add(number(old.get()));
                pausedUntil = System.nanoTime() + PAUSE_NANOS;
            }
        }
    }

    /** The slab's index in the table. */
    private int number(Slab slab) {
        return slab.range() * space.table.splits() + slab.split();
    }

    private boolean regenerate(Slab old) {
        Slab next = null;
        placing.lock();
        try {
            RemoteRegion region = place(old);
            if (region != null) {
                next = replace(old, region);
            }
        } finally {
            placing.unlock();
        }
        return next != null && make(next);
    }

    /**
     * Moves correct slabs to other servers, one after the other. A slab becomes void once its successor has a place and
     * while all others of its range are good, so this never leaves a range more than one slab short.
     *
     * @param wanted whether their servers want the memory back
     */
    private void move(List<Slab> slabs, boolean wanted) {
        for (Slab slab : slabs) {
            if (closed || !space.table.voidSlabs().isEmpty()) {
                return;
            }
            if (!space.table.canSpare(slab)) {
                continue;
            }
            Slab next = evict(slab);
            if (next != null) {
                if (wanted) {
                    evicted.increment();
                }
                make(next);
            }
        }
    }

    /** @return its successor, or null if it stays */
    private @Nullable Slab evict(Slab slab) {
        placing.lock();
        try {
            RemoteRegion region = place(slab);
            if (region == null) {
                pausedUntil = System.nanoTime() + PAUSE_NANOS;
                emptied.computeIfPresent(slab.region().server(), (_, before) -> trouble);
                return null;
            }
            if (!space.table.evict(slab)) {
                region.server().releaseQuietly(region);
                return null;
            }
            return replace(slab, region);
        } finally {
            placing.unlock();
        }
    }

    /** @param region of the new slab; the caller owns it until it is in the table */
    private Slab replace(Slab old, RemoteRegion region) {
        Slab next = new Slab(region, old.range(), old.split(), old.generation() + 1, Slab.REBUILDING);
        space.table.replace(old, next);
        if (!retiredVoid.remove(old)) {
            retired.add(new RetiredSlab(old.region()));
        }
        return next;
    }

    private boolean make(Slab next) {
        boolean rebuilt = false;
        try {
            rebuilt = onServer.run(next, this::betweenWindows);
        } finally {
            if (!rebuilt) {
                space.table.makeVoid(next);
            }
        }
        if (rebuilt) {
            regenerated.increment();
        } else if (onServer.destinationFailed()) {
            avoid(next.region().server(), UNREACHABLE_NANOS);
        }
        return rebuilt;
    }

    private void avoid(RemoteServer server, long nanos) {
        avoided.merge(server, System.nanoTime() + nanos, (known, until) -> until - known > 0 ? until : known);
    }

    /**
     * Takes a region for a slab's successor and connects all queues to its server; or returns null and sets
     * {@link #trouble}.
     */
    private @Nullable RemoteRegion place(Slab old) {
        RemoteRegion region = take(old);
        if (region == null) {
            trouble = "no server of a free domain has room for " + old;
            return null;
        }
        try {
            space.memory.connectQueues(region.server());
            return region;
        } catch (RuntimeException e) {
            region.server().releaseQuietly(region);
            avoid(region.server(), UNREACHABLE_NANOS);
            trouble = "no connection to " + region.server().address() + " for " + old + ": " + e.getMessage();
            return null;
        }
    }

    private @Nullable RemoteRegion take(Slab old) {
        Set<String> taken = new HashSet<>();
        for (int split = 0; split < space.table.splits(); split++) {
            Slab slab = space.table.slab(old.range(), split);
            if (!slab.isVoid() && slab != old) {
                taken.add(placement.domain(slab.region().server()));
            }
        }
        return placement.take(
                space.memory.servers(),
                taken,
                this::isNoPlace,
                space.table::slabsOf,
                server -> avoid(server, AVOID_NANOS));
    }

    /** Whether a server is to get no new slab now. Any thread. */
    public boolean isNoPlace(RemoteServer server) {
        return avoided.containsKey(server)
                // In this order: a server that is being retired joins {@code left} before it leaves {@code emptied}.
                || emptied.containsKey(server)
                || space.left.contains(server)
                || evictions.isPressed(server)
                || server.description().regionBytes() < space.slabBytes();
    }

    /**
     * Retires the memory of void slabs. It need not wait for a successor, which may have no other place than there.
     * Called between regenerations only: a slab that is being filled may become void, and is written until that has
     * ended.
     */
    private void retireVoid() {
        for (Slab slab : space.table.voidSlabs()) {
            if (retiredVoid.add(slab)) {
                retired.add(new RetiredSlab(slab.region()));
            }
        }
    }

    /**
     * Gives the memory of void and replaced slabs back, if no session has an operation posted to it that has not ended
     * or whose outcome is unknown. The order matters: first the region is retired, after which nothing new is posted to
     * it, and then the sessions are asked whether they may still write. A session marks an operation that ended with an
     * unknown outcome inside its queue's gate, and the retirement has claimed that gate, so the mark is visible here.
     */
    private void giveBack() {
        long now = System.nanoTime();
        retired.removeIf(slab -> {
            RemoteServer server = slab.region.server();
            if (server.lost() != null) {
                return true;
            }
            try {
                space.memory.retire(slab.region);
                if (space.sessions.stream().noneMatch(lines -> lines.mayWrite(server) && !slab.isFenced(lines))) {
                    server.fenceForgotten();
                    space.memory.release(slab.region);
                    return true;
                }
            } catch (IllegalStateException e) {
                // An operation to the region has not ended.
            } catch (ControlException e) {
                return false;
            }
            hurry(slab, now);
            return false;
        });
    }

    /**
     * Ends operations that take long: the session is asked first, and later the keeper does it in its place, as no
     * thread may poll the session for a while.
     */
    private void hurry(RetiredSlab slab, long now) {
        if (!slab.asked && now - slab.since > FENCE_NANOS) {
            slab.asked = true;
            space.sessions.forEach(lines -> lines.wantFence(slab.region));
        }
        if (now - slab.nextFence < 0) {
            return;
        }
        slab.nextFence = now + FENCE_NANOS;
        for (FenceStatus lines : space.sessions) {
            if (lines.isUsing(slab.region) || lines.mayWrite(slab.region.server())) {
                // If the server does not answer, this is tried again.
                slab.fence(lines);
            }
        }
    }

    /**
     * From now on a server's slabs move elsewhere, and it gets no new ones; a slab that was just being placed there is
     * in the table when this returns. Until {@link #keep}. Any thread.
     *
     * @return how many places of the table named a slab of this server before the first of them moves
     */
    int empty(RemoteServer server) {
        placing.lock();
        try {
            // The count comes first: a slab leaves as soon as the keeper finds its server here, and could be missed.
            int places = space.table.placesAt(server);
            emptied.put(server, "");
            return places;
        } finally {
            placing.unlock();
            wake();
        }
    }

    void keep(RemoteServer server) {
        emptied.remove(server);
    }

    /** Why a slab of a server that is being emptied has no other place; empty if none lacks one. Any thread. */
    String noPlaceFor(RemoteServer server) {
        return emptied.getOrDefault(server, "");
    }

    /** Whether the memory of all slabs that a server had has been given back to it. Any thread. */
    boolean hasAllBack(RemoteServer server) {
        return retired.stream().noneMatch(slab -> slab.region.server() == server);
    }

    boolean isClosed() {
        return closed;
    }

    public long regenerated() {
        return regenerated.sum();
    }

    /** Slabs that moved because their servers wanted the memory back. */
    public long evicted() {
        return evicted.sum();
    }

    public String trouble() {
        return trouble;
    }

    /** Bytes read from good slabs to regenerate others. */
    public long bytesRead() {
        return rebuild.bytesRead() + onServer.bytesRead();
    }

    /** Bytes of slabs that were regenerated. */
    public long bytesRebuilt() {
        return rebuild.bytesRebuilt() + onServer.bytesRebuilt();
    }

    /** Those of them that the slabs' servers made. */
    public long bytesRebuiltByServers() {
        return onServer.bytesRebuilt();
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        ThreadJoiner.join(thread);
        evictions.close();
        rebuild.close();
        giveBack();
        if (watch != null) {
            watch.close();
        }
    }
}
