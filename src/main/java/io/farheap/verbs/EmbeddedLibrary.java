package io.farheap.verbs;

import io.farheap.posix.FileNames;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Native libraries that travel beside the classes, extracted to files. JavaCPP's own cache recognises a file by its
 * size and time, shares it among all jars of a name, and falls back to a directory that another user may have made
 * first. Here each library is in a directory named by the hash of its content, so that processes of different builds
 * use different files, and {@linkplain PrivateDirectory no other user can write to it}, so that the loaded file is the
 * one that was compared. Each class loader of a process that has these classes, such as each deployment in a container,
 * uses a file of its own.
 */
final class EmbeddedLibrary {

    /** The property that sets JavaCPP's cache directory, which also holds these files. */
    static final String PROPERTY = "org.bytedeco.javacpp.cachedir";

    private static final String PREFIX = "farheap-";
    private static final int NAME_BYTES = 16;
    /** Matches no directory of JavaCPP's for a jar whose name begins alike. */
    private static final Pattern NAME = Pattern.compile(PREFIX + "[0-9a-f]{" + 2 * NAME_BYTES + "}");

    private static final Duration KEPT = Duration.ofDays(30);

    private EmbeddedLibrary() {}

    /**
     * Returns the library as a file, and writes the file if it does not exist.
     *
     * @param beside a class that was loaded from the same place
     * @param resource its path there, without a leading slash
     * @param copy number of the copy: a JVM loads a file for one class loader alone, so several files may have the same
     *     bytes
     * @return null if there is no such resource
     * @throws IOException with a message that names the directory that cannot be used
     */
    static @Nullable Path file(Class<?> beside, String resource, int copy) throws IOException {
        byte[] content;
        // Asked of the class loader: on the module path JavaCPP's native code is in a module of its own.
        try (InputStream stream = beside.getClassLoader().getResourceAsStream(resource)) {
            if (stream == null) {
                return null;
            }
            content = stream.readAllBytes();
        }
        Path directory =
                PrivateDirectory.require(cache().resolve(PREFIX + name(content)), System.getProperty(PROPERTY) != null);
        String name = Path.of(resource).getFileName().toString();
        Path file = directory.resolve(copy == 0 ? name : name.replaceFirst("\\.so$", "-" + copy + ".so"));
        if (isCopy(file, content)) {
            use(directory);
        } else {
            write(file, content);
            forgetOthers(directory);
        }
        return file;
    }

    /**
     * Marks a directory as used, so that it is not deleted, if this user may; a read-only one in an image stays anyway.
     */
    private static void use(Path directory) {
        try {
            Files.setLastModifiedTime(directory, FileTime.from(Instant.now()));
        } catch (IOException e) {
            // It is another user's, or cannot be written.
        }
    }

    /**
     * Deletes directories of other builds that have not been used for long. Loaded libraries stay loaded. A failure to
     * delete is ignored.
     */
    private static void forgetOthers(Path current) {
        Instant longAgo = Instant.now().minus(KEPT);
        try (DirectoryStream<Path> directories = Files.newDirectoryStream(current.getParent(), PREFIX + "*")) {
            for (Path directory : directories) {
                if (NAME.matcher(directory.getFileName().toString()).matches()) {
                    forgetUnusedSince(longAgo, directory);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // The next build tries again.
        }
    }

    private static void forgetUnusedSince(Instant longAgo, Path directory) {
        try {
            if (Files.getLastModifiedTime(directory, LinkOption.NOFOLLOW_LINKS)
                    .toInstant()
                    .isBefore(longAgo)) {
                delete(directory);
            }
        } catch (IOException | DirectoryIteratorException e) {
            // Another process is deleting it, or it contains other files.
        }
    }

    private static void delete(Path directory) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        }
        Files.deleteIfExists(directory);
    }

    /** The directory for libraries: JavaCPP's cache, without JavaCPP's fallback. */
    static Path cache() throws IOException {
        String chosen = System.getProperty(PROPERTY);
        try {
            if (chosen == null) {
                return FileNames.home().resolve(".javacpp").resolve("cache");
            }
            return FileNames.of(chosen).toAbsolutePath();
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static String name(byte[] content) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(content);
            return HexFormat.of().formatHex(hash, 0, NAME_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JDK has no SHA-256", e);
        }
    }

    private static boolean isCopy(Path file, byte[] content) {
        try {
            return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                    && Arrays.equals(content, Files.readAllBytes(file));
        } catch (IOException e) {
            // This user may not read it.
            return false;
        }
    }

    /**
     * Writes to a temporary name first and renames: another process may have the file mapped, or be about to load it.
     */
    private static void write(Path file, byte[] content) throws IOException {
        try {
            Path fresh = Files.createTempFile(
                    file.getParent(), file.getFileName().toString(), ".new", PrivateDirectory.READABLE);
            try {
                Files.write(fresh, content);
                Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
            } catch (Throwable e) {
                Files.deleteIfExists(fresh);
                throw e;
            }
        } catch (FileSystemException e) {
            String reason = e.getReason();
            throw new IOException(
                    "cannot write " + file + ", which does not have this build's content: "
                            + (reason == null ? "no permission" : reason),
                    e);
        }
    }
}
