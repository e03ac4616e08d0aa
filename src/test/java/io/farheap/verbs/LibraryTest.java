package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
                if (VerbsLibrary.whySoft() != null) {
                    System.out.println(" since " + VerbsLibrary.whySoft());
                }
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

    /** An ordinary container on a host with a NIC: sysfs shows it, and it has no node. */
    @Test
    void automaticallyNoDeviceIsTakenWithoutANode() throws Exception {
        assertEquals(
                "devices [soft0] since no RDMA device serves: device mlx5_0 has no node /dev/infiniband/uverbs0 here; "
                        + "a container needs --device /dev/infiniband/uverbs0",
                listAutomatically(""));
    }

    /**
     * The files show a usable device, and only the library finds that it does not work: then the system's library is
     * not used.
     */
    @Test
    void automaticallyTheSystemsLibraryIsLeftIfNoDeviceWorks() throws Exception {
        String output = listAutomatically(
                " && mount -t tmpfs none /dev && mkdir /dev/infiniband && touch /dev/infiniband/uverbs0");
        assertTrue(output.startsWith("devices [soft0] since no RDMA device serves: "), output);
        assertFalse(output.contains("has no node"), output);
    }

    /** Lists devices under a sysfs that shows one, in a mount namespace of its own. */
    private static String listAutomatically(String more) throws Exception {
        String device = "/sys/class/infiniband/mlx5_0/";
        String shown =
                "mount -t tmpfs none /sys/class && mkdir -p " + device + "ports/1 /sys/class/infiniband_verbs/uverbs0"
                        + " && echo '1: CA' > " + device + "node_type && echo '4: ACTIVE' > " + device + "ports/1/state"
                        + " && echo mlx5_0 > /sys/class/infiniband_verbs/uverbs0/ibdev" + more;
        List<String> shell = List.of("unshare", "-m", "sh", "-c", shown + " && exec \"$@\"", "sh");
        List<String> nothing = new ArrayList<>(shell);
        nothing.add("true");
        assumeTrue(new ProcessBuilder(nothing).start().waitFor() == 0, "needs root, who can mount a file system");
        return list(shell, "--enable-native-access=ALL-UNNAMED", "-Dfarheap.verbs=auto");
    }

    private static String list(String... flags) throws IOException, InterruptedException {
        return list(List.of(), flags);
    }

    private static String list(List<String> shell, String... flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(shell);
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
