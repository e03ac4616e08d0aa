package io.farheap.store;

import io.farheap.kv.Codec;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.store.checkpoint.Checkpoint;
import io.farheap.store.checkpoint.CheckpointFiles;
import io.farheap.store.checkpoint.CheckpointOptions;
import io.farheap.store.checkpoint.Checkpointer;
import io.farheap.store.checkpoint.LogExtents;
import io.farheap.store.checkpoint.RecoveredState;
import io.farheap.store.checkpoint.StoreEvent;
import io.farheap.store.checkpoint.TailPagePadding;
import io.farheap.store.contract.RecordVisitor;
import io.farheap.store.contract.StoreCounts;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.index.HashIndex;
import io.farheap.store.log.Epochs;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogAddresses;
import io.farheap.store.log.LogThread;
import io.farheap.store.log.PageFrames;
import io.farheap.store.log.ReadCache;
import io.farheap.store.maintain.Compactor;
import io.farheap.store.maintain.IndexGrowth;
import io.farheap.store.maintain.LogScanner;
import io.farheap.store.maintain.Maintenance;
import io.farheap.store.operation.StoreContext;
import io.farheap.store.operation.StoreVersion;
import io.farheap.store.session.ListedSession;
import io.farheap.store.session.SessionList;
import io.farheap.store.session.SessionOptions;
import io.farheap.tier.device.Device;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A key-value store that keeps the newest data in memory and older data on a {@link Device}: far memory, a file, or
 * both (Redy, section 8; FASTER, SIGMOD 2018). Any thread may open {@linkplain #openSession sessions}.
 *
 * <p>With a {@linkplain FarStoreBuilder#directory directory} the store outlives its process: {@link #checkpoint} makes
 * the sessions' operations so far durable while they continue, and opening the store again recovers them.
 */
public final class FarStore implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(FarStore.class.getName());

    private final String name;
    private final StoreContext parts;
    private final PageFrames frames;
    private final LogThread logThread;
    private final IndexGrowth growth;
    private final SessionOptions options;
    private final SessionList sessions;
    private final @Nullable Checkpointer checkpointer;
    private final CheckpointOptions checkpointing;
    private final Duration writePatience;
    private final @Nullable Maintenance maintenance;
    private final String recovery;
    private final CloseStack resources = new CloseStack();
    private final Set<FutureStoreSession> futures = ConcurrentHashMap.newKeySet();
    private final SessionPool pool = new SessionPool(this::openPooled);
    /** The reason why the device could not free space when it was last asked to; null if it could. */
    private volatile @Nullable Throwable kept;

    private volatile boolean closing;
    /** Guarded by {@link #compacting}'s write lock. */
    private boolean ended;

    private final AtomicLong checkpoints = new AtomicLong();
    private final AtomicLong compacted = new AtomicLong();
    private volatile long checkpointed;
    /** Held for writing by a compaction, for reading by scans. */
    private final ReentrantReadWriteLock compacting = new ReentrantReadWriteLock();

    FarStore(FarStoreBuilder how) {
        this.name = how.name();
        this.writePatience = how.writePatience();
        Device device = how.device();
        Epochs epochs = new Epochs();
        try {
            this.frames = resources.add(new PageFrames(device, how.pageBits(), how.pages()));
            CheckpointFiles files = how.files();
            RecoveredState recovered = files == null
                    ? RecoveredState.nothing(how.buckets())
                    : RecoveredState.from(files, name, device, how.buckets(), how::check);
            HashIndex index = resources.add(recovered.index());
            Checkpoint checkpoint = recovered.checkpoint();
            long first = checkpoint == null ? HybridLog.FIRST : checkpoint.next();
            HybridLog log = new HybridLog(
                    frames, epochs, how.layout(), first, how.bound(), checkpoint == null ? 0 : device.begin());
            how.checkSpace(log.spaceBytes());
            if (checkpoint != null) {
                TailPagePadding.complete(checkpoint, device);
            }
            // If the log has no record, the device does not even have the block in which the log ends: it begins at its
            // next page.
            log.marks.begin(checkpoint == null || checkpoint.begin() == checkpoint.end() ? first : checkpoint.begin());
            StoreVersion version = new StoreVersion(checkpoint == null ? 1 : checkpoint.version() + 1);
            ReadCache cache = how.cachePages() == 0 ? null : resources.add(new ReadCache(log, index, how.cachePages()));
            this.parts = new StoreContext(device, index, log, epochs, version, recovered.gaps(), cache);
            LogExtents extents = files == null ? null : new LogExtents();
            // It is closed after the log's thread has ended, since that thread starts growth.
            this.growth = resources.add(new IndexGrowth(how.name(), parts));
            this.checkpointing = how.checkpoints();
            this.logThread = resources.add(
                    new LogThread(how.name(), log, device, how.mutableShare(), how.writePatience(), extents, cache));
            this.options = how.sessions();
            this.sessions = new SessionList(checkpoint == null ? Map.of() : checkpoint.sessions());
            this.recovery = recovered.report();
            if (files == null || extents == null) {
                this.checkpointer = null;
            } else {
                if (checkpoint != null) {
                    extents.addAll(checkpoint.extents());
                }
                this.checkpointer =
                        new Checkpointer(parts, logThread, files, extents, sessions, checkpointing, checkpoint);
            }
            boolean bounded = how.bound().bounded();
            logThread.start(how.growing() ? growth::look : () -> {}, () -> bounded && !closing);
            this.maintenance = how.maintained() ? how.maintenance(new MaintainedStore()) : null;
            if (maintenance != null) {
                maintenance.start();
            }
        } catch (Throwable e) {
            try (resources) {
                throw e;
            }
        }
    }

    /** A builder for a store. */
    public static FarStoreBuilder builder() {
        return new FarStoreBuilder();
    }

    /**
     * Opens a session without a name, which the caller closes.
     *
     * @throws IllegalStateException if the store is closed
     */
    public StoreSession openSession() {
        return openSession("");
    }

    /**
     * Opens a session with a name, under which checkpoints record how many operations it has done.
     * {@link StoreSession#serial} continues where the last session of that name ended, or, in a recovered store, at the
     * number of operations that were recovered.
     *
     * @param name at most 4,096 characters; no other open session may have it. If it is empty, checkpoints do not
     *     remember the session
     * @throws IllegalStateException if another open session has the name, or the store is closed
     */
    public StoreSession openSession(String name) {
        if (name.length() > 1 << 12) {
            throw new IllegalArgumentException(
                    "a session's name of " + name.length() + " characters; it has 4,096 at most");
        }
        return open(name, options);
    }

    private StoreSession open(String name, SessionOptions how) {
        return sessions.open(
                name,
                serial -> new StoreSession(name, serial, sessions::close, parts, logThread, how),
                StoreSession::listed);
    }

    /** A session for one operation at a time. */
    private StoreSession openPooled() {
        return open("", options.withPending(1));
    }

    /**
     * Opens a session whose operations return futures and run on a thread of its own. The caller closes it, or the
     * store does.
     */
    public FutureStoreSession openFutureSession() {
        return openFutureSession("");
    }

    /** As {@link #openFutureSession()}, with a name for checkpoints as in {@link #openSession(String)}. */
    public FutureStoreSession openFutureSession(String name) {
        FutureStoreSession made = new FutureStoreSession(openSession(name), futures::remove);
        futures.add(made);
        return made;
    }

    /**
     * The store as a map of objects, for any thread, also a virtual one. Calls block, and use sessions that the store
     * keeps for them. The store must have been made for keys and values of any length
     * ({@link FarStoreBuilder#records}). The map needs no closing; once the store is closed, calls throw
     * {@link IllegalStateException}, and if its device fails, {@link StoreException}.
     *
     * <p>Each call but {@code putAll}, {@code replaceAll}, {@code clear} and {@code forEach} takes effect at one
     * moment. {@code put}, {@code putIfAbsent}, {@code replace} and {@code remove} are one
     * {@linkplain StoreSession#update update}. {@code compute}, {@code merge} and similar methods read the value, call
     * the function, which may block and may use the map, and then update. If another thread has changed the value
     * meanwhile, they call the function again, so it may be called more than once. Two values are equal if their bytes
     * are.
     *
     * <p>{@code size}, {@code isEmpty}, {@code containsValue}, {@code forEach}, {@code replaceAll} and {@code clear}
     * {@linkplain #scan scan} the store: seconds for gigabytes. Iterators, that is {@code keySet}, {@code values} and
     * {@code entrySet}, throw {@link UnsupportedOperationException}.
     *
     * @param keys encodes a key as at least 1 byte, and always as the same bytes
     */
    public <K, V> ConcurrentMap<K, V> asMap(Codec<K> keys, Codec<V> values) {
        if (parts.log().layout != RecordLayout.GENERAL) {
            throw new IllegalStateException("this store has keys and values of 8 bytes alone, and a map's have any"
                    + " length: call FarStoreBuilder.records");
        }
        return new StoreMap<>(pool, this::scan, keys, values);
    }

    /**
     * Visits the records of all keys, in any order, while sessions use the store. Each key that was present at the time
     * of the call is visited once, with a value that it had then or has had since; a key that is stored meanwhile may
     * be visited or not. The scan reads the log from its beginning to its end, and reads the device once more for most
     * replaced records there. Compactions wait until it has ended.
     *
     * @param visitor is called on this thread; it may use sessions and maps of the store, but not compact it
     * @throws StoreException if a device fails, or has lost a part of the log
     * @throws IllegalStateException if the store is closed
     */
    public void scan(RecordVisitor visitor) {
        compacting.readLock().lock();
        try {
            checkOpen();
            LogScanner.run(parts, visitor);
        } finally {
            compacting.readLock().unlock();
        }
    }

    /**
     * Makes the operations so far durable, and returns when they are: each session's operations up to one moment of its
     * own, and none after it. Sessions continue meanwhile. One checkpoint is made at a time.
     *
     * @return its number
     * @throws StoreException if a session has updates pending and is not polled for the
     *     {@linkplain FarStoreBuilder#patience patience}, if a device fails, or if the store is being closed. No
     *     checkpoint was made then
     * @throws IllegalStateException if the store has no {@linkplain FarStoreBuilder#directory directory}, or is closed
     */
    public long checkpoint() {
        if (checkpointer == null) {
            throw new IllegalStateException(
                    "the store has no directory for checkpoints: call FarStoreBuilder.directory");
        }
        return checkpoint(checkpointer::make);
    }

    private long checkpoint(LongSupplier making) {
        StoreEvent event = StoreEvent.begun(name, "checkpoint");
        try {
            long number = making.getAsLong();
            checkpointed = System.nanoTime();
            checkpoints.incrementAndGet();
            event.done(number, logBytes());
            giveBackOrTell();
            return number;
        } finally {
            event.commit();
        }
    }

    /**
     * Gives the oldest part of the log back while sessions use the store. Records of that part that are the newest of
     * their keys are copied to the tail. With checkpoints, the device keeps it until neither of the last two needs it.
     * One compaction is made at a time.
     *
     * @param bytes how much of the log's beginning to compact; only whole pages that are not in memory are given back
     * @return how many bytes of the log were given back, from its beginning
     * @throws StoreException if a device fails
     * @throws IllegalStateException if a visitor of a scan calls this, or the store is closed
     */
    public long compact(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException(bytes + " bytes to compact; at least 0");
        }
        if (compacting.getReadHoldCount() > 0) {
            throw new IllegalStateException("a visitor cannot compact its store: end the scan first");
        }
        compacting.writeLock().lock();
        return compactLocked(bytes, null, 0).givenBack();
    }

    /** Compacts, and unlocks {@link #compacting}. */
    private Compactor compactLocked(long bytes, Compactor.@Nullable Eviction eviction, long copies) {
        // A session cannot be opened once the store is closed.
        StoreEvent event = StoreEvent.begun(name, "compaction");
        try (StoreSession session = open("", options.forCompaction())) {
            // Without checkpoints the device can use at once what a page's copies have made free.
            Compactor compactor = new Compactor(parts, checkpointer == null ? this::giveBackOrTell : () -> {}, copies);
            long until = parts.log().marks.begin() + Math.min(bytes, Device.MAX_ADDRESS);
            compactor.run(session.mover(), until, eviction);
            compacted.addAndGet(compactor.givenBack());
            event.done(0, compactor.givenBack());
            giveBackOrTell();
            return compactor;
        } finally {
            event.commit();
            compacting.writeLock().unlock();
        }
    }

    /**
     * Compacts for operations that may wait for room. A scan, whose visitor may be one of them, or a compaction by the
     * application keeps it from beginning for the write patience at most.
     */
    private long compactBeside(long bytes, boolean evicts, long copies) {
        boolean locked;
        try {
            locked = compacting.writeLock().tryLock(TimeUnit.NANOSECONDS.convert(writePatience), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException("the thread that was to compact the store was interrupted", e);
        }
        if (!locked) {
            throw new StoreException("a scan of the store, or a compaction by the application, has kept the store's own"
                    + " from beginning for longer than " + writePatience + ": end the scan");
        }
        return compactLocked(bytes, evicts ? logThread::evict : null, copies).copies();
    }

    /**
     * Gives back what neither the log nor a checkpoint needs. If the device cannot free it, the checkpoint or the
     * compaction has succeeded nevertheless: the space is given back behind the next one.
     */
    private void giveBackOrTell() {
        try {
            giveBack();
            kept = null;
        } catch (RuntimeException e) {
            kept = e;
            LOG.log(System.Logger.Level.WARNING, "a store's device cannot free space: " + e.getMessage(), e);
        }
    }

    private synchronized void giveBack() {
        // Whole pages only: bytes before the log's first record are read together with it.
        long begin = parts.log().marks.begin();
        long least = checkpointer == null ? begin : Math.min(begin, checkpointer.needed());
        long needed = parts.log().startOf(parts.log().page(least));
        parts.device().truncate(needed);
        if (needed > parts.log().marks.kept()) {
            parts.log().kept(needed);
        }
    }

    /**
     * A sentence that says what became of the checkpoints that were found when the store was opened; empty if there
     * were none.
     */
    public String recovery() {
        return recovery;
    }

    /**
     * The reason why operations end with {@link StoreStatus#FAILED}, since the log cannot be written. If the device
     * refuses writes, as a full disk does, they are tried again: the failure is empty until that has lasted longer than
     * the {@linkplain FarStoreBuilder#writePatience write patience}, and empty again once a write has succeeded. Also
     * empty if the device only has no room at this moment.
     */
    public Optional<Throwable> failure() {
        return Optional.ofNullable(logThread.failure());
    }

    /**
     * The reason why the store's own thread, when it last tried, could not keep the log below its space limit or take a
     * checkpoint; empty if it could. {@link FarStoreBuilder#onMaintenanceFailure} is called at once. If it could, the
     * reason why the device could not free space behind the last checkpoint or compaction, which is tried again behind
     * the next one.
     */
    public Optional<Throwable> maintenanceFailure() {
        return Optional.ofNullable(maintenance).map(Maintenance::failure).or(() -> Optional.ofNullable(kept));
    }

    /**
     * Bytes of the device that the log takes, including compacted parts that a kept checkpoint needs, or that are in a
     * segment with parts of the log.
     */
    public long spaceBytes() {
        return parts.log().spaceBytes();
    }

    /** The store as its maintenance thread sees it. */
    private final class MaintainedStore implements Maintenance.MaintenanceTarget {

        @Override
        public long spaceBytes() {
            return FarStore.this.spaceBytes();
        }

        @Override
        public long logBytes() {
            return FarStore.this.logBytes();
        }

        @Override
        public long begin() {
            return parts.log().marks.begin();
        }

        @Override
        public long kept() {
            return unitStart(parts.log().marks.kept());
        }

        @Override
        public long roundEnd() {
            return parts.log().roundEnd();
        }

        @Override
        public long unitStart(long address) {
            return parts.log().unitStart(address);
        }

        @Override
        public long roomBytes() {
            return parts.log().roomBytes();
        }

        @Override
        public boolean atCapacity(int kind) {
            return parts.log().atCapacity(kind);
        }

        @Override
        public boolean isFull(int kind) {
            return parts.log().isFull(kind);
        }

        @Override
        public void seekRoom() {
            parts.log().seekRoom();
        }

        @Override
        public void soughtRoom(boolean gained, long kept) {
            parts.log().soughtRoom(gained, kept);
        }

        @Override
        public long pageBytes() {
            return parts.log().pageBytes();
        }

        @Override
        public void stayFull() {
            parts.log().stayFull();
        }

        @Override
        public long compact(long bytes, boolean evicts, long copies) {
            return compactBeside(bytes, evicts, copies);
        }

        @Override
        public boolean hasSpare() {
            return parts.log().hasSpare();
        }

        @Override
        public boolean isHeld() {
            return parts.log().keepsMore();
        }

        @Override
        public boolean makesCheckpoints() {
            return checkpointer != null;
        }

        @Override
        public void checkpoint() {
            FarStore.this.checkpoint();
        }
    }

    /** The name that was given to {@link FarStoreBuilder#name}. */
    public String name() {
        return name;
    }

    /** How many operations sessions have done. */
    public StoreCounts counts() {
        return sessions.counts();
    }

    /** How many bytes the parts of the store have. */
    public StoreBytes bytes() {
        LogAddresses marks = parts.log().marks;
        long tail = parts.log().tail();
        long readOnly = Math.min(marks.readOnly(), tail);
        long head = marks.head();
        return new StoreBytes(tail - readOnly, readOnly - head, head - marks.begin(), spaceBytes(), indexBytes());
    }

    /** How many checkpoints were made since the store was opened. */
    public long checkpoints() {
        return checkpoints.get();
    }

    /** Bytes that checkpoints have written beside the log since it was opened: snapshots, and images of the index. */
    public long checkpointBytes() {
        return checkpointer == null ? 0 : checkpointer.writtenBeside();
    }

    /** How long ago the newest checkpoint was completed; empty if none was made since the store was opened. */
    public Optional<Duration> checkpointAge() {
        return checkpoints.get() == 0
                ? Optional.empty()
                : Optional.of(Duration.ofNanos(System.nanoTime() - checkpointed));
    }

    /** Bytes of the log that compactions have given back since it was opened. */
    public long compactedBytes() {
        return compacted.get();
    }

    /**
     * How often the index was to grow and there was no memory. Growth is tried again, and the failure is logged once.
     */
    public long indexGrowthFailures() {
        return growth.failures();
    }

    /** Bytes of local memory that the index has. */
    public long indexBytes() {
        return parts.index().bytes();
    }

    /** Bytes of the log: live records, replaced ones, and unused room at the ends of pages. */
    public long logBytes() {
        return parts.log().tail() - parts.log().marks.begin();
    }

    /** Bytes of the log that are in memory. */
    public long logBytesInMemory() {
        return parts.log().tail() - parts.log().marks.head();
    }

    /**
     * Ends sessions, takes a last checkpoint if there is a {@linkplain FarStoreBuilder#directory directory}
     * ({@link FarStoreBuilder#checkpointOnClose}), and frees memory. Any thread may call this, but not within a
     * callback, an update, a visitor, a listener to maintenance, or an action of a future that runs on its session's
     * thread: there it throws, and changes nothing. The device stays open. Operations, polls, scans, compactions and
     * checkpoints that are under way end first, as do calls of maps and operations that were submitted to sessions of
     * futures; later ones throw {@link IllegalStateException}. If another thread was the last to use a session and has
     * not released it, that thread has to close the session, before the device is closed. Pending operations of all
     * other sessions are called back here.
     *
     * @throws StoreException if operations since the last checkpoint could not be made durable, since the device failed
     *     or a session with a name has updates pending for which its thread has not polled; the store is closed
     *     nevertheless
     */
    @Override
    public void close() {
        if (compacting.getReadHoldCount() > 0) {
            throw new IllegalStateException("a visitor cannot close its store: end the scan first");
        }
        String running = runsHere();
        if (running != null) {
            throw new IllegalStateException(
                    running + " cannot close its store, which waits for it to end: close it when it has returned");
        }
        closing = true;
        if (checkpointer != null) {
            checkpointer.stop();
        }
        Closeables.all(maintenance, pool, () -> Closeables.all(List.copyOf(futures)), this::end);
    }

    /**
     * Names the application's code that the calling thread runs and for which closing the store would wait; null if it
     * runs none.
     */
    private @Nullable String runsHere() {
        if (maintenance != null && maintenance.runsHere()) {
            return "a listener to maintenance";
        }
        return futures.stream().anyMatch(FutureStoreSession::runsHere) ? "an action of a future" : sessions.runHere();
    }

    private void end() {
        CloseStack everything = new CloseStack();
        everything.add(resources);
        compacting.writeLock().lock();
        try {
            if (checkpointer != null) {
                checkpointer.awaitEnd();
            }
            Set<ListedSession> open = sessions.end();
            open.forEach(ListedSession::refuse);
            parts.epochs().awaitAll();
            open.forEach(ListedSession::awaitPoll);
            Checkpointer last = checkpointing.onClose() && !ended ? checkpointer : null;
            ended = true;
            Set<String> unfinished = new TreeSet<>();
            if (last != null) {
                everything.add(() -> lastCheckpoint(last, unfinished));
            }
            for (ListedSession session : open) {
                everything.add(() -> {
                    boolean done = session.endWithStore(last != null ? checkpointing.patience() : Duration.ZERO);
                    if (!done && !session.name().isEmpty()) {
                        unfinished.add(session.name());
                    }
                });
            }
            everything.close();
        } finally {
            compacting.writeLock().unlock();
        }
    }

    private void lastCheckpoint(Checkpointer last, Set<String> unfinished) {
        if (!unfinished.isEmpty()) {
            throw new StoreException("the store is closed, and no checkpoint has the operations since the last one:"
                    + " sessions " + unfinished + " have updates pending. Poll a session until none is, or close it,"
                    + " before the store");
        }
        if (!last.isCurrent()) {
            checkpoint(last::last);
        }
    }

    private void checkOpen() {
        if (closing) {
            throw new IllegalStateException("the store is closed");
        }
    }
}
