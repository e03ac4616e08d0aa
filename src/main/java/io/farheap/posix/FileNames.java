package io.farheap.posix;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Names of files, which are bytes to the kernel. The JVM encodes and decodes them by the locale. A name that does not
 * survive this would name another file, which would then be created, so it is refused. Any thread may call.
 */
public final class FileNames {

    private static final char REPLACEMENT = '\uFFFD';
    private static final Charset CHARSET = charset();

    private FileNames() {}

    private static Charset charset() {
        String name = System.getProperty("sun.jnu.encoding", "");
        return Charset.isSupported(name) ? Charset.forName(name) : StandardCharsets.UTF_8;
    }

    /**
     * A path that has been {@linkplain #require required}.
     *
     * @throws IllegalArgumentException as {@link #require} says
     */
    public static Path of(String name) {
        // Path.of's message is less helpful.
        requireKept("the file name ", name);
        Path path = Path.of(name);
        require(path);
        return path;
    }

    /**
     * The home directory of this process's user.
     *
     * @throws IllegalArgumentException if there is none, or its name cannot be represented in this locale
     */
    public static Path home() {
        String name = System.getProperty("user.home", "");
        requireKept("the home directory ", name);
        Path home = Path.of(name);
        if (!home.isAbsolute()) {
            throw new IllegalArgumentException("this user has no home directory; set HOME");
        }
        return home;
    }

    /**
     * Checks a path before a file is created there.
     *
     * @throws IllegalArgumentException if its name, or that of the working directory if it is relative, cannot be
     *     represented in this locale
     */
    public static void require(Path path) {
        if (!path.isAbsolute()) {
            requireKept("the working directory ", System.getProperty("user.dir", ""));
        }
        requireKept("the file name ", path.toString());
    }

    private static void requireKept(String what, String name) {
        if (name.indexOf(REPLACEMENT) >= 0 || !CHARSET.newEncoder().canEncode(name)) {
            throw new IllegalArgumentException(
                    what + name + " has characters that file names do not have in this locale, of " + CHARSET
                            + "; set LC_ALL=C.UTF-8, or use a name that is ASCII");
        }
    }

    /**
     * The name for native code: the bytes that {@code java.nio.file} passes to the kernel, and a zero.
     *
     * @throws IllegalArgumentException as {@link #require}
     */
    public static byte[] terminated(Path path) {
        require(path);
        byte[] name = path.toAbsolutePath().toString().getBytes(CHARSET);
        byte[] terminated = new byte[name.length + 1];
        System.arraycopy(name, 0, terminated, 0, name.length);
        return terminated;
    }
}
