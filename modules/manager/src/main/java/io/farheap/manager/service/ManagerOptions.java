package io.farheap.manager.service;

/**
 * A manager's time limits.
 *
 * @param serverSilentNanos a server that has not reported for so long gets no more caches
 * @param clientSilentNanos a client process that has not said for so long that it is there has lost its caches, once no
 *     server holds something for them
 */
public record ManagerOptions(long serverSilentNanos, long clientSilentNanos) {

    public static final ManagerOptions DEFAULT = new ManagerOptions(3_000_000_000L, 30_000_000_000L);

    public ManagerOptions {
        if (serverSilentNanos < 1 || clientSilentNanos < 1) {
            throw new IllegalArgumentException("servers that may be silent for " + serverSilentNanos
                    + " ns and clients for " + clientSilentNanos + "; both are more than 0");
        }
    }
}
