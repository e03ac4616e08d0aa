package io.farheap.store;

import io.farheap.posix.FileNames;
import io.farheap.store.checkpoint.Checkpoint;
import io.farheap.store.checkpoint.CheckpointFiles;
import io.farheap.store.checkpoint.CheckpointOptions;
import io.farheap.store.checkpoint.DirectoryFiles;
import io.farheap.store.checkpoint.StableFiles;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogBound;
import io.farheap.store.maintain.Maintenance;
import io.farheap.store.session.SessionOptions;
import io.farheap.tier.device.Device;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Builds a {@link FarStore}. Only {@link #device} must be set. */
public final class FarStoreBuilder {

    private static final System.Logger LOG = System.getLogger(FarStore.class.getName());
    private static final int MIN_PAGES = 6;

    private @Nullable Device device;
    private String name = "store";
    private long memoryBytes = 64L << 20;
    private long cacheBytes;
    private int pageBits = 20;
    private double mutableShare = 0.9;
    private long expectedKeys = 1L << 20;
    private double keysPerBucket = 4;
    private boolean growing = true;
    private RecordLayout layout = RecordLayout.COMPACT;
    private int expectedRecordBytes = 24;
    private int maxKeyBytes = Long.BYTES;
    private int pending = 256;
    private @Nullable Path directory;
    private @Nullable StableFiles files;
    private Duration patience = Duration.ofSeconds(10);
    private Duration writePatience = Duration.ofSeconds(10);
    private boolean checkpointOnClose = true;
    private CheckpointKind kind = CheckpointKind.FOLD_OVER;
    private boolean indexInCheckpoints;
    private long spaceLimit = Long.MAX_VALUE;
    private @Nullable Duration checkpointEvery;
    private Consumer<Throwable> maintenanceListener =
            cause -> LOG.log(System.Logger.Level.WARNING, "a store cannot be maintained", cause);

    FarStoreBuilder() {}

    /** The device for the part of the log that does not fit into memory. The caller closes it, after the store. */
    public FarStoreBuilder device(Device value) {
        device = Objects.requireNonNull(value);
        return this;
    }

    /** The store's name in thread names and metrics. */
    public FarStoreBuilder name(String value) {
        name = Objects.requireNonNull(value);
        return this;
    }

    /** Local memory of the log, in bytes, at least 6 pages; the index comes on top. 64 MiB by default. */
    public FarStoreBuilder memory(long bytes) {
        memoryBytes = bytes;
        return this;
    }

    /**
     * Local memory for copies of records that were read from the device, in bytes, beside {@link #memory}: at least 6
     * pages, or 0, the default, for none. It pays if some records are read more often than others and are not updated
     * meanwhile.
     */
    public FarStoreBuilder readCache(long bytes) {
        cacheBytes = bytes;
        return this;
    }

    /**
     * The log's unit of memory and of writing, in bytes: a power of two from 4,096 to 64 MiB, and at most a segment of
     * the device; 1 MiB by default. A record has to fit into a page. A store is recovered with the pages that it was
     * made with.
     */
    public FarStoreBuilder pageBytes(int bytes) {
        if (Integer.bitCount(bytes) != 1 || bytes < 4096 || bytes > 1 << 26) {
            throw new IllegalArgumentException(
                    "pages of " + bytes + " bytes; they have a power of two from 4,096 to 64 MiB");
        }
        pageBits = Integer.numberOfTrailingZeros(bytes);
        return this;
    }

    /** The share of the memory in which records are updated in place, from 0 to 1; 0.9 by default. */
    public FarStoreBuilder mutableShare(double share) {
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException("a mutable share of " + share + "; it is from 0 to 1");
        }
        mutableShare = share;
        return this;
    }

    /** Whether the index doubles when its chains become long; it does by default. */
    public FarStoreBuilder growingIndex(boolean grows) {
        growing = grows;
        return this;
    }

    /** The number of keys for which the index is sized at first, 1 to 2^40; 2^20 by default. */
    public FarStoreBuilder expectedKeys(long keys) {
        if (keys < 1 || keys > 1L << 40) {
            throw new IllegalArgumentException(keys + " expected keys; there may be 1 to 2^40");
        }
        expectedKeys = keys;
        return this;
    }

    /** Keys for each bucket of 64 bytes, 0.5 to 64; 4 by default. Fewer make the index faster, and larger. */
    public FarStoreBuilder keysPerBucket(double keys) {
        if (!(keys >= 0.5 && keys <= 64)) {
            throw new IllegalArgumentException(keys + " keys a bucket; there may be 0.5 to 64");
        }
        keysPerBucket = keys;
        return this;
    }

    /**
     * Allows keys and values of other lengths than 8 bytes, for 8 bytes more in each record.
     *
     * @param longestKey in bytes, 1 to 65,535
     * @param expectedValue in bytes, 0 to 16,777,215, the longest value; it determines how much of a record is read at
     *     once
     */
    public FarStoreBuilder records(int longestKey, int expectedValue) {
        if (longestKey < 1 || longestKey > RecordLayout.MAX_KEY_BYTES) {
            throw new IllegalArgumentException(
                    "keys of " + longestKey + " bytes; they have 1 to " + RecordLayout.MAX_KEY_BYTES);
        }
        if (expectedValue < 0 || expectedValue > RecordLayout.MAX_VALUE_BYTES) {
            throw new IllegalArgumentException(
                    "values of " + expectedValue + " bytes; they have 0 to " + RecordLayout.MAX_VALUE_BYTES);
        }
        layout = RecordLayout.GENERAL;
        maxKeyBytes = longestKey;
        expectedRecordBytes = Math.toIntExact(layout.recordBytes(Math.min(longestKey, 64), expectedValue));
        return this;
    }

    /** How many operations of one session may wait for the device, 1 to 65,536; 256 by default. */
    public FarStoreBuilder pending(int operations) {
        if (operations < 1 || operations > 1 << 16) {
            throw new IllegalArgumentException(operations + " pending operations; there may be 1 to 65,536");
        }
        pending = operations;
        return this;
    }

    /**
     * The directory for checkpoints; the device must be durable. If the directory has a checkpoint, the store is
     * recovered from it.
     */
    public FarStoreBuilder directory(Path value) {
        FileNames.require(value);
        directory = value;
        return this;
    }

    /** How checkpoints keep what is updated in place; {@link CheckpointKind#FOLD_OVER} by default. */
    public FarStoreBuilder checkpoints(CheckpointKind value) {
        kind = Objects.requireNonNull(value);
        return this;
    }

    /**
     * Whether checkpoints have an image of the index, a file about as large as the index. Recovery then reads only the
     * part of the log from the image on, instead of all of it, and so does not find flipped bits below, as it does by
     * default, without images.
     */
    public FarStoreBuilder indexInCheckpoints(boolean there) {
        indexInCheckpoints = there;
        return this;
    }

    /**
     * How long a checkpoint waits for a session that has updates pending and is not polled, and how long {@code close}
     * waits for pending updates; 10 s by default.
     */
    public FarStoreBuilder patience(Duration value) {
        patience = Objects.requireNonNull(value);
        return this;
    }

    /**
     * How long operations that need room wait while the device refuses writes, as a full disk does, before they end
     * with {@link StoreStatus#FAILED}, and checkpoints before they fail; also how long they wait while a scan keeps the
     * log from being compacted, before they end with {@link StoreStatus#NO_SPACE}. 10 s by default.
     */
    public FarStoreBuilder writePatience(Duration value) {
        writePatience = Objects.requireNonNull(value);
        return this;
    }

    /**
     * Whether {@link FarStore#close} takes a checkpoint if anything was done since the last one. By default it does, if
     * there is a {@link #directory}. Otherwise the next process recovers the last checkpoint that was taken.
     */
    public FarStoreBuilder checkpointOnClose(boolean taken) {
        checkpointOnClose = taken;
        return this;
    }

    /**
     * How many bytes of the device the log may take at most, in whole segments; the device's
     * {@linkplain Device#capacity capacity} by default, if it has one, as far memory alone. No live record is ever
     * written over. A thread of the store compacts the oldest part, and takes checkpoints if there is a directory.
     *
     * <p>A part of the space is a reserve, for compactions and deletes. An operation that finds no room beside it
     * returns {@link StoreStatus#FULL} until a compaction has made some. If a compaction of the whole log makes none,
     * it returns {@link StoreStatus#NO_SPACE}, and {@link #onMaintenanceFailure} is called; reads, changes in place and
     * deletes continue, and everything once deletes have made room.
     *
     * @param bytes at least four times the memory, at most the device's capacity, and more than the reserve: a segment
     *     (on a device with a capacity a page), seven pages, and a 64th of the space
     */
    public FarStoreBuilder spaceLimit(long bytes) {
        spaceLimit = bytes;
        return this;
    }

    /** How old the last checkpoint may become before a thread of the store takes the next; by default it takes none. */
    public FarStoreBuilder checkpointEvery(Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException("a checkpoint every " + value + "; the time must be more than 0");
        }
        checkpointEvery = value;
        return this;
    }

    /**
     * A listener that receives the reason why the store's own thread could not compact or take a checkpoint. It runs on
     * that thread, which then continues. Of a reason that repeats until an attempt succeeds it receives the first. By
     * default the reason is logged.
     */
    public FarStoreBuilder onMaintenanceFailure(Consumer<Throwable> listener) {
        maintenanceListener = Objects.requireNonNull(listener);
        return this;
    }

    boolean maintained() {
        return bound().bounded() || checkpointEvery != null;
    }

    /** How many pages of the log there may be. */
    LogBound bound() {
        return LogBound.of(device(), spaceLimit, pageBits);
    }

    Maintenance maintenance(Maintenance.MaintenanceTarget work) {
        LogBound bound = bound();
        long room = bound.bounded() ? bound.usable() << pageBits : Long.MAX_VALUE;
        return new Maintenance(name, work, room, spaceLimit != Long.MAX_VALUE, checkpointEvery, maintenanceListener);
    }

    FarStoreBuilder files(StableFiles value) {
        files = value;
        return this;
    }

    /**
     * Opens the store, and recovers it if its directory has a checkpoint.
     *
     * @throws StoreException if there are checkpoints but all are damaged, or if the newest cannot be read now, is
     *     another release's, or is of a store with other pages or records; nothing has changed then. Also if the
     *     directory cannot be made
     * @throws IllegalArgumentException if a size is out of its limits, or two do not fit together
     * @throws IllegalStateException if there is no device, or the device cannot do what the options ask: it has smaller
     *     segments than the pages, or does not keep all of the log durably for checkpoints; or if
     *     {@link #checkpointEvery} was called without {@link #directory}
     */
    public FarStore open() {
        if (device == null) {
            throw new IllegalStateException("a store needs a device for records beyond its memory: call device");
        }
        if (device.segmentBytes() < 1L << pageBits || device.alignment() > 1 << pageBits) {
            throw new IllegalStateException("pages of " + (1 << pageBits) + " bytes on a device with segments of "
                    + device.segmentBytes() + ": a page is at most a segment");
        }
        if (pages() < MIN_PAGES) {
            throw new IllegalArgumentException(memoryBytes + " bytes of memory in pages of " + (1 << pageBits)
                    + "; a log needs " + MIN_PAGES + " pages: give more memory, or take smaller pages");
        }
        if (cacheBytes != 0 && cachePages() < MIN_PAGES) {
            throw new IllegalArgumentException("a read cache of " + cacheBytes + " bytes in pages of " + (1 << pageBits)
                    + "; it needs " + MIN_PAGES + " pages: give it more memory, or take smaller pages");
        }
        if (spaceLimit < 4 * memoryBytes) {
            throw new IllegalArgumentException("a space limit of " + spaceLimit + " bytes with " + memoryBytes
                    + " bytes of memory; it must be four times the memory at least");
        }
        if (checkpointEvery != null && directory == null && files == null) {
            throw new IllegalStateException(
                    "checkpoints need a directory: call FarStoreBuilder.directory, or leave checkpointEvery out");
        }
        if (expectedRecordBytes > 1 << pageBits) {
            throw new IllegalArgumentException("records of " + expectedRecordBytes + " bytes in pages of "
                    + (1 << pageBits) + ": take larger pages");
        }
        if (directory != null && !device.durable()) {
            throw new IllegalStateException("checkpoints need a device that outlives the process, and " + device.name()
                    + " does not: use a file, or a tier that has one below");
        }
        checkCapacity(device);
        if (directory != null) {
            try {
                files = new DirectoryFiles(directory);
            } catch (IOException e) {
                throw new StoreException("the directory " + directory + " cannot be made: " + e.getMessage(), e);
            }
        }
        return new FarStore(this);
    }

    /** Whether the log fits on the device, beside a reserve. */
    private void checkCapacity(Device on) {
        long capacity = on.capacity();
        if (capacity != Device.MAX_ADDRESS && (directory != null || files != null)) {
            throw new IllegalStateException("checkpoints need a device that keeps all of the log, and " + on.name()
                    + " keeps the last " + capacity + " bytes: put it above a file");
        }
        if (spaceLimit != Long.MAX_VALUE && spaceLimit > capacity) {
            throw new IllegalArgumentException("a space limit of " + spaceLimit + " bytes on " + on.name()
                    + ", which keeps the last " + capacity + ": lower the limit to that, or make the device larger");
        }
        LogBound bound = bound();
        long usable = bound.usable() << pageBits;
        long least = Math.max(memoryBytes, bound.unit() + 1 << pageBits);
        if (bound.bounded() && usable < least) {
            boolean limited = spaceLimit < capacity;
            throw new IllegalArgumentException((limited ? "a space limit" : on.name() + " with a capacity") + " of "
                    + (limited ? spaceLimit : capacity) + " bytes, of which " + (bound.reserve() << pageBits)
                    + " are a reserve for compactions and deletes; the rest must be " + least
                    + " at least, for the memory and a segment: "
                    + (limited ? "raise the limit" : "make it larger")
                    + ", or take less memory, smaller pages or smaller segments");
        }
    }

    /** @param bytes that the recovered log takes on the device */
    void checkSpace(long bytes) {
        LogBound bound = bound();
        if (bytes > bound.pages() << pageBits) {
            throw new StoreException("a space limit of " + spaceLimit + " bytes, and the store's log takes " + bytes
                    + ": open it with a limit of that at least, compact it and take two checkpoints, then lower the"
                    + " limit");
        }
    }

    /** Whether a checkpoint is one of such a store. */
    void check(Checkpoint checkpoint) {
        if (checkpoint.layout() != layout || checkpoint.pageBits() != pageBits) {
            throw new StoreException("the store in the directory has " + checkpoint.layout() + " records in pages of "
                    + (1 << checkpoint.pageBits()) + " bytes, and not " + layout + " ones in pages of "
                    + (1 << pageBits) + ": open it as it was made");
        }
    }

    @Nullable
    CheckpointFiles files() {
        return files == null ? null : new CheckpointFiles(files);
    }

    CheckpointOptions checkpoints() {
        return new CheckpointOptions(kind, indexInCheckpoints, patience, checkpointOnClose);
    }

    Duration writePatience() {
        return writePatience;
    }

    Device device() {
        return Objects.requireNonNull(device);
    }

    String name() {
        return name;
    }

    int pageBits() {
        return pageBits;
    }

    int pages() {
        return (int) Math.min(memoryBytes >>> pageBits, Integer.MAX_VALUE >> 2);
    }

    int cachePages() {
        return (int) Math.min(cacheBytes >>> pageBits, Integer.MAX_VALUE >> 2);
    }

    double mutableShare() {
        return mutableShare;
    }

    long buckets() {
        long least = Math.max(1, (long) (expectedKeys / keysPerBucket));
        return Long.highestOneBit(2 * least - 1);
    }

    boolean growing() {
        return growing;
    }

    RecordLayout layout() {
        return layout;
    }

    SessionOptions sessions() {
        return new SessionOptions(pending, expectedRecordBytes, maxKeyBytes, HybridLog.OPERATION);
    }
}
