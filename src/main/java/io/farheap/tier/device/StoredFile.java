package io.farheap.tier.device;

import java.lang.foreign.MemorySegment;

/** An open file of a {@link Storage}. Any thread, but nobody uses it while, or after, it is closed. */
public interface StoredFile extends AutoCloseable {

    /** The kernel's number for it, for io_uring; -1 where it has none. */
    int descriptor();

    /** Bytes. */
    long size();

    /**
     * @return how many bytes, which may be fewer, 0 at the end of the file; negative where it failed: minus the
     *     system's error number
     */
    long read(long position, MemorySegment memory, long offset, long length);

    /** @return how many bytes, which may be fewer; negative where it failed: minus the system's error number */
    long write(long position, MemorySegment memory, long offset, long length);

    /** @return 0 where what was written before, and the length, is durable; else the system's error number */
    int sync();

    @Override
    void close();
}
