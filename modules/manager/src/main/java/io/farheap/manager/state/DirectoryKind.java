package io.farheap.manager.state;

import java.nio.file.Files;
import java.nio.file.Path;

/** What a manager's directory has below it. It is of one kind, for good. */
enum DirectoryKind {
    /** One manager's own ZooKeeper. */
    ALONE("zookeeper", "--data alone"),
    /** A member of an ensemble. */
    ENSEMBLE("ensemble", "--ensemble");

    private final String name;
    private final String option;

    DirectoryKind(String name, String option) {
        this.name = name;
        this.option = option;
    }

    /** Where ZooKeeper's files are. */
    Path files(Path directory) {
        return directory.resolve(name);
    }

    /** Whether ZooKeeper has ever run on it so. */
    boolean begun(Path directory) {
        return Files.isDirectory(files(directory).resolve("version-2"));
    }

    /** @throws StateException it is used otherwise */
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
