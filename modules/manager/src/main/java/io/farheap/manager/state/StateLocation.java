package io.farheap.manager.state;

import io.farheap.posix.FileNames;
import java.nio.file.Path;
import java.util.stream.Collectors;

/** Where managers keep a state. {@code toString} is for people, and always the same for one place. */
public sealed interface StateLocation {

    /**
     * Starts the part of its ZooKeeper that runs in this process.
     *
     * @throws StateException if other managers have it, or it cannot be used
     */
    ZooKeeperHost start();

    /**
     * Checks that a manager has been here. Called before {@link #start}, which creates what is missing.
     *
     * @throws StateException if there has never been a manager
     */
    void requireBegun();

    /** Returns how an operator can empty it. */
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
     * The directory of a manager that is a member of an ensemble of managers.
     *
     * @param directory of one of them
     * @param id of the same member
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
     * A ZooKeeper that operators run elsewhere.
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
            // The nodes in it show whether there was a manager.
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
