package io.farheap.manager.state;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import java.nio.file.Path;

/**
 * A ZooKeeper server in this process, for a manager that has no other: one server, on a port of 127.0.0.1. Writes that
 * it has acknowledged are on disk. Its directory has a file {@code lock}, which keeps a second server out, and
 * ZooKeeper's files below {@code zookeeper}, of which old ones are deleted.
 *
 * <p>While it runs, ZooKeeper's admin server is off in this JVM, and ZooKeeper does not end the JVM when it fails.
 */
public final class EmbeddedZooKeeper implements ZooKeeperHost {

    private final CloseStack opened;
    private final StandaloneServer server;
    private final String connection;

    private EmbeddedZooKeeper(CloseStack opened, StandaloneServer server, int port) {
        this.opened = opened;
        this.server = server;
        connection = "127.0.0.1:" + port;
    }

    /**
     * Starts a server; it serves when this returns.
     *
     * @param directory of its files, for it alone; created if it does not exist
     * @throws StateException if another process has the directory, it cannot be written, it is that of an ensemble's
     *     member, or its files are damaged
     */
    public static EmbeddedZooKeeper start(Path directory) {
        CloseStack opened = new CloseStack();
        try {
            opened.add(DirectoryLock.take(directory));
            DirectoryKind.ALONE.require(directory);
            StandaloneServer server = opened.add(new StandaloneServer(DirectoryKind.ALONE.files(directory)));
            return new EmbeddedZooKeeper(opened, server, server.start());
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    @Override
    public String connection() {
        return connection;
    }

    /** False also after a failure, for example for want of disk. */
    @Override
    public boolean running() {
        return server.running();
    }

    /** False: the lock of its directory keeps other managers out. */
    @Override
    public boolean shared() {
        return false;
    }

    /** Stops serving; then another process may take the directory. Stores on it should be closed before. Idempotent. */
    @Override
    public void close() {
        opened.close();
    }
}
