package io.farheap.remote;

/**
 * Limits of a {@link RemoteQueue}.
 *
 * @param depth operations in flight to one server, 1 to the device's limit
 * @param operations operations in flight to all servers together, at least {@code depth}
 * @param inlineBytes WRITEs up to this size travel in the work request, if the device allows it
 */
public record QueueOptions(int depth, int operations, int inlineBytes) {

    /** 64 operations to a server, 1,024 in all, WRITEs of up to 172 bytes inline. */
    public static final QueueOptions DEFAULT = new QueueOptions(64, 1024, 172);

    /** @throws IllegalArgumentException with the value that is wrong and its limits */
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

    /** The same options with another depth, and with at least as many operations in all. */
    public QueueOptions withDepth(int operationsOfServer) {
        return new QueueOptions(operationsOfServer, Math.max(operations, operationsOfServer), inlineBytes);
    }
}
