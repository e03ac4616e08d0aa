package io.farheap.measure;

import io.farheap.posix.FileNames;
import io.farheap.slo.ModelFile;
import io.farheap.slo.ModelSubject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * The directory of this user's models, with one file for each subject, so that later commands find a measured model.
 */
public final class ModelStore {

    private ModelStore() {}

    /**
     * The file of a subject, in {@code ~/.cache/farheap/models}; creates that directory.
     *
     * @throws UncheckedIOException if it cannot be created
     */
    public static Path file(ModelSubject subject) {
        Path directory = FileNames.home().resolve(".cache").resolve("farheap").resolve("models");
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot create " + directory + ", where performance models are kept; name a file with --file", e);
        }
        return directory.resolve(name(subject));
    }

    /**
     * A name with the main parts of a subject and a checksum of all of it, so that different subjects have different
     * names.
     */
    static String name(ModelSubject subject) {
        CRC32C checksum = new CRC32C();
        checksum.update(subject.toString().getBytes(StandardCharsets.UTF_8));
        String device = subject.device().replaceAll("[^A-Za-z0-9]+", "-").replaceAll("^-|-$", "");
        return (device.length() > 60 ? device.substring(0, 60) : device) + "-" + subject.recordBytes() + "b-"
                + subject.readPercent() + "r-" + subject.clientCores() + "c-"
                + String.format("%08x", checksum.getValue()) + ".v" + ModelFile.VERSION;
    }
}
