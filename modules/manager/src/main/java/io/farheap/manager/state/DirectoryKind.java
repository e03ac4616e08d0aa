package io.farheap.manager.state;

import java.nio.file.Files;
import java.nio.file.Path;

/** The kind of ZooKeeper files in a manager's directory. A directory is of one kind, for good. */
enum DirectoryKind {
    /** The files of one manager's own ZooKeeper. */
    ALONE("zookeeper", "--data alone"),
    /** The files of a member of an ensemble. */
    ENSEMBLE("ensemble", "--ensemble");

    private final String name;
    private final String option;

    DirectoryKind(String name, String option) {
        this.name = name;
        this.option = option;
    }

    /** Returns the directory of ZooKeeper's files. */
    Path files(Path directory) {
        return directory.resolve(name);
    }

    /** Whether ZooKeeper has ever run on it in this way. */
    boolean begun(Path directory) {
        return Files.isDirectory(files(directory).resolve("version-2"));
    }

    /** @throws StateException if it is of the other kind */
    void require(Path directory) {
        for (DirectoryKind other : values()) {
            if (other != this && Files.exists(other.files(directory))) {
                throw new StateException("the directory " + directory + " is that of a manager with " + other.option
                        + ", not with " + option
                        + ": start it as that, or bring its state elsewhere with farheap manager copy");
            }
        }
    }
}
