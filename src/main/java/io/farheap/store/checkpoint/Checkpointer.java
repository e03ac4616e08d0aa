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
 * Makes checkpoints beside the load (concurrent prefix recovery, SIGMOD 2019, section 5). In steps:
 *
 * <ol>
 *   <li>Where asked for, an image of the index is written ({@link IndexFiles}).
 *   <li>Updates that are pending are waited for; one that would have to wait for the device is refused meanwhile, as
 *       full. All other operations go on.
 *   <li>The store's version is one more. Each session passes to it at its next operation; one that is outside any
 *       operation has passed. How many operations each had then is what the checkpoint has of it.
 *   <li>All have passed: below the tail of now the version is complete, and its records are not changed before the
 *       checkpoint has them.
 *   <li>Of a fold-over, the log itself is the checkpoint: all below the tail becomes read-only, and is written to the
 *       device. Of a snapshot, what the device does not have is copied to a file ({@link SnapshotFiles}); one in 1,024
 *       is a fold-over.
 *   <li>The device has synced what it has.
 *   <li>The checkpoint's own file is written, synced and renamed. From then on it is durable.
 * </ol>
 */
public final class Checkpointer {

    private static final long NAP_NANOS = 50_000;
    /** Versions in records are modulo 2^12: none that may be changed in place is to look like a later one. */
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
    /** Nobody can do anything more than wait for the last one. */
    private boolean ending;

    /** Bytes that were written beside the log. */
    private final AtomicLong writtenBeside = new AtomicLong();

    /** Records that may be changed in place are of later versions, or of the first. */
    private long lastFold;

    private long number;
    /** The beginning of the log as the last two checkpoints have it: what is below both, nobody needs. */
    private long olderBegin;

    private long newerBegin;
    /** What sessions had changed when the newest one began, and what it has of those with names. */
    private long newestChanges;

    private Map<String, Long> newestPoints = Map.of();

    /**
     * @param options with how long a session may have updates pending that nobody polls for
     * @param last that was recovered
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
        // What was recovered is on the device alone.
        this.lastFold = StoreVersion.version(parts.version().state());
        if (last != null) {
            number = last.number();
            newerBegin = last.begin();
            newestPoints = last.sessions();
        }
    }

    /** @return the checkpoint's number */
    public synchronized long make() {
        if (stopped) {
            throw new IllegalStateException("the store is closed");
        }
        try {
            return tryToMake();
        } catch (IOException e) {
            throw new StoreException("checkpoint " + (number + 1) + " could not be written: " + e.getMessage(), e);
        }
    }

    /** Whether the newest one has all that sessions have done, none of which does anything now. */
    public synchronized boolean isCurrent() {
        return changes(sessions.counts()) == newestChanges && sessions.serials().equals(newestPoints);
    }

    /** The last one, of sessions that have ended, or will never do anything more. */
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
        // What a compaction gives back from now on has copies that belong to the next version.
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
        // Records may have been put into chains of a larger index: without these the image is of no use.
        long buckets = parts.index().buckets();
        files.write(new Checkpoint(
                number + 1,
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
        number++;
        olderBegin = newerBegin;
        newerBegin = begin;
        newestChanges = changes;
        newestPoints = points;
        serials.forEach(ListedSession::durable);
        return number;
    }

    /**
     * A session that has seen that all have passed copies a record that others change in place once the store rests: it
     * has left before that, else what they do meanwhile would be lost when it publishes its copy.
     */
    private void rest(StoreVersion version) {
        version.hold();
        parts.epochs().awaitAll();
        version.rest();
    }

    /** What is below {@code end} becomes durable. */
    private Snapshot keep(long of, long end) throws IOException {
        Snapshot snapshot;
        if (snapshots == null || of - lastFold >= MOST_VERSIONS_IN_PLACE) {
            write(end);
            lastFold = of;
            snapshot = new Snapshot(end, List.of(), 0);
        } else {
            // Whoever has taken room below has filled it.
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

    /** Waits until no update is pending. None begins that would be. */
    private void drain() {
        parts.version().prepare();
        long epoch = parts.epochs().advance();
        long began = System.nanoTime();
        while (true) {
            boolean passed = parts.epochs().passed(epoch);
            ListedSession busy = sessions.when(() -> {}).open().stream()
                    // Behind the end of sessions nobody polls, and what is pending is never done.
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

    /** Waits until all sessions have passed: those that are inside an operation do when it has ended. */
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

    /** Operations that may have changed something. */
    private static long changes(StoreCounts counts) {
        return counts.upserts() + counts.updates() + counts.deletes();
    }

    private static int sync(Device device) {
        try (DeviceHandle handle = device.open()) {
            return new BlockingDeviceHandle(handle).sync();
        }
    }

    /** One that waits for sessions gives up, and no other is made. Any thread. */
    public void stop() {
        stopped = true;
    }

    /** None is on its way when this returns, behind {@link #stop}. */
    @SuppressWarnings("EmptyMethod")
    public synchronized void awaitEnd() {
        // Whoever makes one has the monitor.
    }

    /** No checkpoint that is kept needs what is below. */
    public synchronized long needed() {
        return Math.min(olderBegin, newerBegin);
    }
}
