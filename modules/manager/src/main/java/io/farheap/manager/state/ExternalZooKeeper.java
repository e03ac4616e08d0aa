package io.farheap.manager.state;

import io.farheap.lifetime.Closeables;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A ZooKeeper that operators run elsewhere, for a manager with a directory for its own files. */
public final class ExternalZooKeeper implements ZooKeeperHost {

    private final @Nullable DirectoryLock lock;
    private final String connection;

    private ExternalZooKeeper(@Nullable DirectoryLock lock, String connection) {
        this.lock = lock;
        this.connection = connection;
    }

    /**
     * Takes the directory; connects to nothing yet.
     *
     * @param directory of the manager, for it alone; created if it does not exist
     * @param connection host:port of ZooKeeper's servers, separated by commas
     * @throws StateException if another process has the directory, or it cannot be written
     */
    public static ExternalZooKeeper use(Path directory, String connection) {
        return new ExternalZooKeeper(DirectoryLock.take(directory), connection);
    }

    /** As {@link #use(Path, String)}, for a caller that needs no directory. */
    static ExternalZooKeeper use(String connection) {
        return new ExternalZooKeeper(null, connection);
    }

    @Override
    public String connection() {
        return connection;
    }

    @Override
    public boolean running() {
        return true;
    }

    @Override
    public boolean shared() {
        return true;
    }

    @Override
    public void close() {
        Closeables.all(lock);
    }
}
