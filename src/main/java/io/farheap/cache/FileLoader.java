package io.farheap.cache;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.lifetime.Closeables;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Fills a cache from a file: a few large writes in flight while the next part is read from the file. */
final class FileLoader implements AutoCloseable, Completion {

    private static final int PART_BYTES = 1 << 20;
    private static final int PARTS = 4;

    private final long capacity;
    private final CacheSession session;
    private final Buffer buffer;
    private final int[] freeParts = new int[PARTS];
    private int free;
    private long written;
    private int failure = Status.OK;

    /**
     * @param capacity of the cache, in bytes
     * @param allocate allocates a registered buffer of so many bytes
     */
    FileLoader(long capacity, CacheSession session, LongFunction<Buffer> allocate) {
        this.capacity = capacity;
        this.session = session;
        this.buffer = allocate.apply((long) PARTS * PART_BYTES);
        for (int part = 0; part < PARTS; part++) {
            freeParts[free++] = part;
        }
    }

    /**
     * Fills the cache.
     *
     * @param loaded receives how many bytes have been written so far, or null
     */
    void load(Path file, @Nullable LongConsumer loaded) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long bytes = Math.min(channel.size(), capacity);
            for (long at = 0; at < bytes; at += PART_BYTES) {
                int length = (int) Math.min(PART_BYTES, bytes - at);
                int part = takePart();
                read(channel, at, part, length);
                while (!session.write(
                        at, buffer, (long) part * PART_BYTES, length, this, (long) part << Integer.SIZE | length)) {
                    session.awaitProgress();
                }
                report(loaded);
            }
            session.drain();
            report(loaded);
        } catch (IOException e) {
            throw new CacheException("cannot fill the cache from " + file + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void completed(long token, int status) {
        freeParts[free++] = (int) (token >>> Integer.SIZE);
        written += (int) token;
        if (status != Status.OK) {
            failure = status;
        }
    }

    @Override
    public void close() {
        Closeables.all(session::drain, buffer);
    }

    private int takePart() {
        while (free == 0) {
            session.awaitProgress();
        }
        return freeParts[--free];
    }

    private void read(FileChannel channel, long at, int part, int length) throws IOException {
        ByteBuffer bytes =
                buffer.segment().asSlice((long) part * PART_BYTES, length).asByteBuffer();
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, at + bytes.position()) < 0) {
                throw new IOException("it became shorter while it was read");
            }
        }
    }

    private void report(@Nullable LongConsumer loaded) {
        if (failure != Status.OK) {
            throw new CacheException("cannot fill the cache: " + Status.describe(failure), failure);
        }
        if (loaded != null) {
            loaded.accept(written);
        }
    }
}
