package io.farheap.verbs;

import org.bytedeco.javacpp.Loader;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * Native libraries that travel beside the classes, as files in JavaCPP's cache. JavaCPP takes a file there for the right one by its size and time, which two
 * builds of a version may have in common: here its bytes decide.
 */
final class EmbeddedLibrary {

    private EmbeddedLibrary() {
    }

    /**
     * @param name of the file
     * @return the file, or null where there is none for this platform
     */
    static synchronized File file(String name) throws IOException {
        String resource = "/io/farheap/verbs/" + Loader.getPlatform() + "/" + name;
        // Processes that start together would replace each other's; JavaCPP's own lock may not be taken around it.
        try (FileChannel channel = FileChannel.open(Loader.getCacheDir().toPath().resolve("farheap.lock"), CREATE, WRITE); var _ = channel.lock()) {
            File file = Loader.cacheResource(VerbsLibrary.class, resource);
            if (file == null || isCopy(file.toPath(), resource)) {
                return file;
            }
            Files.setLastModifiedTime(file.toPath(), FileTime.fromMillis(0));
            return Loader.cacheResource(VerbsLibrary.class, resource);
        }
    }

    private static boolean isCopy(Path file, String resource) throws IOException {
        try (InputStream original = VerbsLibrary.class.getResourceAsStream(resource)) {
            return Arrays.equals(original.readAllBytes(), Files.readAllBytes(file));
        }
    }
}
