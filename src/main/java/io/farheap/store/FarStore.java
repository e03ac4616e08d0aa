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
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A key-value store whose newest data are in memory and whose older data are on a {@link Device}: far memory, a file,
 * or both (Redy, section 8; FASTER, SIGMOD 2018). Any thread may open {@linkplain #openSession sessions}.
 *
 * <p>With a {@linkplain FarStoreBuilder#directory directory} it outlives its process: {@link #checkpoint} makes durable
 * what sessions have done so far, beside the load, and opening the store again brings that back.
 */
public final class FarStore implements AutoCloseable {

    private final String name;
    private final StoreContext parts;
    private final PageFrames frames;
    private final LogThread logThread;
    private final IndexGrowth growth;
    private final SessionOptions options;
    private final SessionList sessions;
    private final @Nullable Checkpointer checkpointer;
    private final CheckpointOptions checkpointing;
    private final @Nullable Maintenance maintenance;
    private final String recovery;
    private final CloseStack resources = new CloseStack();
    private final Set<FutureStoreSession> futures = ConcurrentHashMap.newKeySet();
    private final SessionPool pool = new SessionPool(this::openPooled);
    /** What is below it the device has no more. */
    private volatile long givenBack;

    private volatile boolean closing;
    /** Under the lock for compaction. */
    private boolean ended;

    /** Of what was compacted last, the part that was live. */
    private volatile double lastLive;

    private final AtomicLong checkpoints = new AtomicLong();
    private final AtomicLong compacted = new AtomicLong();
    private volatile long checkpointed;
    /** Who compacts, alone, or who scans. */
    private final ReentrantReadWriteLock compacting = new ReentrantReadWriteLock();

    FarStore(FarStoreBuilder how) {
        this.name = how.name();
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
            if (checkpoint != null) {
                TailPagePadding.complete(checkpoint, device);
            }
            long first = checkpoint == null ? HybridLog.FIRST : checkpoint.next();
            HybridLog log = new HybridLog(frames, epochs, how.layout(), first, device.capacity());
            // If the log has no record, the device has not even the block in which it ends: it begins at its next page.
            log.marks.begin(checkpoint == null || checkpoint.begin() == checkpoint.end() ? first : checkpoint.begin());
            this.givenBack = checkpoint == null ? 0 : device.begin();
            StoreVersion version = new StoreVersion(checkpoint == null ? 1 : checkpoint.version() + 1);
            ReadCache cache = how.cachePages() == 0 ? null : resources.add(new ReadCache(log, index, how.cachePages()));
            this.parts = new StoreContext(device, index, log, epochs, version, recovered.gaps(), cache);
            LogExtents extents = files == null ? null : new LogExtents();
            // It is closed after the log's thread has ended, which begins growth.
            this.growth = resources.add(new IndexGrowth(how.name(), parts));
            this.logThread = resources.add(new LogThread(how.name(), log, device, how.mutableShare(), extents, cache));
            this.options = how.sessions();
            this.checkpointing = how.checkpoints();
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
            boolean maintained = how.maintained();
            logThread.start(how.growing() ? growth::look : () -> {}, () -> maintained || compacting.isWriteLocked());
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

    public static FarStoreBuilder builder() {
        return new FarStoreBuilder();
    }

    /** A session, which whoever opens it closes. */
    public StoreSession openSession() {
        return openSession("");
    }

    /**
     * A session with a name, by which checkpoints know how many operations it had done: {@link StoreSession#serial}
     * goes on where the last of that name ended, or, of a store that was recovered, with what of it is there.
     *
     * @param name one session has it at a time
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

    /** For one operation at a time. */
    private StoreSession openPooled() {
        return open("", options.withPending(1));
    }

    /** Operations as futures, on a thread of their own; whoever opens it closes it, or the store does. */
    public FutureStoreSession openFutureSession() {
        return openFutureSession("");
    }

    /** As {@link #openFutureSession()}, with a name for checkpoints, as {@link #openSession(String)}. */
    public FutureStoreSession openFutureSession(String name) {
        FutureStoreSession made = new FutureStoreSession(openSession(name), futures::remove);
        futures.add(made);
        return made;
    }

    /**
     * The store as a map of objects, for any thread, also a virtual one: calls wait, on sessions that the store keeps
     * for them. It is the store's, whose keys and values have any length ({@link FarStoreBuilder#records}), and needs
     * no closing; once the store is closed calls throw {@link IllegalStateException}, and where its device fails
     * {@link StoreException}.
     *
     * <p>Each call but {@code putAll}, {@code replaceAll}, {@code clear} and {@code forEach} takes effect at one
     * moment. {@code put}, {@code putIfAbsent}, {@code replace} and {@code remove} are one
     * {@linkplain StoreSession#update update}. {@code compute}, {@code merge} and their like read, call the function,
     * which may wait and may use the map, and update where nobody was faster, else they call it again: it may be called
     * more than once. Values are equal where their bytes are.
     *
     * <p>{@code size}, {@code isEmpty}, {@code containsValue}, {@code forEach}, {@code replaceAll} and {@code clear}
     * {@linkplain #scan scan} the store: seconds for gigabytes. Iterators, that is {@code keySet}, {@code values} and
     * {@code entrySet}, throw {@link UnsupportedOperationException}.
     *
     * @param keys gives a key 1 byte at least, and the same bytes each time
     */
    public <K, V> ConcurrentMap<K, V> asMap(Codec<K> keys, Codec<V> values) {
        if (parts.log().layout != RecordLayout.GENERAL) {
            throw new IllegalStateException("this store has keys and values of 8 bytes alone, and a map's have any"
                    + " length: call FarStoreBuilder.records");
        }
        return new StoreMap<>(pool, this::scan, keys, values);
    }

    /**
     * Visits the records of all keys, in any order, beside the load: each key that was there when this was called once,
     * with a value that it had then or has had since. What is stored meanwhile is met or not. It reads the log from its
     * beginning to its end, and the device once more for most replaced records that are there. Compactions wait until
     * it has ended.
     *
     * @param visitor is called on this thread; it may use sessions and maps of the store, but not compact it
     * @throws StoreException where a device fails, or has lost a part
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
     * Makes durable what was done so far, and returns when it is: each session's operations up to one moment of its
     * own, and none after. Sessions go on meanwhile. One checkpoint is made at a time.
     *
     * @return its number
     * @throws StoreException where a session has updates pending and is not polled, or a device fails
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
            giveBack();
            return number;
        } finally {
            event.commit();
        }
    }

    /**
     * Gives the oldest part of the log back, beside the load: of its records those that are the newest of their keys
     * are copied to the tail. With checkpoints, the device keeps it until neither of the last two needs it. One
     * compaction is made at a time.
     *
     * @param bytes of the log's beginning; whole pages that are not in memory
     * @return how many bytes of the log were given back, from its beginning
     * @throws StoreException where a device fails
     */
    public long compact(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException(bytes + " bytes to compact; at least 0");
        }
        if (compacting.getReadHoldCount() > 0) {
            throw new IllegalStateException("who visits a store's records cannot compact it: end the scan first");
        }
        compacting.writeLock().lock();
        // A session cannot be opened once the store is closed.
        StoreEvent event = StoreEvent.begun(name, "compaction");
        try (StoreSession session = open("", options.forCompaction())) {
            long before = parts.log().marks.begin();
            Compactor compactor = new Compactor(parts);
            long begin = compactor.run(session.mover(), before + Math.min(bytes, Device.MAX_ADDRESS));
            lastLive = compactor.live();
            compacted.addAndGet(begin - before);
            event.done(0, begin - before);
            giveBack();
            return begin - before;
        } finally {
            event.commit();
            compacting.writeLock().unlock();
        }
    }

    private synchronized void giveBack() {
        // By pages: what is before the log's first record is read with it.
        long begin = parts.log().startOf(parts.log().page(parts.log().marks.begin()));
        long needed = checkpointer == null ? begin : Math.min(begin, checkpointer.needed());
        parts.device().truncate(needed);
        givenBack = Math.max(givenBack, needed);
    }

    /**
     * What became of the checkpoints that were found when the store was opened, in a sentence; empty where none was.
     */
    public String recovery() {
        return recovery;
    }

    /**
     * Why operations end with {@link StoreStatus#FAILED}: nothing can be written any more; empty where all is well, or
     * the device has no room at this moment.
     */
    public Optional<Throwable> failure() {
        return Optional.ofNullable(logThread.failure());
    }

    /**
     * Why the store's own thread could not keep its space below the limit, or take a checkpoint, when it last tried;
     * empty where all is well. {@link FarStoreBuilder#onMaintenanceFailure} tells it at once.
     */
    public Optional<Throwable> maintenanceFailure() {
        return Optional.ofNullable(maintenance).map(Maintenance::failure);
    }

    /** Bytes of the device that the log has: also of what was compacted, where a kept checkpoint needs it. */
    public long spaceBytes() {
        return parts.log().tail() - givenBack;
    }

    /** What maintenance does. */
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
        public boolean atCapacity() {
            return parts.log().atCapacity();
        }

        @Override
        public double compact(long bytes) {
            long given = FarStore.this.compact(bytes);
            return given * (1 - lastLive);
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

    /** As given with {@link FarStoreBuilder#name}. */
    public String name() {
        return name;
    }

    /** What sessions have done. */
    public StoreCounts counts() {
        return sessions.counts();
    }

    /** What it has where. */
    public StoreBytes bytes() {
        LogAddresses marks = parts.log().marks;
        long tail = parts.log().tail();
        long readOnly = Math.min(marks.readOnly(), tail);
        long head = marks.head();
        return new StoreBytes(tail - readOnly, readOnly - head, head - marks.begin(), spaceBytes(), indexBytes());
    }

    /** Checkpoints that were made since it was opened. */
    public long checkpoints() {
        return checkpoints.get();
    }

    /** Bytes that checkpoints have written beside the log since it was opened: snapshots, and images of the index. */
    public long checkpointBytes() {
        return checkpointer == null ? 0 : checkpointer.writtenBeside();
    }

    /** How long ago the newest checkpoint was complete; empty where none was made since the store was opened. */
    public Optional<Duration> checkpointAge() {
        return checkpoints.get() == 0
                ? Optional.empty()
                : Optional.of(Duration.ofNanos(System.nanoTime() - checkpointed));
    }

    /** Bytes of the log that compactions have given back since it was opened. */
    public long compactedBytes() {
        return compacted.get();
    }

    /** How often the index was to grow, and there was no memory: it is tried again, and logged once. */
    public long indexGrowthFailures() {
        return growth.failures();
    }

    /** Bytes of local memory that the index has. */
    public long indexBytes() {
        return parts.index().bytes();
    }

    /** Bytes of the log: of live records, of those that were replaced, and of what pages have left at their ends. */
    public long logBytes() {
        return parts.log().tail() - parts.log().marks.begin();
    }

    /** Bytes of the log that are in memory. */
    public long logBytesInMemory() {
        return parts.log().tail() - parts.log().marks.head();
    }

    /**
     * Ends sessions, makes durable what was done where there is a {@linkplain FarStoreBuilder#directory directory}
     * ({@link FarStoreBuilder#checkpointOnClose}), and gives memory back; any thread, but not within a callback, an
     * update, a visitor, a listener to maintenance, or an action of a future that runs on its session's thread: there
     * it throws, and nothing has happened. The device stays open. Operations, polls, scans, compactions and checkpoints
     * that are under way end first, as do calls of maps and what was submitted to sessions of futures; those that come
     * later throw {@link IllegalStateException}. Sessions that other threads have used last, and not released, are left
     * to these to close, before the device; the others' pending operations are called back here.
     *
     * @throws StoreException where what was done since the last checkpoint could not be made durable, as the device
     *     failed, or a session with a name has updates pending that its thread has not polled for; it is closed then,
     *     too
     */
    @Override
    public void close() {
        if (compacting.getReadHoldCount() > 0) {
            throw new IllegalStateException("who visits a store's records cannot close it: end the scan first");
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

    /** What of the application's the calling thread runs that the end of the store would wait for, or null. */
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
            throw new StoreException("the store is closed, and no checkpoint has what was done since the last one:"
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
