package io.farheap.remote;

/**
 * What a {@link RemoteQueue} can have in flight.
 *
 * @param depth operations in flight on one server, 1 to what the device allows
 * @param operations operations in flight on all servers together, at least {@code depth}
 * @param inlineBytes WRITEs up to this size travel in the work request, where the device allows it
 */
public record QueueOptions(int depth, int operations, int inlineBytes) {

    /** 64 operations on a server, 1,024 in all, WRITEs of up to 172 bytes inline. */
    public static final QueueOptions DEFAULT = new QueueOptions(64, 1024, 172);

    /** @throws IllegalArgumentException naming the value that is wrong and its limits */
    public QueueOptions {
        if (depth < 1) {
            throw new IllegalArgumentException("a queue depth of " + depth + "; it must be at least 1");
        }
        if (operations < depth) {
            throw new IllegalArgumentException(
                    operations + " operations in all with a queue depth of " + depth + "; take at least " + depth);
        }
        if (inlineBytes < 0) {
            throw new IllegalArgumentException(
                    "an inline threshold of " + inlineBytes + " bytes; it must be at least 0");
        }
    }

    /** The same with another depth, and room for all of it. */
    public QueueOptions withDepth(int operationsOfServer) {
        return new QueueOptions(operationsOfServer, Math.max(operations, operationsOfServer), inlineBytes);
    }
}
