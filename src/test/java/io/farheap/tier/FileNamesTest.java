package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.farheap.posix.FileNames;
import io.farheap.store.FarStore;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Directories whose names cannot be expressed in the locale's character set. */
class FileNamesTest {

    @TempDir
    private Path directory;

    /** A process that creates a file in a directory. */
    static final class Keeper {
        private Keeper() {}

        public static void main(String[] arguments) {
            try (DiskStorage storage = DiskStorage.open(Path.of(arguments[0]))) {
                storage.create("segment").close();
                System.out.println("kept " + storage.list());
            } catch (RuntimeException e) {
                System.out.println("refused " + e.getMessage());
            }
        }
    }

    /** @param enter the command that the shell runs first, in the test's directory */
    private String keep(String enter, String where) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", enter + "; exec \"$@\"", "sh"));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Keeper.class.getName(), where));
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return output;
    }

    /** A process that creates a file in a directory, and extracts native libraries into another. */
    static final class NativeKeeper {
        private NativeKeeper() {}

        public static void main(String[] arguments) {
            try {
                Keeper.main(new String[] {FileNames.of(arguments[0]).toString()});
            } catch (IllegalArgumentException e) {
                System.out.println("refused " + e.getMessage());
            }
            try {
                System.out.println("devices " + Devices.list().size());
            } catch (RuntimeException e) {
                System.out.println("refused " + e.getMessage());
            }
        }
    }

    /** Runs a {@link NativeKeeper} in this locale, with both directories below one whose name is in Latin-1. */
    private String keepInLatinNames(String locale) throws IOException, InterruptedException {
        String shell =
                "export LOCPATH=\"$PWD/locales\" LC_ALL=" + locale + "; name=$(printf 'caf\\351'); mkdir \"$name\""
                        + " && main=$1 && shift && exec \"$@\" -Dorg.bytedeco.javacpp.cachedir=\"$PWD/$name/cache\" \"$main\""
                        + " \"$PWD/$name/store\"";
        List<String> command = new ArrayList<>(List.of("sh", "-c", shell, "sh", NativeKeeper.class.getName()));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(List.of("-Dfarheap.verbs=soft", "-cp", System.getProperty("java.class.path")));
        return outputOf(command);
    }

    /** @return the names in a directory below the test's, one in each line, escaped to ASCII */
    private String namesOf(String entry) throws IOException, InterruptedException {
        return outputOf(List.of("sh", "-c", "ls -1 --quoting-style=escape \"" + entry + "\""));
    }

    private String outputOf(List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        assertEquals(0, process.waitFor(), output);
        return output;
    }

    /** In a locale whose names of files are not in UTF-8, native code receives the bytes of the names. */
    @Test
    void namesOfLatin1AreKeptInItsLocale() throws Exception {
        Path locales = Files.createDirectory(directory.resolve("locales"));
        Process made = new ProcessBuilder(
                        "localedef",
                        "-f",
                        "ISO-8859-1",
                        "-i",
                        "en_US",
                        locales.resolve("latin").toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        made.waitFor();
        assumeTrue(Files.exists(locales.resolve("latin")), "localedef makes no locale of Latin-1 here");
        String output = keepInLatinNames("latin");
        assertTrue(output.startsWith("kept [segment]\ndevices 1\n"), output);
        assertEquals("caf\\351\nlocales\n", namesOf("."));
        assertEquals("lock\nsegment\n", namesOf("$(printf 'caf\\351')/store"));
    }

    @Test
    void namesOfLatin1AreRefusedInTheLocaleOfPosix() throws Exception {
        String output = keepInLatinNames("POSIX");
        List<String> lines = output.lines().toList();
        assertTrue(lines.get(0).startsWith("refused the file name "), output);
        assertTrue(lines.get(1).startsWith("refused cannot extract "), output);
        assertTrue(lines.stream().limit(2).allMatch(line -> line.contains("; set LC_ALL=C.UTF-8, or use")), output);
        assertEquals("caf\\351\n", namesOf("."));
        assertEquals("", namesOf("$(printf 'caf\\351')"));
    }

    private int entries(Path of) throws IOException {
        try (Stream<Path> files = Files.list(of)) {
            return (int) files.count();
        }
    }

    /** Java replaces the name's bytes by question marks, and would create a second directory of that name. */
    @Test
    void aWorkingDirectoryThatTheLocaleDoesNotHaveIsRefused() throws Exception {
        String enter = "mkdir \"$(printf 'caf\\303\\251')\" && cd caf*";
        String output = keep(enter, "store");
        assertTrue(output.startsWith("refused the working directory "), output);
        assertTrue(output.contains("; set LC_ALL=C.UTF-8, or use a name that is ASCII"), output);
        assertEquals(1, entries(directory));
    }

    @Test
    void bytesThatAreNoTextAreRefused() throws IOException {
        Path latin = Path.of(URI.create(directory.toUri() + "caf%E9"));
        assumeFalse(latin.toString().endsWith("\u00e9"), "this locale has the name");
        assertThrows(IllegalArgumentException.class, () -> DiskStorage.open(latin));
        assertThrows(IllegalArgumentException.class, () -> FarStore.builder().directory(latin.resolve("below")));
        assertEquals(0, entries(directory));
    }
}
