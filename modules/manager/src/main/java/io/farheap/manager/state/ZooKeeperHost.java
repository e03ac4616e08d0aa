package io.farheap.manager.state;

/** A manager's ZooKeeper: in this process, or elsewhere. Thread-safe; the caller that made it closes it. */
public sealed interface ZooKeeperHost extends AutoCloseable
        permits EmbeddedZooKeeper, EnsembleMember, ExternalZooKeeper {

    /** Returns its address for {@link ZooKeeperStore}: host:port, or several, separated by commas. */
    String connection();

    /**
     * Whether the part of it in this process serves, or tries to. False once closed, or after a failure; always true if
     * it has no part in this process.
     */
    boolean running();

    /** Whether other managers may use it too, so that one of them has to be elected. */
    boolean shared();

    /** Stops the part of it in this process. Stores on it should be closed before. Idempotent. */
    @Override
    void close();
}
