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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A file of everything that was written, behind a bounded buffer: one thread of its own takes writes from the buffer,
 * the oldest first, one at a time, and another thread reads. A page takes whole blocks of the file; for a write of less
 * than a page the block is read, changed and written. Any thread, unless said otherwise.
 */
final class BackupFile implements AutoCloseable {

    /** The most writes in the buffer. */
    static final int BUFFERED = 256;
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
    private final MemorySegment block;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition offered = lock.newCondition();
    /** Count of accepted writes; with the lock. */
    private long accepted;
    /** Count of those that are in the file; written with the lock. */
    private volatile long written;

    private boolean closed;
    private volatile @Nullable Throwable failure;
    private final Thread writer;
    private final ExecutorService reader;

    /** @throws UncheckedIOException if the file cannot be created */
    BackupFile(BackupPlace place, int pageBytes) {
        this.pageBytes = pageBytes;
        this.blockBytes = place.blockBytes();
        this.slotBytes = (pageBytes + blockBytes - 1) / blockBytes * blockBytes;
        try {
            Arena arena = opened.add(Arena.ofShared());
            this.buffer = arena.allocate((long) BUFFERED * slotBytes, blockBytes);
            this.block = arena.allocate(blockBytes, blockBytes);
            this.channel = opened.add(place.open());
            this.reader = opened.add(Executors.newSingleThreadExecutor(
                    Thread.ofPlatform().name("backup-read").factory()));
            this.writer = Thread.ofPlatform().name("backup-write").start(this::write);
        } catch (IOException e) {
            Closeables.after(e, opened);
            throw new UncheckedIOException("no backup in " + place.directory(), e);
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
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
            int slot = (int) (accepted % BUFFERED);
            addresses[slot] = address;
            lengths[slot] = bytes;
            MemorySegment.copy(from, 0, buffer, (long) slot * slotBytes, bytes);
            offered.signal();
            return accepted++;
        } finally {
            lock.unlock();
        }
    }

    /** Whether a write is in the file. */
    boolean has(long number) {
        check();
        return number < written;
    }

    private void check() {
        Throwable cause = failure;
        if (cause != null) {
            throw new IllegalStateException("the backup cannot be written: " + cause, cause);
        }
    }

    private void write() {
        long number = 0;
        try {
            while (awaitOffer()) {
                int slot = (int) (number % BUFFERED);
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
                lock.lock();
                try {
                    written = ++number;
                } finally {
                    lock.unlock();
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        }
    }

    /** Waits for a write; false if this is closed. */
    private boolean awaitOffer() {
        lock.lock();
        try {
            while (accepted == written && !closed) {
                offered.awaitUninterruptibly();
            }
            return !closed;
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
                int slot = (int) (number % BUFFERED);
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
                int slot = (int) (number % BUFFERED);
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
            offered.signal();
        } finally {
            lock.unlock();
        }
        // The threads are not interrupted: an interrupt would close the channel that both use.
        ThreadJoiner.join(writer);
        opened.close();
    }
}
