package io.farheap.resilience.keeper;

import io.farheap.control.ControlException;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.table.FenceStatus;
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
 * A space's background: notices lost servers, judges the others' health, regenerates void slabs and those that are to
 * go elsewhere, and gives their memory back once nothing can write it any more. A thread of its own.
 */
public final class SlabKeeper implements AutoCloseable {

    private static final long ROUND_NANOS = 20_000_000;
    private static final long WINDOW_NANOS = 500_000_000;
    /**
     * After its slabs were given up or moved, or it did not say whether it has room, a server gets none for so long.
     */
    private static final long AVOID_NANOS = 10_000_000_000L;
    /** After it could not be connected to, or written, it gets none for so long. */
    private static final long UNREACHABLE_NANOS = 1_000_000_000L;
    /**
     * So long a session's own operations may take before it is asked to fence, and so long again before that is done in
     * its place.
     */
    private static final long FENCE_NANOS = 1_000_000_000L;
    /** No room for a new slab, or no way to fill it: not tried again before. */
    private static final long PAUSE_NANOS = 100_000_000;

    /** A slab's memory that is to be given back. */
    private static final class RetiredSlab {
        final RemoteRegion region;
        final long since = System.nanoTime();
        /** Sessions have been asked to fence it: once, as each time costs them a connection. */
        boolean asked;
        /** Nothing is done in their place before. */
        long nextFence = since + 2 * FENCE_NANOS;
        /** Ends of sessions' connections to its server, in their place, which are done or under way. */
        private final Map<FenceStatus, CompletableFuture<Void>> ends = new HashMap<>();

        RetiredSlab(RemoteRegion region) {
            this.region = region;
        }

        /** Nothing that a session posted can write it, nor will. */
        boolean isFenced(FenceStatus session) {
            CompletableFuture<Void> end = ends.get(session);
            return end != null && end.state() == Future.State.SUCCESS;
        }

        /** Ends what a session has under way to its server, unless that is being done. */
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

    /** Of these the slabs that are in the table still. */
    private final Set<Slab> retiredVoid = Collections.newSetFromMap(new IdentityHashMap<>());

    private final Map<RemoteServer, Long> avoided = new ConcurrentHashMap<>();
    /** Servers whose slabs are to go elsewhere, and until when. */
    private final Map<RemoteServer, Long> leaving = new HashMap<>();
    /** Servers that are to be retired, and why one of their slabs has no other place; empty where all have. */
    private final Map<RemoteServer, String> emptied = new ConcurrentHashMap<>();

    /** Held from the choice of a new slab's server until it is in the table: who empties a server waits for that. */
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

    /** Before it is started. Its own from now on. */
    public void watch(HealthWatch health) {
        watch = health;
    }

    public void start() {
        thread.start();
    }

    /** There may be something to do. Any thread; does not wait. */
    public void wake() {
        LockSupport.unpark(thread);
    }

    private void run() {
        while (!closed) {
            try {
                round();
            } catch (Throwable e) {
                // A server that does not answer, a device that refuses, the user's function of domains, a space that is
                // being closed, no memory: the next round. Without this thread nothing would be regenerated any more.
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

    /** What does not wait for a regeneration, which may take long. */
    private void betweenWindows() {
        long now = System.nanoTime();
        if (now - dutiesAt >= 0) {
            duties(now);
        }
    }

    private void duties(long now) {
        dutiesAt = now + ROUND_NANOS;
        // Each time: a slab may have been placed on one just before it was lost.
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
        judge.windowEnds(space.records.values(), now).forEach((record, verdict) -> {
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

    /** Those of servers whose connections fail again and again, or that are to be retired. */
    private List<Slab> slabsThatLeave() {
        return Stream.concat(leaving.keySet().stream(), emptied.keySet().stream())
                .distinct()
                .flatMap(server -> space.table.slabsAt(server).stream())
                .toList();
    }

    /** Each time what has become the most urgent meanwhile. What cannot be has its turn again after a pause. */
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

    /** In the table. */
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
     * What is right goes elsewhere, one slab after the other: it becomes void once there is a place for its successor,
     * and while all others of its range are good. So a range has never more than one slab too few for that.
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

    /** @return its successor, or null where it stays */
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

    /** @param region of the new slab, which is ours to give back until it is in the table */
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

    /** A region for a slab's successor, whose server all queues are connected to; or null, with the trouble said. */
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
                // In this order: one that is retired has left before it is no longer being emptied.
                || emptied.containsKey(server)
                || space.left.contains(server)
                || evictions.isPressed(server)
                || server.description().regionBytes() < space.slabBytes();
    }

    /**
     * That of a void slab need not wait for a successor, which may have no other place than there. Between
     * regenerations: one that is being filled may become void, and is written to until that has ended.
     */
    private void retireVoid() {
        for (Slab slab : space.table.voidSlabs()) {
            if (retiredVoid.add(slab)) {
                retired.add(new RetiredSlab(slab.region()));
            }
        }
    }

    /**
     * Memory of slabs that are void or have been replaced goes back, where no session has posted anything to it that
     * has not ended, or whose outcome is unknown. In this order: once it is retired nothing new is posted to it; what
     * ended with an unknown outcome until then has made its session say so inside its queue's gate, which the
     * retirement has claimed.
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
                // Something is under way.
            } catch (ControlException e) {
                return false;
            }
            hurry(slab, now);
            return false;
        });
    }

    /** What takes long is ended: by its session, or in its place, as nobody may poll that for a while. */
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
                // Where the server does not answer it is tried again.
                slab.fence(lines);
            }
        }
    }

    /**
     * From now on a server's slabs go elsewhere, and it gets none: one that was being placed there is in the table. Any
     * thread, until {@link #keep}.
     */
    void empty(RemoteServer server) {
        placing.lock();
        try {
            emptied.put(server, "");
        } finally {
            placing.unlock();
        }
        wake();
    }

    void keep(RemoteServer server) {
        emptied.remove(server);
    }

    /**
     * Why a slab of a server that is being emptied has no other place; empty where none was without one. Any thread.
     */
    String noPlaceFor(RemoteServer server) {
        return emptied.getOrDefault(server, "");
    }

    /** Whether a server has all memory back of slabs that it had. Any thread. */
    boolean hasAllBack(RemoteServer server) {
        return retired.stream().noneMatch(slab -> slab.region.server() == server);
    }

    boolean isClosed() {
        return closed;
    }

    public long regenerated() {
        return regenerated.sum();
    }

    /** Slabs that went elsewhere since their servers wanted them back. */
    public long evicted() {
        return evicted.sum();
    }

    public String trouble() {
        return trouble;
    }

    /** From good slabs, to make others. */
    public long bytesRead() {
        return rebuild.bytesRead() + onServer.bytesRead();
    }

    /** Of slabs that were made. */
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
