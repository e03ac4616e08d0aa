package io.farheap.slo;

import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * All configurations that a machine, a record size and a device allow, as Redy's tree (section 5.2). Its levels are the
 * {@link Parameter}s; a node's children are the values that the parameters above it allow, in increasing order; below a
 * queue depth lies the leaf, the configuration's performance.
 *
 * @param clientCores C: client threads are 1 to this, server threads 0 to the client threads
 * @param maxBatch B: batches are 1 to this, and 1 if there is no server thread
 * @param minDepth the device's smallest useful queue depth, as measured ({@link MeasurementPlan})
 * @param maxDepth Q, the device's largest queue depth
 * @param serverCores server threads are 0 to this: C, or 0 if servers execute nothing
 */
public record ConfigurationSpace(int clientCores, int maxBatch, int minDepth, int maxDepth, int serverCores) {

    /** Larger messages do not use the network better (Redy, section 5.1). */
    public static final int MAX_MESSAGE_BYTES = 4096;

    /** The largest C that a space may have. */
    public static final int MAX_CORES = 128;
    /** The largest Q that a space may have. */
    public static final int MAX_DEPTH = 4096;

    public ConfigurationSpace {
        if (clientCores < 1 || clientCores > MAX_CORES) {
            throw new IllegalArgumentException(
                    "a space of " + clientCores + " client cores; there are from 1 to " + MAX_CORES);
        }
        if (maxBatch < 1 || maxBatch > MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException("a space of batches up to " + maxBatch + "; a batch has from 1 to "
                    + MAX_MESSAGE_BYTES + " requests");
        }
        if (minDepth < 1 || minDepth > maxDepth || maxDepth > MAX_DEPTH) {
            throw new IllegalArgumentException("a space of queue depths " + minDepth + " to " + maxDepth
                    + "; they are from 1 to " + MAX_DEPTH + ", in increasing order");
        }
        if (serverCores != 0 && serverCores != clientCores) {
            throw new IllegalArgumentException("a space of " + serverCores + " server threads with " + clientCores
                    + " client cores; there are none or as many");
        }
    }

    /** With as many server threads as client threads. */
    public ConfigurationSpace(int clientCores, int maxBatch, int minDepth, int maxDepth) {
        this(clientCores, maxBatch, minDepth, maxDepth, clientCores);
    }

    /** B, for records of this size: as many as make a message of 4 KB, rounded up (Redy, table 2). */
    public static int maxBatch(int recordBytes) {
        if (recordBytes < 1) {
            throw new IllegalArgumentException("records of " + recordBytes + " bytes; they have at least 1");
        }
        return recordBytes >= MAX_MESSAGE_BYTES ? 1 : (MAX_MESSAGE_BYTES + recordBytes - 1) / recordBytes;
    }

    /**
     * The first child of a node.
     *
     * @param level the parameter that the node's children are values of
     * @param server the number of server threads above it; ignored if {@code level} is the server threads
     */
    public int first(Parameter level, int server) {
        return switch (level) {
            case SERVER_THREADS -> 0;
            case CLIENT_THREADS -> Math.max(1, server);
            case BATCH_SIZE -> 1;
            case QUEUE_DEPTH -> minDepth;
        };
    }

    /** The last child of a node; as {@link #first}. */
    public int last(Parameter level, int server) {
        return switch (level) {
            case SERVER_THREADS -> serverCores;
            case CLIENT_THREADS -> clientCores;
            case BATCH_SIZE -> server == 0 ? 1 : maxBatch;
            case QUEUE_DEPTH -> maxDepth;
        };
    }

    /**
     * The number of configurations. Redy's formula counts {@code Q - opt.} queue depths, this one all from the smallest
     * to the largest: for 30 cores, batches up to 512 and depths from 4 to 16 it is 3,095,430; the paper says about
     * three million.
     */
    public long size() {
        long depths = maxDepth - minDepth + 1L;
        long withServer = serverCores * (serverCores + 1L) / 2 * maxBatch;
        return (withServer + clientCores) * depths;
    }

    /** All configurations, the cheapest first. */
    public Stream<Configuration> stream() {
        return IntStream.rangeClosed(0, serverCores).boxed().flatMap(s -> IntStream.rangeClosed(
                        Math.max(1, s), clientCores)
                .boxed()
                .flatMap(c -> IntStream.rangeClosed(1, s == 0 ? 1 : maxBatch)
                        .boxed()
                        .flatMap(b -> IntStream.rangeClosed(minDepth, maxDepth)
                                .mapToObj(q -> new Configuration(c, s, b, q)))));
    }

    public boolean contains(Configuration configuration) {
        return configuration.clientThreads() <= clientCores
                && configuration.serverThreads() <= serverCores
                && configuration.batchSize() <= maxBatch
                && configuration.queueDepth() >= minDepth
                && configuration.queueDepth() <= maxDepth;
    }
}
