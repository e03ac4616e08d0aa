package io.farheap.tier;

import io.farheap.lifetime.Closing;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A log in a directory, a file for each segment, with direct input and output: what it has
 * {@linkplain DeviceHandle#sync synced} survives a power cut. A directory that has a log is opened again:
 * {@link #begin} is the lowest segment's first address then, and {@link #end} where the last file ends, behind all that
 * was synced, and perhaps behind what was not and is not there. The format is {@link LogDirectory}'s.
 *
 * <p>The first append to a segment makes its file, and those between it and the last, and waits for the disk, as
 * {@link #truncate} does; the last file is kept, as it says where the log ends. Who reads and writes is an
 * {@link FileEngine}: {@link #name} says which.
 */
public final class FileDevice extends BaseDevice {

    /** Files that one append makes: none is missing between two. */
    private static final long MOST_BETWEEN = 1024;

    private final Storage storage;
    private final LogDirectory directory;
    private final FileEngine engine;
    private final SegmentTable<FileSegment> segments = new SegmentTable<>();
    /** Held by who makes files, or deletes them. */
    private final ReentrantLock changing = new ReentrantLock();

    private final Mark begin;
    private final Mark end;
    private final AtomicLong failures = new AtomicLong();
    private volatile @Nullable String refusal;

    private FileDevice(Storage storage, long segmentBytes, FileEngine engine) {
        super(segmentBytes, storage.alignment());
        this.storage = storage;
        this.engine = engine;
        this.directory = new LogDirectory(storage);
        directory.claim(segmentBytes);
        List<FileSegment> opened = directory.open(segmentBytes);
        opened.forEach(segment -> segments.getOrAdd(segment.number, number -> segment));
        this.begin = new Mark(opened.isEmpty() ? 0 : opened.getFirst().number * segmentBytes);
        this.end = new Mark(opened.isEmpty() ? 0 : end(opened.getLast()));
    }

    /** As {@link #open(Path, long, FileOptions)}, with {@link FileOptions#DEFAULT}. */
    public static FileDevice open(Path directory, long segmentBytes) {
        return open(directory, segmentBytes, FileOptions.DEFAULT);
    }

    /**
     * @param directory is made where it is not there
     * @param segmentBytes a power of two, at least 4,096; of a log that is there, its own
     * @throws StorageException where the directory is in use, has what is no log, or the system refuses
     */
    public static FileDevice open(Path directory, long segmentBytes, FileOptions options) {
        return open(DiskStorage.open(directory), segmentBytes, options);
    }

    /** @param storage is closed with the device, and where it cannot be opened */
    public static FileDevice open(Storage storage, long segmentBytes, FileOptions options) {
        FileEngine engine = null;
        try {
            engine = FileEngine.open(options, storage);
            return new FileDevice(storage, segmentBytes, engine);
        } catch (Throwable e) {
            Closing.after(e, engine, storage);
            throw e;
        }
    }

    private long end(FileSegment last) {
        return last.number * segmentBytes() + (last.file.size() & -alignment());
    }

    @Override
    public String name() {
        return "file, " + engine.name() + (storage.remark().isEmpty() ? "" : ", " + storage.remark());
    }

    @Override
    public long capacity() {
        return MAX_ADDRESS;
    }

    @Override
    public boolean durable() {
        return true;
    }

    @Override
    public long begin() {
        return begin.get();
    }

    @Override
    public long end() {
        return end.get();
    }

    /** How many requests the storage refused. */
    public long failures() {
        return failures.get();
    }

    /** Why no file could be made for an append, the last time; null where one could each time. */
    public @Nullable String refusal() {
        return refusal;
    }

    void wrote(long to) {
        end.raise(to);
    }

    void failed() {
        failures.incrementAndGet();
    }

    void refused(StorageException why) {
        refusal = why.getMessage();
    }

    @Nullable
    FileSegment find(long address) {
        return segments.get(address / segmentBytes());
    }

    /** The lowest segment from one on that has what is not durable; -1 where none has. */
    long nextDirty(long from) {
        long last = (end.get() - 1) / segmentBytes();
        for (long number = Math.max(from, begin.get() / segmentBytes()); number <= last; number++) {
            FileSegment segment = segments.get(number);
            if (segment != null && segment.dirty()) {
                return number;
            }
        }
        return -1;
    }

    @Nullable
    FileSegment segment(long number) {
        return segments.get(number);
    }

    /** @return null where it is below the beginning */
    @Nullable
    FileSegment make(long address) {
        changing.lock();
        try {
            long number = address / segmentBytes();
            List<FileSegment> present = segments.all();
            long first = present.isEmpty() ? number : present.getLast().number + 1;
            if (number - first > MOST_BETWEEN
                    || !present.isEmpty() && present.getFirst().number - number > MOST_BETWEEN) {
                throw new StorageException("an append to segment " + number + " of " + storage.name() + ", more than "
                        + MOST_BETWEEN + " from those that are there: append to a log where it ends");
            }
            for (long missing = first; missing <= number; missing++) {
                segments.getOrAdd(missing, directory::create);
            }
            if (!present.isEmpty() && number < present.getFirst().number) {
                return makeBelow(number, present.getFirst().number);
            }
            return segments.get(number);
        } finally {
            changing.unlock();
        }
    }

    /** Where a log was begun in its middle, and nothing was given back. */
    private @Nullable FileSegment makeBelow(long number, long first) {
        if (number < begin.get() / segmentBytes()) {
            return null;
        }
        for (long missing = first - 1; missing >= number; missing--) {
            segments.getOrAdd(missing, directory::create);
        }
        return segments.get(number);
    }

    @Override
    public void truncate(long below) {
        if (!begin.raise(below)) {
            return;
        }
        changing.lock();
        try {
            List<FileSegment> present = segments.all();
            long keep = begin.get() / segmentBytes();
            for (FileSegment segment : present) {
                if (segment.number < keep && segment != present.getLast()) {
                    segments.removeBelow(segment.number + 1);
                    try {
                        directory.delete(segment.number);
                    } finally {
                        segment.release();
                    }
                }
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    BaseHandle openHandle() {
        return engine.open(this);
    }

    @Override
    void free() {
        Closing.all(engine, () -> segments.removeBelow(Long.MAX_VALUE).forEach(FileSegment::release), storage);
    }
}
