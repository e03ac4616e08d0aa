package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A JVM that lacks something gets one sentence that names the remedy. Each case is a JVM of its own: a process loads
 * one library.
 */
class LibraryTest {

    /** Lists devices and prints what happens. */
    static final class Lister {
        private Lister() {}

        public static void main(String[] arguments) {
            try {
                System.out.println("devices "
                        + Devices.list().stream().map(DeviceInfo::name).toList());
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
        assertTrue(
                output.startsWith("devices [")
                        || output.startsWith("refused") && output.contains("-Dfarheap.verbs=soft"),
                output);
    }

    private static String list(String... flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Lister.class.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return output.lines().filter(line -> !line.startsWith("WARNING")).reduce("", (all, line) -> all + line);
    }
}
