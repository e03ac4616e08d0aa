package io.farheap.manager.state;

import io.farheap.posix.FileNames;
import java.nio.file.Path;
import java.util.stream.Collectors;

/** Where managers keep a state. {@code toString} is for people, and for one place it is always the same. */
public sealed interface StateLocation {

    /**
     * Starts what of its ZooKeeper is in this process.
     *
     * @throws StateException others have it, or it cannot be used
     */
    ZooKeeperHost start();

    /**
     * Before it is started, which makes what is not there.
     *
     * @throws StateException there has never been a manager
     */
    void requireBegun();

    /** How an operator makes it empty. */
    String emptied();

    /** A manager's own ZooKeeper. */
    record StandaloneLocation(Path directory) implements StateLocation {

        public StandaloneLocation {
            FileNames.require(directory);
            directory = directory.toAbsolutePath().normalize();
        }

        @Override
        public ZooKeeperHost start() {
            return EmbeddedZooKeeper.start(directory);
        }

        @Override
        public void requireBegun() {
            if (!DirectoryKind.ALONE.begun(directory)) {
                DirectoryKind.ALONE.require(directory);
                throw new StateException("no manager was ever on " + this + ": name the --data of the one that was");
            }
        }

        @Override
        public String emptied() {
            return "name another directory";
        }

        @Override
        public String toString() {
            return "the directory " + directory;
        }
    }

    /**
     * Managers that are the ensemble themselves.
     *
     * @param directory of one of them
     * @param id of the same
     */
    record EnsembleLocation(Path directory, int id, Ensemble ensemble) implements StateLocation {

        public EnsembleLocation {
            FileNames.require(directory);
            directory = directory.toAbsolutePath().normalize();
        }

        @Override
        public ZooKeeperHost start() {
            return EnsembleMember.start(directory, id, ensemble);
        }

        @Override
        public void requireBegun() {
            if (!DirectoryKind.ENSEMBLE.begun(directory)) {
                DirectoryKind.ENSEMBLE.require(directory);
                throw new StateException("no member of an ensemble was ever on the directory " + directory
                        + ": name the --data of the one that was");
            }
        }

        @Override
        public String emptied() {
            return "stop all of its managers and give each another directory";
        }

        @Override
        public String toString() {
            return "the ensemble "
                    + ensemble.peers().entrySet().stream()
                            .map(peer -> peer.getKey() + "@" + peer.getValue())
                            .collect(Collectors.joining(","));
        }
    }

    /**
     * A ZooKeeper that somebody else runs.
     *
     * @param connection host:port of its servers, separated by commas
     */
    record ExternalLocation(String connection) implements StateLocation {

        @Override
        public ZooKeeperHost start() {
            return ExternalZooKeeper.use(connection);
        }

        @Override
        public void requireBegun() {
            // Its nodes say it.
        }

        @Override
        public String emptied() {
            return "delete " + NodePaths.ROOT + " there with ZooKeeper's zkCli (deleteall " + NodePaths.ROOT + ")";
        }

        @Override
        public String toString() {
            return "the ZooKeeper at " + connection;
        }
    }
}
