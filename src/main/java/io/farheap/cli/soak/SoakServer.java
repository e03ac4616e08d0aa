package io.farheap.cli.soak;

/** A memory server in a process of its own. */
public interface SoakServer extends AutoCloseable {

    /** Starts servers. */
    interface Starter {
        SoakServer start(long memoryBytes, long regionBytes);
    }

    /** HOST:PORT of its control plane. */
    String address();

    /** SIGKILL. */
    void kill();

    @Override
    void close();
}
