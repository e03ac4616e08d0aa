package io.farheap.store.checkpoint;

import io.farheap.store.checkpoint.Checkpoint.IndexImage;
import io.farheap.store.checkpoint.SnapshotFiles.Snapshot;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.contract.StoreCounts;
import io.farheap.store.contract.StoreException;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogThread;
import io.farheap.store.operation.StoreContext;
import io.farheap.store.operation.StoreVersion;
import io.farheap.store.session.ListedSession;
import io.farheap.store.session.SessionList;
import io.farheap.thread.Uninterruptibles;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BlockingDeviceHandle;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Makes checkpoints while sessions use the store (concurrent prefix recovery, SIGMOD 2019, section 5). In steps:
 *
 * <ol>
 *   <li>If the options ask for it, an image of the index is written ({@link IndexFiles}).
 *   <li>The checkpointing thread waits until no update is pending. Meanwhile an update that would have to wait for the
 *       device is refused as FULL; all other operations continue.
 *   <li>The store's version is raised by one. Each session passes to it at its next operation; a session outside any
 *       operation counts as passed. The checkpoint has the operations that a session had done by then.
 *   <li>All sessions have passed: below the current tail the old version is complete, and its records are not changed
 *       until the checkpoint has them.
 *   <li>In a fold-over, the log itself is the checkpoint: all of it below the tail becomes read-only and is written to
 *       the device. In a snapshot, the part that the device does not have is copied to a file ({@link SnapshotFiles});
 *       one in 1,024 is a fold-over.
 *   <li>The device syncs the log.
 *   <li>The checkpoint's own file is written, synced and renamed. From then on it is durable.
 * </ol>
 */
public final class Checkpointer {

    private static final long NAP_NANOS = 50_000;
    /**
     * Versions in records are modulo 2^12: a record that may be changed in place must not look like one of a later
     * version.
     */
    private static final long MOST_VERSIONS_IN_PLACE = 1024;

    private final StoreContext parts;
    private final LogThread logThread;
    private final CheckpointFiles files;
    private final LogExtents extents;
    private final SessionList sessions;
    private final CheckpointOptions options;
    private final @Nullable SnapshotFiles snapshots;
    private final @Nullable IndexFiles images;

    private volatile boolean stopped;
    /** Set for the last checkpoint, when no session can do anything any more. */
    private boolean ending;

    /** Bytes that were written to files beside the log. */
    private final AtomicLong writtenBeside = new AtomicLong();

    /**
     * The version of the last fold-over, or the first one: records that may be changed in place are of later versions.
     */
    private long lastFold;

    /**
     * The number of the last checkpoint whose own file was written, or may have been. Each is used once: if that write
     * fails, the checkpoint may be durable nevertheless, and a later one of its number would overwrite the files that
     * it needs.
     */
    private long number;
    /** The beginning of the log in the last two checkpoints; the log below both is not needed by any. */
    private long olderBegin;

    private long newerBegin;
    /**
     * How many changes sessions had made when the newest checkpoint began, and the serials that it has of named
     * sessions.
     */
    private long newestChanges;

    private Map<String, Long> newestPoints = Map.of();

    /**
     * @param options the kind of checkpoints, and how long to wait for a session with pending updates
     * @param last the checkpoint that was recovered, or null
     */
    public Checkpointer(
            StoreContext parts,
            LogThread logThread,
            CheckpointFiles files,
            LogExtents extents,
            SessionList sessions,
            CheckpointOptions options,
            @Nullable Checkpoint last) {
        this.parts = parts;
        this.logThread = logThread;
        this.files = files;
        this.extents = extents;
        this.sessions = sessions;
        this.options = options;
        boolean incremental = options.kind() == CheckpointKind.INCREMENTAL;
        this.snapshots = options.kind() == CheckpointKind.FOLD_OVER
                ? null
                : new SnapshotFiles(files.files(), parts, incremental);
        this.images = options.index() ? new IndexFiles(files.files(), parts) : null;
        // All recovered records are on the device alone.
        this.lastFold = StoreVersion.version(parts.version().state());
        if (last != null) {
            number = last.number();
            newerBegin = last.begin();
            newestPoints = last.sessions();
        }
    }

    /**
     * Makes a checkpoint, and returns when it is durable.
     *
     * @return the checkpoint's number
     */
    public synchronized long make() {
        if (stopped) {
            throw new IllegalStateException("the store is closed");
        }
        long next = number + 1;
        try {
            return tryToMake();
        } catch (IOException e) {
            throw new StoreException("checkpoint " + next + " could not be written: " + e.getMessage(), e);
        }
    }

    /** Whether the newest checkpoint has all operations of the sessions, which do nothing any more. */
    public synchronized boolean isCurrent() {
        return changes(sessions.counts()) == newestChanges && sessions.serials().equals(newestPoints);
    }

    /** Makes the last checkpoint, after all sessions have ended or can do nothing any more. */
    public synchronized long last() {
        stopped = false;
        ending = true;
        try {
            return make();
        } finally {
            stopped = true;
        }
    }

    private long tryToMake() throws IOException {
        long changes = changes(sessions.counts());
        StoreVersion version = parts.version();
        HybridLog log = parts.log();
        IndexImage image = images == null ? IndexFiles.none(parts.index().buckets()) : images.write(number + 1);
        long passing = log.tail();
        // If a compaction gives more of the log back from now on, its copies belong to the next version.
        long begin = log.marks.begin();
        long of = StoreVersion.version(version.state());
        Map<String, Long> points;
        Map<ListedSession, Long> serials = new HashMap<>();
        Snapshot snapshot;
        long end;
        try {
            drain();
            SessionList.Snapshot all = sessions.when(version::beginNext);
            pass(of + 1, all.open(), serials);
            points = all.closed();
            serials.forEach((session, serial) -> {
                if (!session.name().isEmpty()) {
                    points.put(session.name(), serial);
                }
            });
            version.haveAllPassed();
            end = log.tail();
            snapshot = keep(of, end);
        } finally {
            rest(version);
        }
        // If the index has grown meanwhile, records may be in chains of the larger index, which the image does not
        // have.
        long buckets = parts.index().buckets();
        number++;
        files.write(new Checkpoint(
                number,
                of,
                log.layout,
                Long.numberOfTrailingZeros(log.pageBytes()),
                begin,
                end,
                log.startOf(log.page(end + log.pageBytes() - 1)),
                passing,
                points,
                parts.gaps().from(begin),
                buckets == image.buckets() ? image : IndexFiles.none(buckets),
                extents.between(begin, snapshot.from()),
                snapshot.from(),
                snapshot.pieces()));
        if (snapshots != null) {
            snapshots.made(of, snapshot.pieces());
        }
        writtenBeside.addAndGet(image.bytes() + snapshot.bytes());
        olderBegin = newerBegin;
        newerBegin = begin;
        newestChanges = changes;
        newestPoints = points;
        serials.forEach(ListedSession::durable);
        return number;
    }

    /**
     * Lets sessions change records of the old version in place again. A session that has seen ALL_PASSED may be copying
     * a record that other sessions change in place once the store rests; their changes would be lost when it publishes
     * its copy. So all sessions leave their epochs first.
     */
    private void rest(StoreVersion version) {
        version.hold();
        parts.epochs().awaitAll();
        version.rest();
    }

    /** Makes the log below {@code end} durable. */
    private Snapshot keep(long of, long end) throws IOException {
        Snapshot snapshot;
        if (snapshots == null || of - lastFold >= MOST_VERSIONS_IN_PLACE) {
            write(end);
            lastFold = of;
            snapshot = new Snapshot(end, List.of(), 0);
        } else {
            // After this, the sessions have filled in all records that they allocated below the end.
            parts.epochs().awaitAll();
            snapshot = snapshots.write(number + 1, of, Math.min(logThread.written(), end), end);
        }
        int status = sync(parts.device());
        if (status != IoStatus.OK) {
            throw new StoreException("no checkpoint was made: the device could not be synced: "
                    + IoStatus.describe(status, parts.device()));
        }
        return snapshot;
    }

    /** Bytes that checkpoints have written to files beside the log. Any thread. */
    public long writtenBeside() {
        return writtenBeside.get();
    }

    /** Waits until no update is pending, and keeps updates that would be pending from beginning. */
    private void drain() {
        parts.version().prepare();
        long epoch = parts.epochs().advance();
        long began = System.nanoTime();
        while (true) {
            boolean passed = parts.epochs().passed(epoch);
            ListedSession busy = sessions.when(() -> {}).open().stream()
                    // After the end of sessions no thread polls, and pending updates are never done.
                    .filter(session -> !ending && session.updatesPending())
                    .findAny()
                    .orElse(null);
            if (passed && busy == null) {
                return;
            }
            if (stopped) {
                throw new StoreException("the store is being closed: no checkpoint was made");
            }
            if (busy != null && isOver(began)) {
                throw new StoreException("session \"" + busy.name()
                        + "\" has updates pending, and was not polled until they ended for "
                        + options.patience().toSeconds() + " s: poll it, or close it. No checkpoint was made");
            }
            Uninterruptibles.parkNanos(this, NAP_NANOS);
        }
    }

    /** Waits until all sessions have passed. A session that is inside an operation passes after it. */
    private void pass(long version, Set<ListedSession> open, Map<ListedSession, Long> serials) {
        long epoch = parts.epochs().advance();
        List<ListedSession> waited = new ArrayList<>(open);
        while (true) {
            waited.removeIf(session -> {
                long serial = session.serialBefore(version);
                if (serial >= 0) {
                    serials.put(session, serial);
                }
                return serial >= 0;
            });
            if (waited.isEmpty() && parts.epochs().passed(epoch)) {
                return;
            }
            if (stopped) {
                throw new StoreException("the store is being closed: no checkpoint was made");
            }
            Uninterruptibles.parkNanos(this, NAP_NANOS);
        }
    }

    private void write(long end) {
        logThread.writeUpTo(end);
        long seen = 0;
        long moved = System.nanoTime();
        while (logThread.written() < end) {
            Throwable failure = logThread.failure();
            if (failure != null) {
                throw new StoreException("no checkpoint was made: " + failure.getMessage(), failure);
            }
            if (logThread.written() > seen) {
                seen = logThread.written();
                moved = System.nanoTime();
            } else if (ending && isOver(moved)) {
                throw new StoreException("no checkpoint was made: the device has written nothing for "
                        + options.patience().toSeconds() + " s");
            }
            Uninterruptibles.parkNanos(this, NAP_NANOS);
        }
    }

    private boolean isOver(long since) {
        return Duration.ofNanos(System.nanoTime() - since).compareTo(options.patience()) > 0;
    }

    /** How many operations may have changed something. */
    private static long changes(StoreCounts counts) {
        return counts.upserts() + counts.updates() + counts.deletes();
    }

    private static int sync(Device device) {
        try (DeviceHandle handle = device.open()) {
            return new BlockingDeviceHandle(handle).sync();
        }
    }

    /** Makes a checkpoint that waits for sessions give up, and refuses further ones. Any thread. */
    public void stop() {
        stopped = true;
    }

    /** Waits until no checkpoint is being made, after {@link #stop}. */
    @SuppressWarnings("EmptyMethod")
    public synchronized void awaitEnd() {
        // A thread that makes a checkpoint holds the monitor.
    }

    /** The lowest address of the log that a kept checkpoint needs. */
    public synchronized long needed() {
        return Math.min(olderBegin, newerBegin);
    }
}
