package io.farheap.slo;

import java.util.Comparator;

/**
 * The parameters that determine a cache's performance and cost (Redy, table 2).
 *
 * @param clientThreads c, the threads that process requests; each has one connection
 * @param serverThreads s, the threads that execute batches; 0 if operations are one-sided
 * @param batchSize b, requests per message
 * @param queueDepth q, messages or one-sided operations in flight per connection
 */
public record Configuration(int clientThreads, int serverThreads, int batchSize, int queueDepth) {

    /**
     * The order in which Redy prefers configurations: server threads, client threads, batch size, queue depth (section
     * 5.2).
     */
    public static final Comparator<Configuration> CHEAPEST_FIRST = Comparator.comparingInt(Configuration::serverThreads)
            .thenComparingInt(Configuration::clientThreads)
            .thenComparingInt(Configuration::batchSize)
            .thenComparingInt(Configuration::queueDepth);

    public Configuration {
        if (clientThreads < 1
                || serverThreads < 0
                || serverThreads > clientThreads
                || batchSize < 1
                || queueDepth < 1) {
            throw new IllegalArgumentException(
                    text(clientThreads, serverThreads, batchSize, queueDepth)
                            + ": it has at least one client thread, at most as many server threads, and a batch and a queue of at least one");
        }
        if (serverThreads == 0 && batchSize != 1) {
            throw new IllegalArgumentException(text(clientThreads, serverThreads, batchSize, queueDepth)
                    + ": batches need a server thread; without one the batch size is 1");
        }
    }

    private static String text(int c, int s, int b, int q) {
        return "configuration (c " + c + ", s " + s + ", b " + b + ", q " + q + ")";
    }

    @Override
    public String toString() {
        return "(c " + clientThreads + ", s " + serverThreads + ", b " + batchSize + ", q " + queueDepth + ")";
    }
}
