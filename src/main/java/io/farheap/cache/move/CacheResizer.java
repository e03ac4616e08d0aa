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
 * waits). To grow, it takes regions, which their servers zero, connects the sessions to these servers, appends the
 * regions to the table, and then raises the capacity. To shrink, it lowers the capacity, awaits the requests beyond it,
 * and then frees the regions as a migration frees old copies. One thread at a time, and no migration meanwhile.
 */
public final class CacheResizer {

    /** How long requests beyond the new end may stay pending. */
    static final int QUIET_SECONDS = 10;

    private static final long LOOK_NANOS = 50_000;
    private static final long LONGEST_LOOK_NANOS = 20_000_000;
    private static final int ZERO_BYTES = 1 << 20;

    /** The cache, as this class uses it. */
    public interface ResizeHost extends ManagedCache {

        /** Opens a session that may access all of the last region, also beyond the capacity. */
        SessionCore openInternalSession();
    }

    private final ResizeHost cache;
    private final RegionTable table;
    private final CacheMoves moves;
    private final List<RemoteServer> servers;
    private final Iterable<SessionCore> sessions;
    private final @Nullable ManagedCacheClient management;
    /** The address up to which the cache may have been written, also when it was larger; an upper bound. */
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

    /** A change of the objective, for which the cache runs with another configuration. */
    interface ObjectiveChange {

        /** The configurations that meet it. */
        List<AllocationCandidate> candidates();

        /**
         * Makes the cache run with the objective's configuration. If this fails, nothing has changed.
         *
         * @param chosen the candidate that the cache's manager has chosen; null if it has no manager
         */
        void apply(@Nullable AllocationCandidate chosen);

        /** Makes the cache run with its earlier configuration again. */
        void undo();
    }

    /**
     * Changes capacity and objective, or nothing, except that regions may have moved.
     *
     * @param bytes at least 1
     * @param objective null for the one that the cache has
     * @throws ControlException BUSY if the caller should try again; nothing has changed then
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
        // Before a session can write there, since the following steps may throw.
        written = Math.max(written, bytes);
        table.append(more);
        table.capacity(bytes);
        moves.changed();
        if (managed != null) {
            managed.end();
        }
    }

    /** @return null if there is no manager */
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

    /** Does all steps of a change before the one that makes it visible. */
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
                // Before regions move: this is more likely to fail.
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

    /** The servers in Redy's order: the one of the last region first. */
    private List<RemoteServer> lastFirst() {
        List<RemoteServer> order = new ArrayList<>(servers);
        RemoteServer last = table.get(table.size() - 1).copy().server();
        if (order.remove(last)) {
            order.addFirst(last);
        }
        return order;
    }

    /** Zeroes a range of the last region that belonged to the cache before it became smaller. */
    private void zero(long from, long to) {
        if (from >= to) {
            return;
        }
        SessionCore session = cache.openInternalSession();
        try {
            // On the heap, since a client thread must be able to access it.
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
        // Sessions that are opened meanwhile refuse requests beyond the capacity.
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
                // Pause for longer each time: a look claims the gate and keeps the session's thread out, on a busy
                // machine for long.
                Uninterruptibles.parkNanos(this, look);
                look = Math.min(2 * look, LONGEST_LOOK_NANOS);
            }
        }
    }
}
