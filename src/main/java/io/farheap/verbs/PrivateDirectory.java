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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A directory into which only this user and root can have put files, and whose files only they can replace. No other
 * user may write to it, nor to any directory above it, unless that one has the sticky bit (as the temporary directory
 * does), with which a user can remove only files of its own.
 */
final class PrivateDirectory {

    /** Only this user writes; every user may read, such as the user of a container whose image root built. */
    static final FileAttribute<?> READABLE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x"));

    private static final int OTHERS_WRITE = 0002;
    private static final int GROUP_WRITES = 0020;
    private static final int STICKY = 01000;
    private static final int ROOT = 0;
    private static final System.Logger LOG = System.getLogger(PrivateDirectory.class.getName());
    private static final Set<Path> WARNED = ConcurrentHashMap.newKeySet();

    private PrivateDirectory() {}

    /**
     * Creates a directory, and its parents, if they do not exist, with write permission for this user alone, and checks
     * them.
     *
     * @param chosen whether the user has chosen the place: then other users' access to its parents is the user's
     *     responsibility, and is only logged, once
     * @return the directory's path without symbolic links
     * @throws IOException with a message that names the directory and its fault
     */
    static Path require(Path directory, boolean chosen) throws IOException {
        make(directory);
        if (Files.isSymbolicLink(directory)) {
            throw new IOException(directory + " is a symbolic link, and not the directory that this user made");
        }
        Path real = directory.toRealPath();
        int user = Posix.effectiveUser();
        requireClosed(fault(real, user, false));
        for (Path outer = real.getParent(); outer != null; outer = outer.getParent()) {
            String fault = fault(outer, user, true);
            if (!chosen) {
                requireClosed(fault);
            } else if (fault != null && WARNED.add(outer)) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "native code is loaded from " + directory + ", which others can replace: " + fault);
            }
        }
        return real;
    }

    private static void make(Path directory) throws IOException {
        try {
            Files.createDirectories(directory, READABLE);
        } catch (AccessDeniedException e) {
            throw new IOException("cannot make " + directory + ": no permission on " + e.getFile(), e);
        } catch (IOException e) {
            throw new IOException("cannot make " + directory + ": " + e.getMessage(), e);
        }
    }

    private static void requireClosed(@Nullable String fault) throws IOException {
        if (fault != null) {
            throw new IOException(fault);
        }
    }

    /** Returns the reason why other users can change its content, or null. */
    private static @Nullable String fault(Path directory, int user, boolean sticky) throws IOException {
        Map<String, Object> found = Files.readAttributes(directory, "unix:mode,uid", LinkOption.NOFOLLOW_LINKS);
        int owner = (int) Objects.requireNonNull(found.get("uid"));
        int mode = (int) Objects.requireNonNull(found.get("mode"));
        if (owner != user && owner != ROOT) {
            return directory + " belongs to user " + owner + ", who could change its content, and not to user " + user;
        }
        boolean shared = (mode & OTHERS_WRITE) != 0 || (mode & GROUP_WRITES) != 0 && !isOwnGroup(directory);
        if (shared && !(sticky && (mode & STICKY) != 0)) {
            return "others than user " + user + " may write to " + directory + " (its mode is "
                    + Integer.toOctalString(mode & 07777) + "; chmod go-w closes it)";
        }
        return null;
    }

    /**
     * Whether the group is the owner's own: many systems give each user a group of the same name with write permission.
     */
    private static boolean isOwnGroup(Path directory) throws IOException {
        PosixFileAttributes attributes =
                Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        return attributes.group().getName().equals(attributes.owner().getName());
    }
}
