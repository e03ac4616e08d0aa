package io.farheap.verbs;

import io.farheap.posix.Posix;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Objects;

/**
 * A directory whose files nobody but this user, and root, can have put there or can replace: neither may others write
 * to it, nor to any directory that it is in, unless that lets everybody remove only what is theirs (the sticky bit, as
 * the temporary directory has it).
 */
final class PrivateDirectory {

    private static final FileAttribute<?> CLOSED =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final int OTHERS_WRITE = 0002;
    private static final int GROUP_WRITES = 0020;
    private static final int STICKY = 01000;
    private static final int ROOT = 0;

    private PrivateDirectory() {}

    /**
     * Makes a directory where there is none, and what it is in, for this user alone.
     *
     * @return the same without symbolic links
     * @throws IOException whose message says what is wrong with which directory
     */
    static Path require(Path directory) throws IOException {
        make(directory);
        if (Files.isSymbolicLink(directory)) {
            throw new IOException(directory + " is a symbolic link, which is not what this user made");
        }
        Path real = directory.toRealPath();
        int user = Posix.effectiveUser();
        check(real, user, user, false);
        for (Path outer = real.getParent(); outer != null; outer = outer.getParent()) {
            check(outer, user, ROOT, true);
        }
        return real;
    }

    private static void make(Path directory) throws IOException {
        try {
            Files.createDirectories(directory, CLOSED);
        } catch (AccessDeniedException e) {
            throw new IOException("cannot make " + directory + ": no permission on " + e.getFile(), e);
        } catch (IOException e) {
            throw new IOException("cannot make " + directory + ": " + e.getMessage(), e);
        }
    }

    private static void check(Path directory, int user, int otherUser, boolean sticky) throws IOException {
        Map<String, Object> found = Files.readAttributes(directory, "unix:mode,uid", LinkOption.NOFOLLOW_LINKS);
        int owner = (int) Objects.requireNonNull(found.get("uid"));
        int mode = (int) Objects.requireNonNull(found.get("mode"));
        if (owner != user && owner != otherUser) {
            throw new IOException(directory + " belongs to user " + owner
                    + ", who could change what is in it, and not to user " + user);
        }
        boolean shared = (mode & OTHERS_WRITE) != 0 || (mode & GROUP_WRITES) != 0 && !isOwnGroup(directory);
        if (shared && !(sticky && (mode & STICKY) != 0)) {
            throw new IOException("others than user " + user + " may write to " + directory + " (its mode is "
                    + Integer.toOctalString(mode & 07777) + "; chmod go-w closes it)");
        }
    }

    /** Many systems give each user a group of the same name, and let it write to what the user makes. */
    private static boolean isOwnGroup(Path directory) throws IOException {
        PosixFileAttributes attributes =
                Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        return attributes.group().getName().equals(attributes.owner().getName());
    }
}
