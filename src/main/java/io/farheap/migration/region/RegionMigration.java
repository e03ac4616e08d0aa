package io.farheap.migration.region;

import io.farheap.control.ControlException;
import io.farheap.lifetime.Closeables;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.PacedPull;
import io.farheap.verbs.Context;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Moves regions to other servers while they are in use (Redy, section 6.2). The new server pulls a region from the old
 * one with one-sided READs, chunk after chunk, at the pace of this process; each chunk goes through four states:
 *
 * <ol>
 *   <li>old: reads and writes go to the old copy;
 *   <li>draining: new writes to it are held, and every session's posted ones are awaited;
 *   <li>copying: the new server reads it; reads continue from the old copy;
 *   <li>new: reads go to the new copy, and so do the held writes.
 * </ol>
 *
 * <p>A window of chunks is drained ahead of the copy, so that the copy never waits for a writer. If writes wait for
 * whole regions, a region is one window, and all its chunks become new at once. The old copy is freed once every
 * session has passed the last switch and its reads of the old copy have completed.
 *
 * <p>A write whose outcome is unknown, because its connection failed, is fenced before the chunks that it may have
 * changed are copied: the server destroys that queue pair. There are no dual writes: concurrent ones could apply in
 * opposite orders on the two copies.
 *
 * <p>A migration that fails leaves every chunk in its current copy: the new ones in the new copy, which has their
 * latest writes, the others in the old copy. If none had become new, nothing has changed. Otherwise the region is
 * {@linkplain SplitRegion split}: it can be used, and the next migration moves the rest. If one of its servers is lost,
 * only the part on that server is lost. Held writes always resume.
 *
 * <p>The next region's move can be made {@linkplain #ready ready} while one is copied. The steps after a move (the end
 * of its pull, and the return of the old copy, which its server zeroes) continue while the next region is copied,
 * unless {@link #finish} is called before: that waits for them.
 *
 * <p>One thread at a time, except for {@link #ready} and the methods that state otherwise.
 */
public final class RegionMigration {

    private final Context context;
    private final RegionTable table;
    private final Participants participants;
    private final CleanupTasks finishing = new CleanupTasks();
    /**
     * The server that the cache leaves. Old copies there are not freed one by one; they end together with the server's
     * lease.
     */
    private @Nullable RemoteServer leaving;

    private final List<RemoteRegion> kept = new ArrayList<>();
    /** Whether requests to all of the cache wait, and whether reads do too. */
    private boolean paused;

    private boolean readsPaused;

    /** @param sessions those that are open when it is called */
    public RegionMigration(
            Context context, RegionTable table, Supplier<List<? extends MigrationParticipant>> sessions) {
        this.context = context;
        this.table = table;
        this.participants = new Participants(sessions);
    }

    /**
     * Moves the parts of a region that are on one server, or on any server but the destination, to the destination.
     *
     * @param index of the virtual region
     * @param from the server that the region leaves; null to move all of it
     * @param destination the server to which it moves
     * @throws ControlException if a server refuses or does not answer; the region is then unchanged, or split
     */
    public MigrationResult migrate(
            int index, @Nullable RemoteServer from, RemoteServer destination, MigrationOptions options) {
        long started = System.nanoTime();
        return migrate(ready(index, from, destination, options), options, started);
    }

    /**
     * Prepares a move for {@link #migrate(ReadyMove, MigrationOptions)}: a region on the destination, and a pull there
     * that waits to copy. Any thread, also while another region moves. Requests are not affected.
     *
     * @throws ControlException if a server refuses or does not answer; nothing is left over then
     */
    public ReadyMove ready(int index, @Nullable RemoteServer from, RemoteServer destination, MigrationOptions options) {
        return ReadyMove.of(
                context, index, extents(index), from, destination, options.chunkBytes(), participants::requireGoing);
    }

    /** As {@link #migrate(int, RemoteServer, RemoteServer, MigrationOptions)}, with a prepared move, which it ends. */
    public MigrationResult migrate(ReadyMove ready, MigrationOptions options) {
        return migrate(ready, options, System.nanoTime());
    }

    private MigrationResult migrate(ReadyMove ready, MigrationOptions options, long started) {
        int index = ready.index();
        RemoteRegion target = ready.target();
        SplitRegion before = extents(index);
        MigrationResult result = MigrationResult.NONE;
        try (ready) {
            participants.ensureConnected(target.server());
            for (int extent = extents(index).toMove(ready.from(), target);
                    extent >= 0;
                    extent = extents(index).toMove(ready.from(), target)) {
                result = result.plus(move(index, extent, ready, options));
            }
        } finally {
            SplitRegion after = extents(index);
            // Failed migrations in both directions leave extents A, B, A: free each copy once, since its rkey is
            // invalid afterwards.
            Set<RemoteRegion> copies = before.copies();
            copies.add(target);
            for (RemoteRegion copy : copies) {
                freeUnused(copy, after);
            }
        }
        return new MigrationResult(
                1, result.bytes(), result.copyNanos(), System.nanoTime() - started, result.longestPauseNanos());
    }

    /**
     * Stops a move in progress soon, as if a server had refused, and every later one: the cache is about to end. Any
     * thread.
     */
    public void stop() {
        participants.stop();
    }

    /**
     * Any thread.
     *
     * @throws ControlException CANCELLED if it was {@linkplain #stop stopped}
     */
    public void requireGoing() {
        participants.requireGoing();
    }

    /** Returns when all old copies have been given back, except those that end with their server's lease. */
    public void finish() {
        finishing.await();
    }

    /**
     * From now on, copies on this server are not given back when regions have moved off it, because its lease is to
     * end. If the cache was leaving another server, the copies there are given back.
     */
    public void leave(RemoteServer server) {
        if (leaving != server) {
            stay();
            leaving = server;
        }
    }

    /**
     * The server's lease is about to end. Returns when no request to the regions that have moved off it is in flight.
     */
    public void left(RemoteServer server) {
        if (leaving == server && !kept.isEmpty()) {
            // For one copy this waits for all operations that were posted to its server.
            drained(kept.getFirst());
        }
        kept.clear();
        leaving = null;
    }

    /** The server keeps its lease for now: old copies of regions that have moved off it are given back. */
    public void stay() {
        leaving = null;
        kept.forEach(this::free);
        kept.clear();
        finish();
    }

    /** Makes sessions ready to use the servers of regions that the table is about to contain. */
    public void prepare(List<RemoteRegion> regions) {
        regions.stream().map(RemoteRegion::server).distinct().forEach(participants::ensureConnected);
    }

    /** When this returns, every session uses the table's capacity for its next request. */
    public void publish() {
        participants.publish();
    }

    /** Gives back the last regions, which no request uses any more, so that {@code size} are left. */
    public void truncate(int size) {
        Set<RemoteRegion> copies = new HashSet<>();
        for (int index = size; index < table.size(); index++) {
            copies.addAll(extents(index).copies());
        }
        table.truncate(size);
        for (RemoteRegion copy : copies) {
            free(copy);
        }
        // A write whose outcome is unknown must not take effect in the rest of the last region after that was zeroed.
        extents(size - 1).copies().forEach(this::drained);
        finish();
    }

    /** Makes all writes, or all requests, wait until {@link #resume}, at any address. */
    public void pause(boolean readsToo) {
        paused = true;
        readsPaused = readsToo;
        for (int index = 0; index < table.size(); index++) {
            set(index, table.get(index));
        }
    }

    public void resume() {
        paused = false;
        for (int index = 0; index < table.size(); index++) {
            set(index, RegionEntry.settled(extents(index)));
        }
        participants.publish();
        participants.resume();
    }

    private MigrationResult move(int index, int extent, ReadyMove ready, MigrationOptions options) {
        SplitRegion before = extents(index);
        RemoteRegion source = before.copy(extent);
        long start = before.start(extent);
        long end = before.end(extent);
        PacedPull pull = ready.pull(context, before, extent, options.chunkBytes());
        try {
            // Fence connections that failed before now, before any writer waits for them.
            participants.publish();
            participants.drain(source);
            SplitRegion split = before.moving(extent, ready.target(), !options.unpausedReads(), paused);
            ExtentMigration migration = new ExtentMigration(split, source, end, pull, participants, options);
            long held = System.nanoTime();
            try {
                table.set(index, RegionEntry.split(split));
                migration.run();
            } finally {
                split.held(split.moved());
                set(index, RegionEntry.settled(split));
                participants.publish();
                participants.resume();
            }
            long copied = System.nanoTime() - held;
            finishing.add(pull::close);
            return new MigrationResult(0, end - start, copied, 0, migration.longestPauseNanos());
        } catch (Throwable e) {
            Closeables.after(e, pull);
            throw e;
        }
    }

    private SplitRegion extents(int index) {
        return table.get(index).extents(table.regionBytes());
    }

    private void set(int index, RegionEntry entry) {
        table.set(
                index,
                paused ? RegionEntry.split(entry.extents(table.regionBytes()).paused(readsPaused)) : entry);
    }

    private void freeUnused(RemoteRegion copy, SplitRegion extents) {
        if (!extents.has(copy)) {
            if (copy.server() == leaving) {
                kept.add(copy);
            } else {
                free(copy);
            }
        }
    }

    /**
     * Gives a copy back once every session has passed the change of the table, and its earlier operations have
     * completed.
     */
    private void free(RemoteRegion copy) {
        if (drained(copy)) {
            finishing.add(() -> copy.server().releaseQuietly(copy));
        }
    }

    /**
     * Drains a copy's server.
     *
     * @return false if the server does not answer, and so cannot be fenced: its lease will end and free the region
     */
    private boolean drained(RemoteRegion copy) {
        try {
            participants.publish();
            participants.drain(copy);
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }
}
