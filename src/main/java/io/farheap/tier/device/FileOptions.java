package io.farheap.tier.device;

/**
 * How a {@link io.farheap.tier.FileDevice} reads and writes.
 *
 * @param engine which threads read and write
 * @param threads how many threads {@link Engine#THREADS} has, from 1 to 64, and so how many requests are at the disk at
 *     a time
 * @param requests how many requests a handle may have at a time
 */
public record FileOptions(Engine engine, int threads, int requests) {

    /** io_uring if the kernel allows it, otherwise threads. */
    public static final FileOptions DEFAULT = new FileOptions(Engine.FASTEST, 8, 128);

    /** The most requests that a handle may have. */
    static final int MAX_REQUESTS = 4096;

    /** Which threads read and write. */
    public enum Engine {
        /**
         * {@link #IO_URING} if the kernel allows it, which it mostly does not in containers; otherwise
         * {@link #THREADS}.
         */
        FASTEST,
        /** The kernel, which receives many requests by one system call; from Linux 5.11 on. */
        IO_URING,
        /** A few threads, each of which waits for the disk. */
        THREADS,
        /** The polling thread itself, which waits for the disk: one request after the other, in order. */
        POLLER
    }

    public FileOptions {
        if (threads < 1 || threads > Long.SIZE) {
            throw new IllegalArgumentException(threads + " threads; there may be from 1 to " + Long.SIZE);
        }
        if (requests < 1 || requests > MAX_REQUESTS) {
            throw new IllegalArgumentException(
                    requests + " requests at a time; a handle may have from 1 to " + MAX_REQUESTS);
        }
    }

    /** These options with another engine. */
    public FileOptions with(Engine which) {
        return new FileOptions(which, threads, requests);
    }

    /** These options with another number of threads. */
    public FileOptions withThreads(int count) {
        return new FileOptions(engine, count, requests);
    }

    /** These options with another number of requests. */
    public FileOptions withRequests(int count) {
        return new FileOptions(engine, threads, count);
    }
}
