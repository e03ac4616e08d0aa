package io.farheap.tier.device;

/**
 * Requests of one thread to a {@link Device}. A request returns at once: {@code true} if it was accepted, {@code false}
 * if the handle is full; then nothing has happened, and a {@link #poll} makes room. Requests do not allocate. They make
 * progress in {@link #poll}, which calls completions on its thread; a completion may make requests, but not poll or
 * close. If a completion throws, {@code poll} throws that exception; other requests are not affected.
 *
 * <p>Wrong arguments, such as a length that is not a multiple of {@link Device#alignment}, throw
 * {@link IllegalArgumentException} or {@link IndexOutOfBoundsException}. A handle that is closed, or that belongs to
 * another thread, throws {@link IllegalStateException}.
 *
 * <p>A request's memory belongs to the request until its completion is called; for an append, until it is released.
 */
public interface DeviceHandle extends AutoCloseable {

    /**
     * Writes a part of the log. Parts may be written in any order, by several handles. The last part may be written
     * again, longer, if the bytes that it had are unchanged.
     *
     * @param address of its first byte; with {@code length}, in one segment
     * @param offset in {@code source}
     * @param length bytes, more than 0
     */
    boolean append(
            long address, DeviceMemory source, long offset, long length, AppendCompletion completion, long token);

    /**
     * Reads a part of the log whose append has ended. A read of bytes that were never appended ends with any status.
     *
     * @param address of its first byte; with {@code length}, in one segment
     * @param offset in {@code destination}
     * @param length bytes, more than 0
     */
    boolean read(long address, DeviceMemory destination, long offset, long length, IoCompletion completion, long token);

    /**
     * Makes appends durable, of any handle, that had ended before this call. From the completion on they survive
     * whatever the device survives: on a file, a power cut. Far memory survives nothing, and completes a sync with
     * {@link IoStatus#OK}.
     */
    boolean sync(IoCompletion completion, long token);

    /** Makes progress and calls completions. @return how many were called */
    int poll();

    /**
     * Waits until {@link #poll} may make progress, or until the thread is unparked; returns at once if nothing is
     * pending. It may return spuriously.
     */
    void awaitProgress();

    /** How many requests have not ended, or have not released their memory. */
    int pending();

    /**
     * Makes the calling thread the handle's owner, as each request does; throws, and changes nothing, if another thread
     * owns it.
     */
    void own();

    /**
     * Lets another thread use the handle from now on. The caller hands it over with a happens-before edge, as between
     * any threads.
     */
    void release();

    /**
     * Waits for pending requests, whose completions are called, and closes the handle. Requests that completions make
     * are refused.
     */
    @Override
    void close();
}
