package io.farheap.command;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A file that a command writes at its end. */
public final class OutputFile {

    private OutputFile() {}

    /**
     * Checks before the command runs, and not after it, that the file can be written.
     *
     * @param option that names it
     * @param file or null if it is not asked for
     * @throws IllegalArgumentException with the reason why it cannot be written
     */
    public static void check(String option, @Nullable Path file) {
        if (file == null) {
            return;
        }
        if (Files.isDirectory(file)) {
            throw new IllegalArgumentException(option + " " + file + ": it is a directory; name a file in it");
        }
        Path directory = file.toAbsolutePath().getParent();
        if (Files.exists(file) ? !Files.isWritable(file) : directory != null && !Files.isWritable(directory)) {
            throw new IllegalArgumentException(option + " " + file + ": cannot write to "
                    + (Files.exists(file) ? "it" : "directory " + directory));
        }
    }
}
