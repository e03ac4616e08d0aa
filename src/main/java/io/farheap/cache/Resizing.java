package io.farheap.cache;

import io.farheap.control.ControlException;
import io.farheap.migration.RegionTable;
import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Makes a cache larger or smaller while it is used (Redy, section 6.2, which stalls all requests meanwhile; here none
 * waits). Larger: regions are taken and zeroed by their servers, sessions are connected to these, the table gets the
 * regions, and then the capacity is raised. Smaller: the capacity is lowered, requests beyond it are awaited, and then
 * the regions go as the old copies of a migration do. One thread at a time, and no migration meanwhile.
 */
final class Resizing {

    /** For which requests beyond the new end may stay. */
    static final int QUIET_SECONDS = 10;

    private static final long LOOK_NANOS = 50_000;
    private static final int ZERO_BYTES = 1 << 20;

    /** The cache, as this knows it. */
    interface Owner extends Management.Owner {

        /** A session that may use all of the last region, also beyond the capacity. */
        Session openInternalSession();
    }

    private final Owner cache;
    private final RegionTable table;
    private final CacheMoves moves;
    private final List<RemoteServer> servers;
    private final Iterable<Session> sessions;
    private final @Nullable Management management;
    /** How far the last region may have been written to, where the cache was larger once. */
    private long written;

    Resizing(
            Owner cache,
            RegionTable table,
            CacheMoves moves,
            List<RemoteServer> servers,
            Iterable<Session> sessions,
            @Nullable Management management) {
        this.cache = cache;
        this.table = table;
        this.moves = moves;
        this.servers = servers;
        this.sessions = sessions;
        this.management = management;
        this.written = table.capacity();
    }

    /** @param bytes at least 1 */
    void to(long bytes) {
        long before = table.capacity();
        if (bytes > before) {
            grow(bytes);
        } else if (bytes < before) {
            shrink(before, bytes);
        }
    }

    private int regions(long bytes) {
        long regions = (bytes - 1) / table.regionBytes() + 1;
        if (regions > Integer.MAX_VALUE) {
            throw new CacheException("a capacity of " + bytes + " bytes has " + regions + " regions; there are at most "
                    + Integer.MAX_VALUE);
        }
        return (int) regions;
    }

    private void grow(long bytes) {
        zero(table.capacity(), Math.min(bytes, written));
        int missing = regions(bytes) - table.size();
        List<RemoteRegion> more = new ArrayList<>();
        try {
            long generation = 0;
            if (management != null) {
                generation = management.grow(bytes, missing, cache, more);
            } else if (missing > 0) {
                more.addAll(RegionPlacement.more(lastFirst(), missing));
            }
            moves.prepare(more);
            if (management != null) {
                management.grown(bytes, generation, cache, more);
            }
        } catch (ControlException e) {
            undo(more);
            throw new CacheException("the capacity stays " + table.capacity() + " bytes: " + e.getMessage(), e);
        } catch (Throwable e) {
            undo(more);
            throw e;
        }
        table.append(more);
        table.capacity(bytes);
        written = Math.max(written, bytes);
    }

    private void undo(List<RemoteRegion> taken) {
        RegionPlacement.giveBack(taken);
        if (management != null) {
            // It may have heard that the cache has grown.
            management.changed();
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
        Session session = cache.openInternalSession();
        try {
            // From the heap, since a client thread may take it.
            MemorySegment zeros = MemorySegment.ofArray(new byte[(int) Math.min(ZERO_BYTES, to - from)]);
            for (long at = from; at < to; at += zeros.byteSize()) {
                session.writeBlocking(at, zeros.asSlice(0, Math.min(zeros.byteSize(), to - at)));
            }
        } finally {
            session.close();
        }
    }

    private void shrink(long before, long bytes) {
        table.capacity(bytes);
        try {
            moves.publish();
            awaitNobodyBeyond(bytes);
        } catch (Throwable e) {
            table.capacity(before);
            throw e;
        }
        int left = regions(bytes);
        moves.truncate(left);
        written = Math.min(written, left * table.regionBytes());
        if (management != null) {
            management.changed();
        }
    }

    private void awaitNobodyBeyond(long bytes) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(QUIET_SECONDS);
        // Those that are opened meanwhile are refused what is beyond.
        for (Session session : sessions) {
            while (session.reaches(bytes)) {
                if (System.nanoTime() - deadline > 0) {
                    throw new CacheException("a session has had requests pending beyond " + bytes + " bytes for "
                            + QUIET_SECONDS
                            + " s, so the capacity stays; poll or close it, and make the cache smaller again");
                }
                session.wake();
                LockSupport.parkNanos(LOOK_NANOS);
            }
        }
    }
}
