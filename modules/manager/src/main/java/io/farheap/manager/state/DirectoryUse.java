package io.farheap.manager.state;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What a manager's directory has below it. It is of one kind, for good. */
enum DirectoryUse {
    /** One manager's own ZooKeeper. */
    ALONE("zookeeper", "--data alone"),
    /** A member of an ensemble. */
    ENSEMBLE("ensemble", "--ensemble");

    private static final String MOVED = "moved";

    private final String name;
    private final String option;

    DirectoryUse(String name, String option) {
        this.name = name;
        this.option = option;
    }

    /** Where ZooKeeper's files are. */
    Path files(Path directory) {
        return directory.resolve(name);
    }

    /** @throws StateException it is used otherwise, or its state is elsewhere now */
    void require(Path directory) {
        Path moved = directory.resolve(MOVED);
        if (Files.exists(moved)) {
            throw new StateException(
                    "the state of " + directory + " was copied to " + read(moved) + ", which is what counts now: start "
                            + "the manager on that, or remove the file " + moved + " to go back to what is old");
        }
        for (DirectoryUse other : values()) {
            if (other != this && Files.exists(other.files(directory))) {
                throw new StateException("the directory " + directory + " is that of a manager with " + other.option
                        + ", not with " + option
                        + ": start it as that, or bring its state elsewhere with farheap manager copy");
            }
        }
    }

    /** It does not start again: its state is elsewhere. */
    static void moved(Path directory, String to) {
        try {
            Files.writeString(directory.resolve(MOVED), to);
        } catch (IOException e) {
            throw new StateException(
                    "cannot mark the directory " + directory + " as copied to " + to + " (" + e
                            + "): remove it, so that no manager starts on it",
                    e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "another place";
        }
    }
}
