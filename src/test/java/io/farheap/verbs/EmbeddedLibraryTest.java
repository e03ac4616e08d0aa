package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.farheap.posix.Posix;
import io.farheap.testing.Effort;
import io.farheap.testing.Elf;
import io.farheap.testing.SoftJvm;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files from which native code is loaded. Each case is a JVM of its own: a process loads its libraries once. */
class EmbeddedLibraryTest {

    private static final String REMEDY =
            "set -Dorg.bytedeco.javacpp.cachedir= to a directory that belongs to this user and that no other user may write to";

    private static final String REFUSED = "refused cannot extract libjnijavacpp.so (";

    /** Opens softverbs, and prints the mapped files of Farheap's and JavaCPP's native code. */
    static final class Loaded {
        private Loaded() {}

        public static void main(String[] arguments) throws IOException {
            try {
                Devices.list();
            } catch (VerbsException e) {
                System.out.println("refused " + e.getMessage());
                return;
            }
            try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
                maps.filter(line -> line.matches(".*/lib(jni|farheap_|softverbs).*"))
                        .map(line -> line.substring(line.indexOf('/')))
                        .distinct()
                        .forEach(System.out::println);
            }
        }
    }

    /** Like two deployments in a container: the same classes in class loaders that do not know each other. */
    static final class TwiceLoaded {
        /** Kept, because the JVM unloads the libraries of a class loader that it collects. */
        private static final List<ClassLoader> LOADERS = new ArrayList<>();

        private TwiceLoaded() {}

        public static void main(String[] arguments) throws Exception {
            List<URL> all = new ArrayList<>();
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                all.add(Path.of(entry).toUri().toURL());
            }
            ClassLoader platform = ClassLoader.getPlatformClassLoader();
            for (int i = 0; i < 3; i++) {
                run(new URLClassLoader(all.toArray(URL[]::new), platform));
            }
            URL[] javacpp = all.stream()
                    .filter(url -> url.getPath().contains("javacpp"))
                    .toArray(URL[]::new);
            all.removeAll(List.of(javacpp));
            run(new URLClassLoader(all.toArray(URL[]::new), new URLClassLoader(javacpp, platform)));
            Loaded.main(arguments);
        }

        private static void run(ClassLoader loader) throws Exception {
            LOADERS.add(loader);
            loader.loadClass(Opened.class.getName())
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) new String[0]);
        }
    }

    /** Registers memory, makes a queue pair, and prints that it did. */
    public static final class Opened {
        private Opened() {}

        public static void main(String[] arguments) throws Exception {
            try (ConnectedPair pair = ConnectedPair.connect("soft0", "soft0", 4096)) {
                pair.prepare(0, SendRequests.WRITE, SendRequests.SIGNALED, 0, 8, 8);
                System.out.println("wrote " + pair.post(0) + " " + (pair.await(0) == WcStatus.SUCCESS));
            } catch (VerbsException e) {
                System.out.println("refused " + e.getMessage());
            }
        }
    }

    @TempDir
    private Path directory;

    private Path cache;
    private Path temporary;

    @BeforeEach
    void make() throws IOException {
        cache = directory.resolve("cache");
        temporary = Files.createDirectory(directory.resolve("tmp"));
    }

    @Test
    void classesThatAreNotInAJarNeedNoCopyThatNobodyLoads() throws Exception {
        onlyWhatIsLoadedIsThere(classPath());
    }

    @Test
    void classesInAJarNeither() throws Exception {
        onlyWhatIsLoadedIsThere(jar("one", 0));
    }

    @Test
    void buildsWhoseJarsHaveOneNameShareNoFile() throws Exception {
        Set<Path> one = loaded(jar("one", 0));
        Set<Path> other = loaded(jar("other", 1));
        for (String library : new String[] {"libsoftverbs.so", "libfarheap_binding.so"}) {
            assertNotEquals(find(one, library), find(other, library));
            assertEquals(Files.size(find(one, library)) + 1, Files.size(find(other, library)));
        }
        assertEquals(one, loaded(jar("one", 0)));
    }

    /** Size and time are the same, so JavaCPP would keep the file. A process that has mapped it keeps its bytes. */
    @Test
    void aFileWithOtherBytesIsReplacedAndNotWrittenTo() throws Exception {
        Set<Path> before = loaded(classPath());
        Map<Path, byte[]> contents = new HashMap<>();
        for (Path library : before) {
            contents.put(library, Files.readAllBytes(library));
            FileTime time = Files.getLastModifiedTime(library);
            Files.write(library, new byte[(int) Files.size(library)]);
            Files.setLastModifiedTime(library, time);
            Files.createLink(directory.resolve(library.getFileName()), library);
        }
        assertEquals(before, loaded(classPath()));
        for (Path library : before) {
            assertArrayEquals(contents.get(library), Files.readAllBytes(library));
            Path old = directory.resolve(library.getFileName());
            assertArrayEquals(new byte[contents.get(library).length], Files.readAllBytes(old));
        }
        assertEquals(before, libraries(), "files are left over");
    }

    @Test
    void aHomeThatCannotBeWrittenIsNoReasonToUseTheTemporaryDirectory() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        String output = run(classPath(), "-Duser.home=" + file);
        assertTrue(output.startsWith(REFUSED + "cannot make " + file + "/.javacpp/cache/farheap-"), output);
        assertTrue(output.endsWith(REMEDY), output);
        assertEquals(Set.of(), entries(temporary));
        onlyWhatIsLoadedIsThere(classPath(), "-Duser.home=" + file);
    }

    @Test
    void nobodyElseMayHaveMadeWhatIsLoaded() throws Exception {
        Set<Path> before = loaded(classPath());
        Path own = find(before, "libjnijavacpp.so").getParent();
        refusedWithMode("rwxrwxrwx", own);
        // A directory that the user has named is used; one warning says that others can replace it.
        for (Path place : Effort.variants(1, directory, cache).toList()) {
            Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwx----w-"));
            String output = raw(Loaded.class, classPath(), "-Dorg.bytedeco.javacpp.cachedir=" + cache);
            Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwx------"));
            String warning = ", which others can replace: others than user " + Posix.effectiveUser() + " may write to "
                    + place + " (its mode is 702; ";
            assertEquals(2, output.split(Pattern.quote(warning), -1).length, output);
            assertTrue(output.contains(own + "/libjnijavacpp.so"), output);
        }
        Path elsewhere = directory.resolve("elsewhere");
        Files.move(own, elsewhere);
        Files.createSymbolicLink(own, elsewhere);
        String output = output(classPath());
        assertTrue(output.startsWith(REFUSED + "" + own + " is a symbolic link"), output);
        Files.delete(own);
        assertEquals(before, loaded(classPath()));
    }

    /** If the user names no directory, the library is below the home, and it is refused if others may write there. */
    @Test
    void nobodyElseMayReplaceTheHomesDirectory() throws Exception {
        Path home = Files.createDirectory(directory.resolve("home"));
        Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwx----w-"));
        String output = run(classPath(), "-Duser.home=" + home);
        assertTrue(
                output.startsWith(
                        REFUSED + "others than user " + Posix.effectiveUser() + " may write to " + home + " "),
                output);
        assertTrue(output.endsWith(REMEDY), output);
    }

    @Test
    void classLoadersHaveCopiesOfTheirOwn() throws Exception {
        String output = run(TwiceLoaded.class, classPath(), "-Dorg.bytedeco.javacpp.cachedir=" + cache);
        List<String> lines = output.lines().toList();
        assertEquals(List.of("wrote 0 true", "wrote 0 true", "wrote 0 true"), lines.subList(0, 3), output);
        assertTrue(lines.get(3).startsWith("refused JavaCPP is in another class loader than Farheap"), output);
        Set<String> names = lines.stream()
                .skip(4)
                .map(line -> Path.of(line).getFileName().toString())
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> expected = new TreeSet<>(Set.of("libsoftverbs.so"));
        for (String copy : List.of("", "-1", "-2", "-3")) {
            expected.addAll(List.of("libjnijavacpp" + copy + ".so", "libfarheap_binding" + copy + ".so"));
        }
        assertEquals(expected, names, output);
    }

    private void refusedWithMode(String mode, Path place) throws Exception {
        Files.setPosixFilePermissions(place, PosixFilePermissions.fromString(mode));
        String output = output(classPath());
        Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwx------"));
        String refusal = REFUSED + "others than user " + Posix.effectiveUser() + " may write to " + place + " ";
        assertTrue(output.startsWith(refusal), output);
        assertTrue(output.endsWith(REMEDY), output);
    }

    @Test
    void aDirectoryOfAnotherUserIsNotUsed() throws Exception {
        assumeTrue(Posix.effectiveUser() == 0, "needs root, who can give files away");
        Path own = find(loaded(classPath()), "libsoftverbs.so").getParent();
        Files.setAttribute(own, "unix:uid", 1);
        String output = output(classPath());
        Files.setAttribute(own, "unix:uid", 0);
        assertTrue(output.startsWith("refused cannot extract lib"), output);
        assertTrue(output.contains("(" + own + " belongs to user 1, "), output);
        assertTrue(output.endsWith(REMEDY), output);
        Files.setAttribute(cache, "unix:uid", 1);
        output = raw(Loaded.class, classPath(), "-Dorg.bytedeco.javacpp.cachedir=" + cache);
        Files.setAttribute(cache, "unix:uid", 0);
        assertTrue(output.contains("which others can replace: " + cache + " belongs to user 1, "), output);
    }

    /** As in an image: the libraries were extracted when it was built, and nothing can be written when it runs. */
    @Test
    void whatIsExtractedServesFromAReadOnlyRoot() throws Exception {
        String jar = jar("image", 0);
        Set<Path> extracted = loaded(jar);
        assertEquals(extracted, loadedReadOnly(List.of(), jar));
    }

    /** Root has extracted the libraries, and another user runs them. */
    @Test
    void whatRootHasExtractedServesAnotherUser() throws Exception {
        assumeTrue(Posix.effectiveUser() == 0, "needs root, who can become another user");
        Set<Path> extracted = loaded(classPath());
        for (Path library : extracted) {
            for (Path made = library; !made.equals(directory); made = made.getParent()) {
                assertEquals(
                        "rwxr-xr-x",
                        PosixFilePermissions.toString(Files.getPosixFilePermissions(made)),
                        made.toString());
            }
        }
        // The other user may read all files that are not Farheap's, such as those of this test.
        List<String> other = List.of(
                "setpriv",
                "--reuid=1000",
                "--regid=1000",
                "--clear-groups",
                "--inh-caps=+dac_read_search",
                "--ambient-caps=+dac_read_search");
        assertEquals(extracted, loadedReadOnly(other, classPath()));
        // The message names a missing file, which this user cannot write.
        Path lost = find(extracted, "libsoftverbs.so");
        Files.delete(lost);
        String output = raw(other, Loaded.class, classPath(), "-Dorg.bytedeco.javacpp.cachedir=" + cache);
        assertEquals(
                "refused cannot extract libsoftverbs.so (cannot write " + lost
                        + ", which does not have this build's content: no permission); " + REMEDY,
                output.strip());
    }

    /** The libraries that are loaded if the cache is read-only and there is no other place to write to. */
    private Set<Path> loadedReadOnly(List<String> user, String classPath) throws Exception {
        String mount = "mount --bind " + cache + " " + cache + " && mount -o remount,bind,ro " + cache;
        assumeTrue(
                new ProcessBuilder("unshare", "-m", "sh", "-c", mount).start().waitFor() == 0,
                "needs root, who can mount a file system");
        List<String> shell = new ArrayList<>(List.of("unshare", "-m", "sh", "-c", mount + " && exec \"$@\"", "sh"));
        shell.addAll(user);
        return raw(
                        shell,
                        Loaded.class,
                        classPath,
                        "-Dorg.bytedeco.javacpp.cachedir=" + cache,
                        "-Djava.io.tmpdir=/proc",
                        "-Duser.home=/proc")
                .lines()
                .filter(line -> !line.startsWith("WARNING"))
                .map(Path::of)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void aFileSystemThatExecutesNothingIsNamed() throws Exception {
        Files.createDirectory(cache);
        String mount = "mount -t tmpfs -o noexec,mode=700 none " + cache;
        assumeTrue(
                new ProcessBuilder("unshare", "-m", "sh", "-c", mount).start().waitFor() == 0,
                "needs root, who can mount a file system");
        String output = raw(
                List.of("unshare", "-m", "sh", "-c", mount + " && exec \"$@\"", "sh"),
                Loaded.class,
                classPath(),
                "-Dorg.bytedeco.javacpp.cachedir=" + cache);
        assertTrue(output.startsWith("refused cannot load Farheap's native binding for linux-x86_64 ("), output);
        assertTrue(
                output.strip()
                        .endsWith(
                                "is its file system mounted noexec? Set -Dorg.bytedeco.javacpp.cachedir= to a directory "
                                        + "of a file system that is not"),
                output);
    }

    @Test
    void whatNobodyHasUsedForLongIsForgotten() throws Exception {
        Files.createDirectories(cache);
        Path young = unusedFor(1, "0");
        Path old = unusedFor(60, "f");
        // A directory as JavaCPP makes it for such a jar, which is not Farheap's to delete.
        Path jar = Files.createDirectory(cache.resolve("farheap-1.jar"));
        Files.createDirectories(jar.resolve("org/bytedeco"));
        Path kept = Files.createDirectory(unusedFor(60, "a").resolve("kept"));
        Files.createFile(kept.resolve("by somebody"));
        for (Path unused : List.of(jar, kept.getParent())) {
            Files.setLastModifiedTime(unused, FileTime.from(Instant.now().minus(Duration.ofDays(60))));
        }
        Set<Path> first = loaded(classPath());
        assertFalse(Files.exists(old));
        assertTrue(Files.exists(young));
        assertTrue(Files.exists(jar.resolve("org/bytedeco")));
        for (Path library : first) {
            Files.setLastModifiedTime(
                    library.getParent(), FileTime.from(Instant.now().minus(Duration.ofDays(60))));
        }
        // A process uses all the directories of its libraries, and so keeps all of them, however old they are.
        Files.delete(find(first, "libsoftverbs.so"));
        assertEquals(first, loaded(classPath()));
    }

    @Test
    void whatIsShippedLoadsOnTheOldestSystemThatIsPromised() throws Exception {
        Matcher promise = Pattern.compile("glibc ([0-9.]+) or newer").matcher(Files.readString(Path.of("README.md")));
        assertTrue(promise.find());
        assertEquals("glibc " + promise.group(1), Posix.OLDEST_GLIBC);
        for (String library : List.of("libsoftverbs.so", "libfarheap_binding.so")) {
            SortedSet<String> needed = Elf.glibcVersions(embedded("io/farheap/verbs/linux-x86_64/" + library));
            assertTrue(Elf.VERSIONS.compare(needed.last(), promise.group(1)) <= 0, library + " needs " + needed);
        }
    }

    /** JavaCPP's own library needs a newer system; a system that is too old for it loads Farheap's instead. */
    @Test
    void aSystemThatIsTooOldForJavacppsLibraryLoadsFarheaps() throws Exception {
        String resource = "org/bytedeco/javacpp/linux-x86_64/libjnijavacpp.so";
        String classPath = needingGlibc9(resource);
        assertEquals("wrote 0 true", run(Opened.class, classPath, "-Dorg.bytedeco.javacpp.cachedir=" + cache));
        Set<Path> loaded = loaded(classPath);
        assertEquals(2, loaded.size(), loaded.toString());
        for (String library : List.of("libsoftverbs.so", "libfarheap_binding.so")) {
            // JavaCPP's own search would end in a directory that other users may have made.
            assertEquals(
                    cache,
                    find(loaded, library).getParent().getParent(),
                    "loaded from elsewhere than Farheap's directories");
        }
    }

    @Test
    void aSystemThatIsTooOldIsToldWhatTheLoaderSays() throws Exception {
        String output = output(needingGlibc9("io/farheap/verbs/linux-x86_64/libfarheap_binding.so"));
        assertTrue(output.startsWith("refused cannot load Farheap's native binding for linux-x86_64 ("), output);
        assertTrue(output.contains("libc.so.6: version `GLIBC_9."), output);
        assertTrue(
                output.endsWith("this system's C library is older than glibc 2.27, the oldest that Farheap runs on"),
                output);
        output = output(needingGlibc9("io/farheap/verbs/linux-x86_64/libsoftverbs.so"));
        assertTrue(output.startsWith("refused cannot load softverbs: "), output);
        assertTrue(output.contains("libc.so.6: version `GLIBC_9."), output);
        assertTrue(
                output.endsWith("this system's C library is older than glibc 2.27, the oldest that Farheap runs on"),
                output);
    }

    /** A class path on which a library needs a newer C library than there is. */
    private String needingGlibc9(String resource) throws IOException {
        byte[] content = embedded(resource);
        String newest = "GLIBC_" + Elf.glibcVersions(content).last();
        String text = new String(content, StandardCharsets.ISO_8859_1);
        Path place = Files.createTempDirectory(directory, "newer");
        Path file = place.resolve(resource);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text.replace(newest, newest.replace("_2", "_9")), StandardCharsets.ISO_8859_1);
        return place + File.pathSeparator + classPath();
    }

    private static byte[] embedded(String resource) throws IOException {
        try (InputStream stream = VerbsLibrary.class.getClassLoader().getResourceAsStream(resource)) {
            return stream.readAllBytes();
        }
    }

    private Path unusedFor(int days, String digit) throws IOException {
        Path directory = Files.createDirectory(cache.resolve("farheap-" + digit.repeat(32)));
        Files.createFile(directory.resolve("libsoftverbs.so"));
        Files.setLastModifiedTime(directory, FileTime.from(Instant.now().minus(Duration.ofDays(days))));
        return directory;
    }

    private void onlyWhatIsLoadedIsThere(String classPath, String... flags) throws Exception {
        Set<Path> loaded = loaded(classPath, flags);
        assertEquals(loaded, libraries());
        assertEquals(3, loaded.size(), loaded.toString());
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }

    /** Classes in a jar of their own before the tests'. */
    private String jar(String build, int more) throws Exception {
        Path jar = Files.createDirectories(directory.resolve(build)).resolve("farheap.jar");
        Path classes = Path.of(VerbsLibrary.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        if (Files.isRegularFile(classes)) {
            try (FileSystem inJar = FileSystems.newFileSystem(classes)) {
                write(jar, inJar.getPath("/"), more);
            }
        } else {
            write(jar, classes, more);
        }
        return jar + File.pathSeparator + classPath();
    }

    private static void write(Path jar, Path classes, int more) throws IOException {
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(classes)) {
            out.setLevel(Deflater.NO_COMPRESSION);
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                JarEntry entry = new JarEntry(classes.relativize(file).toString());
                // All entries have the same time, as in a jar that is built reproducibly.
                entry.setTime(1_000_000_000_000L);
                out.putNextEntry(entry);
                Files.copy(file, out);
                out.write(new byte[file.toString().endsWith(".so") ? more : 0]);
                out.closeEntry();
            }
        }
    }

    private static Path find(Set<Path> libraries, String name) {
        return libraries.stream()
                .filter(library -> library.endsWith(name))
                .findAny()
                .orElseThrow(() -> new AssertionError(name + " of " + libraries));
    }

    /** Files of native code in the cache. */
    private Set<Path> libraries() throws IOException {
        return entries(cache).stream()
                .filter(file -> file.toString().contains(".so") && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<Path> entries(Path place) throws IOException {
        try (Stream<Path> files = Files.walk(place)) {
            return files.filter(file -> !file.equals(place)).collect(Collectors.toSet());
        }
    }

    private Set<Path> loaded(String classPath, String... flags) throws Exception {
        return output(classPath, flags).lines().map(Path::of).collect(Collectors.toCollection(TreeSet::new));
    }

    private String output(String classPath, String... flags) throws Exception {
        List<String> all = new ArrayList<>(List.of("-Dorg.bytedeco.javacpp.cachedir=" + cache));
        all.addAll(Arrays.asList(flags));
        return run(classPath, all.toArray(String[]::new));
    }

    private String run(String classPath, String... flags) throws Exception {
        return run(Loaded.class, classPath, flags);
    }

    private String run(Class<?> main, String classPath, String... flags) throws Exception {
        return raw(main, classPath, flags)
                .lines()
                .filter(line -> !line.startsWith("WARNING"))
                .collect(Collectors.joining("\n"));
    }

    /** The output with warnings. */
    private String raw(Class<?> main, String classPath, String... flags) throws Exception {
        return raw(List.of(), main, classPath, flags);
    }

    private String raw(List<String> shell, Class<?> main, String classPath, String... flags) throws Exception {
        List<String> all = new ArrayList<>(List.of("-Djava.io.tmpdir=" + temporary));
        all.addAll(List.of(flags));
        SoftJvm ended = SoftJvm.run(shell, all, classPath, main);
        assertEquals(0, ended.status(), ended.output());
        return ended.output();
    }
}
