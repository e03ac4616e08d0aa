package io.farheap.cache.contract;

import io.farheap.rpc.RingShape;
import io.farheap.slo.Configuration;
import io.farheap.thread.idle.Idle;

/**
 * How a cache's requests travel (Redy, section 5.1). Latency and throughput depend on it.
 *
 * @param clientThreads threads that process the requests of application threads (Redy's c); 0 if application threads do
 *     that themselves, with no hand-over
 * @param serverThreads threads of each server that execute batches (s); 0 if every operation is one-sided
 * @param batch the most requests in a batch (b), 1 to {@value RingShape#MAX_BATCH}; 1 if every operation is one-sided.
 *     A batch takes records of up to 4,095 / (b - 1) bytes, larger ones are one-sided; above 128 bytes the session
 *     measures which of the two is faster
 * @param queueDepth batches, and one-sided operations, in flight on one connection (q), at least 1 and less than the
 *     device's limit
 * @param inlineBytes writes of up to this many bytes carry their data in the work request, if the device allows it
 * @param pinned whether each client thread is pinned to a core of its own, if there are more cores than threads
 * @param idle how client threads wait while they have no work
 */
public record CacheConfiguration(
        int clientThreads, int serverThreads, int batch, int queueDepth, int inlineBytes, boolean pinned, Idle idle) {

    /** The most client threads, and the most server threads if the application's own threads are the clients. */
    public static final int MAX_CLIENT_THREADS = 1024;

    private static final int DEFAULT_QUEUE_DEPTH = 64;
    private static final int DEFAULT_INLINE_BYTES = 172;

    /** One-sided operations, posted by the application's threads. */
    public static final CacheConfiguration DIRECT =
            new CacheConfiguration(0, 0, 1, DEFAULT_QUEUE_DEPTH, DEFAULT_INLINE_BYTES, true, Idle.PARK);

    /** @throws IllegalArgumentException naming the value that is wrong and its limits */
    public CacheConfiguration {
        if (clientThreads < 0 || clientThreads > MAX_CLIENT_THREADS) {
            throw new IllegalArgumentException(
                    clientThreads + " client threads; there may be 0 (the application's own) to " + MAX_CLIENT_THREADS);
        }
        int mostServerThreads = clientThreads == 0 ? MAX_CLIENT_THREADS : clientThreads;
        if (serverThreads < 0 || serverThreads > mostServerThreads) {
            throw new IllegalArgumentException(
                    serverThreads + " server threads for " + clientThreads + " client threads; there may be 0 to "
                            + mostServerThreads + ", since each client thread's connection is served by one");
        }
        if (batch < 1 || batch > RingShape.MAX_BATCH) {
            throw new IllegalArgumentException(
                    "a batch of " + batch + " requests; it must be 1 to " + RingShape.MAX_BATCH);
        }
        if (serverThreads == 0 && batch > 1) {
            throw new IllegalArgumentException(
                    "a batch of " + batch + " requests and no server thread to execute it; ask for at least one"
                            + " server thread, or for a batch of 1");
        }
        if (queueDepth < 1) {
            throw new IllegalArgumentException("a queue depth of " + queueDepth + "; it must be at least 1");
        }
        if (inlineBytes < 0) {
            throw new IllegalArgumentException(
                    "an inline threshold of " + inlineBytes + " bytes; it must be at least 0");
        }
    }

    /** Returns this configuration with another (c, s, b, q). */
    public CacheConfiguration with(int clientThreads, int serverThreads, int batch, int queueDepth) {
        return new CacheConfiguration(clientThreads, serverThreads, batch, queueDepth, inlineBytes, pinned, idle);
    }

    /**
     * Returns this configuration with the one that was found for an objective. Its client threads are the application's
     * own, each with a session, since models are measured that way.
     */
    public CacheConfiguration with(Configuration found) {
        return with(0, found.serverThreads(), found.batchSize(), found.queueDepth());
    }

    /** Returns this configuration with another queue depth. */
    public CacheConfiguration withQueueDepth(int depth) {
        return with(clientThreads, serverThreads, batch, depth);
    }

    /** Returns this configuration with another inline threshold. */
    public CacheConfiguration withInlineBytes(int bytes) {
        return new CacheConfiguration(clientThreads, serverThreads, batch, queueDepth, bytes, pinned, idle);
    }

    /** Returns this configuration with client threads pinned to cores, or not. */
    public CacheConfiguration withPinned(boolean pin) {
        return new CacheConfiguration(clientThreads, serverThreads, batch, queueDepth, inlineBytes, pin, idle);
    }

    /** Returns this configuration with another idle strategy of client threads. */
    public CacheConfiguration withIdle(Idle strategy) {
        return new CacheConfiguration(clientThreads, serverThreads, batch, queueDepth, inlineBytes, pinned, strategy);
    }

    /** Whether requests travel in batches. */
    public boolean batched() {
        return batch > 1;
    }

    /** Redy's tuple (c, s, b, q). */
    @Override
    public String toString() {
        return "(c " + clientThreads + ", s " + serverThreads + ", b " + batch + ", q " + queueDepth + ")";
    }
}
