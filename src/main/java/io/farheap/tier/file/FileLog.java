package io.farheap.tier.file;

import io.farheap.posix.Errno;
import io.farheap.tier.device.Storage;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.handle.HighWaterMark;
import io.farheap.tier.handle.SegmentTable;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The segments of a {@link io.farheap.tier.FileDevice}, and the beginning and end of its log. A segment's file, and
 * those between it and the last one, are created when it is first appended to. A file is deleted when the log's
 * beginning has passed it, but the last file is kept, since it says where the log ends. Any thread.
 */
public final class FileLog {

    /** The most files that one append creates, so that no file between two is missing. */
    private static final long MOST_BETWEEN = 1024;

    private final Storage storage;
    private final LogDirectory directory;
    private final long segmentBytes;
    private final SegmentTable<FileSegment> segments = new SegmentTable<>();
    /** Guards the creation and deletion of files. */
    private final ReentrantLock changing = new ReentrantLock();

    private final HighWaterMark begin;
    private final HighWaterMark end;
    /** Whether files below the beginning are left that could not be deleted. */
    private volatile boolean owed;

    private final AtomicLong failures = new AtomicLong();
    private volatile @Nullable String refusal;

    /** Opens the existing log, or begins one. */
    public FileLog(Storage storage, long segmentBytes) {
        this.storage = storage;
        this.segmentBytes = segmentBytes;
        this.directory = new LogDirectory(storage);
        directory.claim(segmentBytes);
        List<FileSegment> opened = directory.open(segmentBytes);
        opened.forEach(segment -> segments.getOrAdd(segment.number, number -> segment));
        this.begin = new HighWaterMark(opened.isEmpty() ? 0 : opened.getFirst().number * segmentBytes);
        this.end = new HighWaterMark(opened.isEmpty() ? 0 : end(opened.getLast()));
    }

    private long end(FileSegment last) {
        return last.number * segmentBytes + (last.file.size() & -storage.alignment());
    }

    public long begin() {
        return begin.get();
    }

    public long end() {
        return end.get();
    }

    /** How many requests the storage refused. */
    public long failures() {
        return failures.get();
    }

    /** The reason why the storage last refused a request; null if it refused none. */
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

    /** @param error the system's error number; 0 if the file ends */
    void refused(String what, FileSegment segment, int error) {
        String why = error == 0 ? "its file ends before that" : Errno.describe(error);
        refusal = "cannot " + what + " segment " + segment.number + " in " + storage.name() + ": " + why;
    }

    /** Records that a read was refused since its segment does not exist. */
    void missing(long address) {
        refusal = "cannot read segment " + address / segmentBytes + " in " + storage.name() + ": it is not there";
    }

    /** As {@link io.farheap.tier.device.Device#mayHave}: whether the segment's file is as long. */
    public boolean mayHave(long address, long length) {
        FileSegment segment = find(address);
        if (address < begin.get() || segment == null || !segment.acquire()) {
            return false;
        }
        try {
            return address % segmentBytes + length <= segment.file.size();
        } finally {
            segment.release();
        }
    }

    @Nullable
    FileSegment find(long address) {
        return segments.get(address / segmentBytes);
    }

    /** The lowest segment, from a number on, with appends that are not durable; -1 if there is none. */
    long nextDirty(long from) {
        long last = (end.get() - 1) / segmentBytes;
        for (long number = Math.max(from, begin.get() / segmentBytes); number <= last; number++) {
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

    /** @return null if it is below the beginning */
    @Nullable
    FileSegment make(long address) {
        changing.lock();
        try {
            long number = address / segmentBytes;
            List<FileSegment> present = segments.all();
            long first = present.isEmpty() ? number : present.getLast().number + 1;
            if (number - first > MOST_BETWEEN
                    || !present.isEmpty() && present.getFirst().number - number > MOST_BETWEEN) {
                throw new StorageException("an append to segment " + number + " of " + storage.name() + ", more than "
                        + MOST_BETWEEN + " from its present segments: append to a log at its end");
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

    /** Creates segments before the first one, if a log was begun in its middle and nothing was truncated. */
    private @Nullable FileSegment makeBelow(long number, long first) {
        if (number < begin.get() / segmentBytes) {
            return null;
        }
        for (long missing = first - 1; missing >= number; missing--) {
            segments.getOrAdd(missing, directory::create);
        }
        return segments.get(number);
    }

    /**
     * Files are deleted from the lowest on. If one cannot be deleted, neither it nor a later one is taken out of the
     * log, so that no gap appears between files: each further call tries it again.
     *
     * @throws StorageException if a file could not be deleted; the log begins at the address nevertheless
     */
    public void truncate(long below) {
        if (!begin.raise(below) && !owed) {
            return;
        }
        changing.lock();
        try {
            List<FileSegment> present = segments.all();
            long keep = begin.get() / segmentBytes;
            owed = true;
            for (FileSegment segment : present) {
                if (segment.number < keep && segment != present.getLast()) {
                    directory.delete(segment.number);
                    segments.removeBelow(segment.number + 1);
                    segment.release();
                }
            }
            owed = false;
        } finally {
            changing.unlock();
        }
    }

    /** Closes all segments, which no handle uses any more. */
    public void close() {
        segments.removeBelow(Long.MAX_VALUE).forEach(FileSegment::release);
    }
}
