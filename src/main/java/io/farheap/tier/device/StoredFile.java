package io.farheap.tier.device;

import java.lang.foreign.MemorySegment;

/**
 * An open file of a {@link Storage}. Any thread may call, but no thread may use it while it is being closed, or
 * afterwards.
 */
public interface StoredFile extends AutoCloseable {

    /** The file descriptor, for io_uring; -1 if there is none. */
    int descriptor();

    /** The file's length in bytes. */
    long size();

    /**
     * @return how many bytes were read, which may be fewer, and 0 at the end of the file; if the read failed, minus the
     *     error number
     */
    long read(long position, MemorySegment memory, long offset, long length);

    /** @return how many bytes were written, which may be fewer; if the write failed, minus the error number */
    long write(long position, MemorySegment memory, long offset, long length);

    /** @return 0 if all earlier writes, and the length, are durable; otherwise the error number */
    int sync();

    @Override
    void close();
}
