package io.farheap.tier;

import java.lang.foreign.MemorySegment;

/** An open file of a {@link Storage}. Any thread, but nobody uses it while, or after, it is closed. */
public interface StoredFile extends AutoCloseable {

    /** The kernel's number for it, for io_uring; -1 where it has none. */
    int descriptor();

    /** Bytes. */
    long size();

    /** @return how many bytes, which may be fewer, 0 at the end of the file; negative where it failed */
    long read(long position, MemorySegment memory, long offset, long length);

    /** @return how many bytes, which may be fewer; negative where it failed */
    long write(long position, MemorySegment memory, long offset, long length);

    /** @return whether what was written before, and the length, is durable */
    boolean sync();

    @Override
    void close();
}
