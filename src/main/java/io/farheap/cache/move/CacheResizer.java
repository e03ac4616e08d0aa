package io.farheap.cache.move;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.managed.ManagedCache;
import io.farheap.cache.managed.ManagedCacheClient;
import io.farheap.cache.managed.ManagedReshape;
import io.farheap.cache.session.SessionCore;
import io.farheap.control.ControlException;
import io.farheap.lifetime.Closeables;
import io.farheap.manager.AllocationCandidate;
import io.farheap.memory.ByteSize;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.StallAwareTimeout;
import io.farheap.thread.Uninterruptibles;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Makes a cache larger or smaller while it is used (Redy, section 6.2, which stalls all requests meanwhile; here none
 * waits). Larger: regions are taken and zeroed by their servers, sessions are connected to these, the table gets the
 * regions, and then the capacity is raised. Smaller: the capacity is lowered, requests beyond it are awaited, and then
 * the regions go as the old copies of a migration do. One thread at a time, and no migration meanwhile.
 */
public final class CacheResizer {

    /** For which requests beyond the new end may stay. */
    static final int QUIET_SECONDS = 10;

    private static final long LOOK_NANOS = 50_000;
    private static final long LONGEST_LOOK_NANOS = 20_000_000;
    private static final int ZERO_BYTES = 1 << 20;

    /** The cache, as this knows it. */
    public interface ResizeHost extends ManagedCache {

        /** A session that may use all of the last region, also beyond the capacity. */
        SessionCore openInternalSession();
    }

    private final ResizeHost cache;
    private final RegionTable table;
    private final CacheMoves moves;
    private final List<RemoteServer> servers;
    private final Iterable<SessionCore> sessions;
    private final @Nullable ManagedCacheClient management;
    /** How far the cache may have been written to, where it was larger once; never less. */
    private long written;

    public CacheResizer(
            ResizeHost cache,
            RegionTable table,
            CacheMoves moves,
            List<RemoteServer> servers,
            Iterable<SessionCore> sessions,
            @Nullable ManagedCacheClient management) {
        this.cache = cache;
        this.table = table;
        this.moves = moves;
        this.servers = servers;
        this.sessions = sessions;
        this.management = management;
        this.written = table.capacity();
    }

    /** Another objective, for which the cache runs with another configuration. */
    interface ObjectiveChange {

        /** The configurations that meet it. */
        List<AllocationCandidate> candidates();

        /**
         * The cache runs with its configuration from now on. Where this fails it does not.
         *
         * @param chosen by the cache's manager; null where it has none
         */
        void apply(@Nullable AllocationCandidate chosen);

        /** The cache runs as before it was applied. */
        void undo();
    }

    /**
     * All or nothing, but that regions may have moved.
     *
     * @param bytes at least 1
     * @param objective null for the one that the cache has
     * @throws ControlException BUSY where the manager is to be asked again; nothing has changed then
     */
    void to(long bytes, @Nullable ObjectiveChange objective) {
        long before = table.capacity();
        if (bytes > before || bytes == before && objective != null) {
            grow(bytes, objective);
        } else if (bytes < before) {
            shrink(before, bytes, objective);
        }
    }

    private int regions(long bytes) {
        long regions = (bytes - 1) / table.regionBytes() + 1;
        if (regions > Integer.MAX_VALUE) {
            throw new CacheException("a capacity of " + ByteSize.text(bytes) + " has " + regions
                    + " regions; there are at most " + Integer.MAX_VALUE);
        }
        return (int) regions;
    }

    private void grow(long bytes, @Nullable ObjectiveChange objective) {
        ManagedReshape managed = ask(bytes, objective);
        int missing = Math.max(0, regions(bytes) - table.size());
        List<RemoteRegion> more = new ArrayList<>();
        change(bytes, missing, managed, objective, more);
        // Before anybody can write there: what follows may throw.
        written = Math.max(written, bytes);
        table.append(more);
        table.capacity(bytes);
        moves.changed();
        if (managed != null) {
            managed.end();
        }
    }

    /** @return null where there is no manager */
    private @Nullable ManagedReshape ask(long bytes, @Nullable ObjectiveChange objective) {
        if (management == null) {
            return null;
        }
        try {
            return management.reallocate(cache, bytes, objective == null ? List.of() : objective.candidates());
        } catch (ControlException e) {
            if (e.code() == ControlException.Code.BUSY) {
                throw e;
            }
            throw stays(e);
        }
    }

    private CacheException stays(ControlException e) {
        return new CacheException("the capacity stays " + ByteSize.text(table.capacity()) + ": " + e.getMessage(), e);
    }

    /** All but what shows that the cache is another. */
    private void change(
            long bytes,
            int missing,
            @Nullable ManagedReshape managed,
            @Nullable ObjectiveChange objective,
            List<RemoteRegion> more) {
        int staying = Math.min(table.size(), regions(bytes));
        ObjectiveChange applied = null;
        try {
            zero(table.capacity(), Math.min(Math.min(bytes, written), table.size() * table.regionBytes()));
            if (managed != null) {
                managed.take(missing, more);
            } else if (missing > 0) {
                more.addAll(RegionPlacement.more(lastFirst(), missing));
            }
            if (objective != null) {
                // Before anything moves: it fails sooner than that.
                objective.apply(managed == null ? null : managed.candidate());
                applied = objective;
            }
            if (managed != null) {
                managed.move(staying);
            }
            moves.prepare(more);
            if (managed != null) {
                managed.become(staying, more);
            }
        } catch (Throwable e) {
            RegionPlacement.giveBack(more);
            if (applied != null) {
                Closeables.after(e, applied::undo);
            }
            if (managed != null) {
                Closeables.after(e, managed::undo);
            }
            if (e instanceof ControlException refused) {
                throw stays(refused);
            }
            throw e;
        }
    }

    /** As Redy has it: the last server's room first. */
    private List<RemoteServer> lastFirst() {
        List<RemoteServer> order = new ArrayList<>(servers);
        RemoteServer last = table.get(table.size() - 1).copy().server();
        if (order.remove(last)) {
            order.addFirst(last);
        }
        return order;
    }

    /** Some of the last region had been the cache's before it became smaller. */
    private void zero(long from, long to) {
        if (from >= to) {
            return;
        }
        SessionCore session = cache.openInternalSession();
        try {
            // From the heap, since a client thread may take it.
            MemorySegment zeros = MemorySegment.ofArray(new byte[(int) Math.min(ZERO_BYTES, to - from)]);
            for (long at = from; at < to; at += zeros.byteSize()) {
                session.blocking.execute(true, at, zeros.asSlice(0, Math.min(zeros.byteSize(), to - at)));
            }
        } finally {
            session.lifeCycle.close();
        }
    }

    private void shrink(long before, long bytes, @Nullable ObjectiveChange objective) {
        ManagedReshape managed = null;
        table.capacity(bytes);
        try {
            moves.publish();
            awaitNobodyBeyond(bytes);
            if (objective != null) {
                managed = ask(bytes, objective);
                change(bytes, 0, managed, objective, new ArrayList<>());
            }
        } catch (Throwable e) {
            table.capacity(before);
            throw e;
        }
        int left = regions(bytes);
        moves.truncate(left);
        written = Math.min(written, left * table.regionBytes());
        moves.changed();
        if (managed != null) {
            managed.end();
        } else if (management != null) {
            management.changed();
        }
    }

    private void awaitNobodyBeyond(long bytes) {
        StallAwareTimeout patience = new StallAwareTimeout(TimeUnit.SECONDS.toNanos(QUIET_SECONDS));
        // Those that are opened meanwhile are refused what is beyond.
        for (SessionCore session : sessions) {
            long look = LOOK_NANOS;
            while (session.pending.reaches(bytes)) {
                moves.requireGoing();
                if (patience.over()) {
                    throw new CacheException("a session has had requests pending beyond " + ByteSize.text(bytes)
                            + " for " + QUIET_SECONDS
                            + " s, so the capacity stays; poll or close it, and make the cache smaller again");
                }
                session.sleeper.wake();
                // For longer each time: a look keeps the session's thread out, which on a busy machine may be for long.
                Uninterruptibles.parkNanos(this, look);
                look = Math.min(2 * look, LONGEST_LOOK_NANOS);
            }
        }
    }
}
