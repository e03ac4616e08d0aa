package io.farheap.verbs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A JVM that lacks something gets one sentence that names the remedy. Each case is a JVM of its own: a process loads one library. */
@Timeout(60)
class LibraryTest {

    /** Lists devices and prints what happens. */
    static final class Lister {
        private Lister() {
        }

        public static void main(String[] arguments) {
            try {
                System.out.println("devices " + Devices.list().stream().map(DeviceInfo::name).toList());
            } catch (VerbsException | UnsupportedOperationException e) {
                System.out.println("refused " + e.getMessage());
            }
        }
    }

    @Test
    void nativeAccessThatIsDeniedNamesTheFlag() throws Exception {
        String output = list("--illegal-native-access=deny", "-Dfarheap.verbs=soft");
        assertTrue(output.contains("refused") && output.contains("--enable-native-access=ALL-UNNAMED"), output);
    }

    @Test
    void softverbsNeedsNothingInstalled() throws Exception {
        assertEquals("devices [soft0]", list("--enable-native-access=ALL-UNNAMED", "-Dfarheap.verbs=soft"));
    }

    @Test
    void anUnknownLibraryNamesTheChoices() throws Exception {
        String output = list("--enable-native-access=ALL-UNNAMED", "-Dfarheap.verbs=hard");
        assertEquals("refused farheap.verbs=hard is not one of system, soft, auto", output);
    }

    @Test
    void aSystemWithoutDevicesPointsToSoftverbs() throws Exception {
        String output = list("--enable-native-access=ALL-UNNAMED", "-Dfarheap.verbs=system");
        assertTrue(output.startsWith("devices [") || output.startsWith("refused") && output.contains("-Dfarheap.verbs=soft"), output);
    }

    /** JavaCPP takes a file of the same size and time for the same. */
    @Test
    void nativeCodeOfAnotherBuildIsNotUsed(@TempDir Path directory) throws Exception {
        Path jar = jar(directory.resolve("farheap.jar"));
        String[] flags = {"--enable-native-access=ALL-UNNAMED", "-Dfarheap.verbs=soft", "-Dorg.bytedeco.javacpp.cachedir=" + directory.resolve("cache")};
        String classPath = jar + File.pathSeparator + System.getProperty("java.class.path");
        assertEquals("devices [soft0]", listFrom(classPath, flags));
        List<Path> libraries;
        try (Stream<Path> files = Files.walk(directory.resolve("cache"))) {
            libraries = files.filter(file -> file.toString().contains("verbs") && file.toString().endsWith(".so")).toList();
        }
        assertEquals(2, libraries.size(), libraries.toString());
        for (Path library : libraries) {
            FileTime time = Files.getLastModifiedTime(library);
            Files.write(library, new byte[(int) Files.size(library)]);
            Files.setLastModifiedTime(library, time);
        }
        assertEquals("devices [soft0]", listFrom(classPath, flags));
    }

    /** The classes under test, with one time for all, as in a jar that is built reproducibly. */
    private static Path jar(Path jar) throws Exception {
        Path classes = Path.of(VerbsLibrary.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar)); Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                JarEntry entry = new JarEntry(classes.relativize(file).toString());
                entry.setTime(1_000_000_000_000L);
                out.putNextEntry(entry);
                Files.copy(file, out);
                out.closeEntry();
            }
        }
        return jar;
    }

    private static String list(String... flags) throws IOException, InterruptedException {
        return listFrom(System.getProperty("java.class.path"), flags);
    }

    private static String listFrom(String classPath, String... flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", classPath, Lister.class.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
        return output.lines().filter(line -> !line.startsWith("WARNING")).reduce("", (all, line) -> all + line);
    }
}
