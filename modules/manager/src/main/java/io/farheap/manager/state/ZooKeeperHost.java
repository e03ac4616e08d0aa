package io.farheap.manager.state;

/** Where a manager's ZooKeeper is: in this process, or elsewhere. Thread-safe; its maker closes it. */
public sealed interface ZooKeeperHost extends AutoCloseable
        permits EmbeddedZooKeeper, EnsembleMember, ExternalZooKeeper {

    /** For {@link ZooKeeperStore}: host:port, or several, separated by commas. */
    String connection();

    /** Whether what of it is in this process serves, or tries to. False once closed, or when it has failed. */
    boolean running();

    /** Whether other managers may use it too, so that one of them has to be elected. */
    boolean shared();

    /** Stops what of it is in this process. Stores on it should be closed before. Idempotent. */
    @Override
    void close();
}
