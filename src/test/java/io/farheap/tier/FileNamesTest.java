package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.farheap.store.FarStore;
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

/** Directories whose names the locale does not have. */
class FileNamesTest {

    @TempDir
    private Path directory;

    /** Keeps a file in a directory. */
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

    /** @param enter what the shell does in the directory first */
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

    private int entries(Path of) throws IOException {
        try (Stream<Path> files = Files.list(of)) {
            return (int) files.count();
        }
    }

    /** Java puts question marks into it, and makes another directory of that name. */
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
