package io.farheap.manager.state;

import io.farheap.lifetime.Closing;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A ZooKeeper that somebody else runs, for a manager with a directory for what is its own. */
public final class OtherZooKeeper implements ZooKeeperHost {

    private final @Nullable DirectoryLock lock;
    private final String connection;

    private OtherZooKeeper(@Nullable DirectoryLock lock, String connection) {
        this.lock = lock;
        this.connection = connection;
    }

    /**
     * Connects to nothing yet.
     *
     * @param directory the manager's, and nobody else's; created where it is not there
     * @param connection host:port of ZooKeeper's servers, separated by commas
     * @throws StateException another has the directory, or it cannot be written
     */
    public static OtherZooKeeper use(Path directory, String connection) {
        return new OtherZooKeeper(DirectoryLock.take(directory), connection);
    }

    /** As {@link #use}, by who needs no directory. */
    static OtherZooKeeper use(String connection) {
        return new OtherZooKeeper(null, connection);
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
        Closing.all(lock);
    }
}
