package io.farheap.bench.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.thread.ThreadJoiner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A file of everything that was written, behind a bounded buffer: threads of its own take writes from the buffer, the
 * oldest first, each one at a time, and another thread reads. A page takes whole blocks of the file; for a write of
 * less than a page the block is read, changed and written. Any thread, unless said otherwise.
 *
 * <p>Writes of one page go into the file one after another, in their order: a thread that would take a write of a page
 * of which another thread writes an earlier one waits for that, and with it all later writes. A slot of the buffer is
 * free again when its write and all before it are in the file.
 */
final class BackupFile implements AutoCloseable {

    /** The most writes in the buffer. */
    static final int BUFFERED = 256;
    /** The writes to the disk that are usually under way at a time, as many as keep a disk busy. */
    static final int UNDER_WAY = 32;
    /** Returned by {@link #offer} if the buffer is full. */
    static final long FULL = -1;

    private final CloseStack opened = new CloseStack();
    private final FileChannel channel;
    private final int pageBytes;
    private final int blockBytes;
    /** Bytes of a page in the file, and of a write in the buffer. */
    private final int slotBytes;

    private final MemorySegment buffer;
    private final long[] addresses = new long[BUFFERED];
    private final int[] lengths = new int[BUFFERED];

    private final ReentrantLock lock = new ReentrantLock();
    /** A write may be taken that could not be before. */
    private final Condition offered = lock.newCondition();
    /** Count of accepted writes; with the lock. */
    private long accepted;
    /** Count of those that a thread has taken; with the lock. */
    private long taken;
    /** By slot, whether a taken write is in the file; with the lock. */
    private final boolean[] ended = new boolean[BUFFERED];
    /** Count of the first writes that are all in the file; written with the lock. */
    private volatile long written;

    private boolean closed;
    private volatile @Nullable Throwable failure;
    private final List<Thread> writers = new ArrayList<>();
    private final ExecutorService reader;

    /**
     * @param underWay the most writes to the disk at a time, each by a thread
     * @throws UncheckedIOException if the file cannot be created
     */
    BackupFile(BackupPlace place, int pageBytes, int underWay) {
        this.pageBytes = pageBytes;
        this.blockBytes = place.blockBytes();
        this.slotBytes = (pageBytes + blockBytes - 1) / blockBytes * blockBytes;
        try {
            Arena arena = opened.add(Arena.ofShared());
            this.buffer = arena.allocate((long) BUFFERED * slotBytes, blockBytes);
            this.channel = opened.add(place.open());
            this.reader = opened.add(Executors.newSingleThreadExecutor(
                    Thread.ofPlatform().name("backup-read").factory()));
            for (int i = 0; i < underWay; i++) {
                MemorySegment block = arena.allocate(blockBytes, blockBytes);
                writers.add(Thread.ofPlatform().name("backup-write-" + i).start(() -> write(block)));
            }
        } catch (IOException e) {
            Closeables.after(e, this);
            throw new UncheckedIOException("no backup in " + place.directory(), e);
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    /** Returns the bytes of the buffer. */
    long bufferBytes() {
        return buffer.byteSize();
    }

    /**
     * Puts a write into the buffer.
     *
     * @param bytes a page, or a part of one that is in one block
     * @return the write's number, or {@link #FULL}
     */
    long offer(long address, MemorySegment from, int bytes) {
        check();
        lock.lock();
        try {
            if (accepted - written == BUFFERED) {
                return FULL;
            }
            int slot = slot(accepted);
            addresses[slot] = address;
            lengths[slot] = bytes;
            MemorySegment.copy(from, 0, buffer, (long) slot * slotBytes, bytes);
            offered.signal();
            return accepted++;
        } finally {
            lock.unlock();
        }
    }

    private static int slot(long number) {
        return (int) (number % BUFFERED);
    }

    /** Whether a write is in the file. */
    boolean has(long number) {
        check();
        if (number < written) {
            return true;
        }
        lock.lock();
        try {
            return number < written || number < taken && ended[slot(number)];
        } finally {
            lock.unlock();
        }
    }

    private void check() {
        Throwable cause = failure;
        if (cause != null) {
            throw new IllegalStateException("the backup cannot be written: " + cause, cause);
        }
    }

    /** @param block memory of this thread for a block that is read and changed */
    private void write(MemorySegment block) {
        try {
            for (long number = take(); number >= 0; number = take()) {
                write(slot(number), block);
                end(number);
            }
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        }
    }

    /** Waits for a write; returns its number, or -1 if this is closed. */
    private long take() {
        lock.lock();
        try {
            while (!closed && (taken == accepted || pageUnderWay())) {
                offered.awaitUninterruptibly();
            }
            if (closed) {
                return -1;
            }
            ended[slot(taken)] = false;
            // The thread that is notified may have found nothing that it could take; this wakes the next one.
            offered.signal();
            return taken++;
        } finally {
            lock.unlock();
        }
    }

    /** Whether an earlier write of the next write's page has been taken and is not in the file. */
    private boolean pageUnderWay() {
        long page = addresses[slot(taken)] / pageBytes;
        for (long number = written; number < taken; number++) {
            if (!ended[slot(number)] && addresses[slot(number)] / pageBytes == page) {
                return true;
            }
        }
        return false;
    }

    private void write(int slot, MemorySegment block) throws IOException {
        MemorySegment content = buffer.asSlice((long) slot * slotBytes, slotBytes);
        long page = addresses[slot] / pageBytes;
        int at = (int) (addresses[slot] % pageBytes);
        if (lengths[slot] == pageBytes) {
            writeAll(content, page * slotBytes);
        } else {
            long position = page * slotBytes + (long) (at / blockBytes) * blockBytes;
            readAll(block, position);
            MemorySegment.copy(content, 0, block, at % blockBytes, lengths[slot]);
            writeAll(block, position);
        }
    }

    private void end(long number) {
        lock.lock();
        try {
            ended[slot(number)] = true;
            long first = written;
            while (first < taken && ended[slot(first)]) {
                first++;
            }
            written = first;
            offered.signal();
        } finally {
            lock.unlock();
        }
    }

    private void writeAll(MemorySegment from, long position) throws IOException {
        ByteBuffer bytes = from.asByteBuffer();
        while (bytes.hasRemaining()) {
            channel.write(bytes, position + bytes.position());
        }
    }

    /** Reads fully; bytes beyond the end of the file are zeros. */
    private void readAll(MemorySegment to, long position) throws IOException {
        ByteBuffer bytes = to.asByteBuffer();
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, position + bytes.position()) < 0) {
                to.asSlice(bytes.position()).fill((byte) 0);
                return;
            }
        }
    }

    /** Allocates memory for {@link #read}. */
    MemorySegment page(Arena of) {
        return of.allocate(slotBytes, blockBytes);
    }

    /**
     * Copies the bytes if the newest write in the buffer that overlaps them has all of them, and returns whether it
     * did. Does not wait for the disk.
     */
    boolean readBuffered(long address, MemorySegment into, int bytes) {
        lock.lock();
        try {
            for (long number = accepted - 1; number >= written; number--) {
                int slot = slot(number);
                long from = address - addresses[slot];
                if (from >= 0 && from + bytes <= lengths[slot]) {
                    MemorySegment.copy(buffer, slot * (long) slotBytes + from, into, 0, bytes);
                    return true;
                }
                if (from < lengths[slot] && -from < bytes) {
                    return false;
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Reads a page, from the file and from the writes in the buffer.
     *
     * @param into memory of {@link #page}, which belongs to the reading thread until the future is done
     */
    Future<?> read(long page, MemorySegment into) {
        return reader.submit(() -> {
            // The buffer is copied before the file is read: a write may move from the buffer to the file meanwhile, and
            // in the other order it would be missed.
            MemorySegment[] parts = new MemorySegment[BUFFERED];
            int[] offsets = new int[BUFFERED];
            int count = copyBuffered(page, parts, offsets);
            readAll(into, page * slotBytes);
            for (int i = 0; i < count; i++) {
                MemorySegment.copy(parts[i], 0, into, offsets[i], parts[i].byteSize());
            }
            return null;
        });
    }

    /** Copies the writes of a page that are in the buffer, the oldest first. */
    private int copyBuffered(long page, MemorySegment[] parts, int[] offsets) {
        int count = 0;
        lock.lock();
        try {
            for (long number = written; number < accepted; number++) {
                int slot = slot(number);
                if (addresses[slot] / pageBytes == page) {
                    byte[] bytes = new byte[lengths[slot]];
                    MemorySegment.copy(buffer, (long) slot * slotBytes, MemorySegment.ofArray(bytes), 0, bytes.length);
                    offsets[count] = (int) (addresses[slot] % pageBytes);
                    parts[count++] = MemorySegment.ofArray(bytes);
                }
            }
        } finally {
            lock.unlock();
        }
        return count;
    }

    /** Writes in the buffer are dropped, as the file is deleted, too. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            offered.signalAll();
        } finally {
            lock.unlock();
        }
        // The threads are not interrupted: an interrupt would close the channel that all use.
        writers.forEach(ThreadJoiner::join);
        opened.close();
    }
}
