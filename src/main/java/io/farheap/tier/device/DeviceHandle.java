package io.farheap.tier.device;

/**
 * Requests of one thread to a {@link Device}. They return at once: {@code true}, or {@code false} where the handle is
 * full, in which case nothing has happened and a {@link #poll} makes room. They allocate nothing. Progress is made, and
 * callbacks run, in {@link #poll}, on its thread; a callback may make requests, but not poll or close. What it throws
 * comes out of that poll; other requests are not affected.
 *
 * <p>Wrong arguments, such as what is not a multiple of {@link Device#alignment}, throw
 * {@link IllegalArgumentException} or {@link IndexOutOfBoundsException}; a handle that is closed, or another thread's,
 * throws {@link IllegalStateException}.
 *
 * <p>Until its callback runs (for an append: until it is released), a request's memory belongs to the request.
 */
public interface DeviceHandle extends AutoCloseable {

    /**
     * Writes a part of the log. Parts may be written in any order, by several handles; the last part that was written
     * may be written again, longer, with what was there before unchanged.
     *
     * @param address of its first byte; with {@code length}, in one segment
     * @param offset in {@code source}
     * @param length bytes, more than 0
     */
    boolean append(
            long address, DeviceMemory source, long offset, long length, AppendCompletion completion, long token);

    /**
     * Reads a part of the log that an append has been called back for. What nobody appended ends with any status.
     *
     * @param address of its first byte; with {@code length}, in one segment
     * @param offset in {@code destination}
     * @param length bytes, more than 0
     */
    boolean read(long address, DeviceMemory destination, long offset, long length, IoCompletion completion, long token);

    /**
     * What was appended, by any handle, and called back before this call, survives from its callback on whatever the
     * device survives: of a file, a power cut; far memory survives nothing, and calls back with {@link IoStatus#OK}.
     */
    boolean sync(IoCompletion completion, long token);

    /** @return how many callbacks ran */
    int poll();

    /**
     * Waits until {@link #poll} may find something, or until the thread is unparked; returns at once where nothing is
     * pending. It may return for no reason.
     */
    void awaitProgress();

    /** Requests that have not been called back, or whose memory is not released. */
    int pending();

    /** Makes it the calling thread's, as each request does; throws where it is another's, and nothing has changed. */
    void own();

    /** Lets another thread use it from now on; the caller hands it over by whatever means threads have. */
    void release();

    /** Waits for what is pending, whose callbacks run; requests that they make are refused. */
    @Override
    void close();
}
