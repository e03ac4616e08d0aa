package io.farheap.tier.device;

/**
 * How a {@link io.farheap.tier.FileDevice} reads and writes.
 *
 * @param engine who does
 * @param threads of {@link Engine#THREADS}, from 1 to 64: as many requests are on their way to the disk at a time
 * @param requests that a handle has at a time
 */
public record FileOptions(Engine engine, int threads, int requests) {

    /** io_uring where it opens, else threads. */
    public static final FileOptions DEFAULT = new FileOptions(Engine.FASTEST, 8, 128);

    /** Most requests of a handle. */
    static final int MAX_REQUESTS = 4096;

    /** Who reads and writes. */
    public enum Engine {
        /**
         * {@link #IO_URING} where the kernel allows it, which in containers it mostly does not; else {@link #THREADS}.
         */
        FASTEST,
        /** The kernel, which is told of many requests with one call: from Linux 5.11 on. */
        IO_URING,
        /** A few threads, each of which waits for the disk. */
        THREADS,
        /** Whoever polls, who waits for the disk: one request after the other, in order. */
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

    public FileOptions with(Engine which) {
        return new FileOptions(which, threads, requests);
    }

    public FileOptions withThreads(int count) {
        return new FileOptions(engine, count, requests);
    }

    public FileOptions withRequests(int count) {
        return new FileOptions(engine, threads, count);
    }
}
