package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.posix.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kernel's devices that a process can use, in made-up trees of sysfs and device nodes. */
class KernelDevicesTest {

    /** The message of the trial for a device on which no reliable connection can be made. */
    private static final String NO_QUEUE_PAIR = "cannot create a queue pair of depth 1 on ";

    @TempDir
    private Path root;

    private KernelDevices devices() {
        return new KernelDevices(root.resolve("class"), root.resolve("dev"));
    }

    /** @param node the kind of the node's file: a file, which opens, a directory, which does not, or none */
    private void device(String name, String type, String state, String uverbs, String node) throws IOException {
        Path device = root.resolve("class/infiniband").resolve(name);
        Files.createDirectories(device.resolve("ports"));
        write(device.resolve("node_type"), type);
        if (state != null) {
            // The first port is one whose state cannot be read.
            Files.createDirectories(device.resolve("ports/1/state"));
            write(device.resolve("ports/2/state"), state);
        }
        Path verbs = Files.createDirectories(root.resolve("class/infiniband_verbs"));
        write(verbs.resolve("abi_version"), "6");
        if (uverbs == null) {
            return;
        }
        write(verbs.resolve(uverbs).resolve("ibdev"), name);
        Path nodes = Files.createDirectories(root.resolve("dev"));
        if ("file".equals(node)) {
            Files.createFile(nodes.resolve(uverbs));
        } else if ("directory".equals(node)) {
            Files.createDirectory(nodes.resolve(uverbs));
        }
    }

    private static void write(Path file, String line) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, line + "\n");
    }

    /** Finds a device as AUTO does: the last step, which a device must pass, makes a queue pair. */
    private String first(String withoutQueuePair) {
        KernelDevices devices = devices();
        return Devices.first(devices.names(), name -> {
            devices.requireUsable(name);
            if (name.equals(withoutQueuePair)) {
                throw new VerbsException(NO_QUEUE_PAIR + name);
            }
            return name;
        });
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
            1: CA,          4: ACTIVE,       uverbs0, file,      -,      -
            1: CA,          4: ACTIVE,       uverbs7, file,      -,      -
            -,              4: ACTIVE,       uverbs0, file,      -,      -
            1: CA,          4: ACTIVE,       uverbs0, file,      mlx5_0, cannot create a queue pair of depth 1 on mlx5_0
            1: CA,          4: ACTIVE,       uverbs0, -,         -,      device mlx5_0 has no node DEV/uverbs0 here; a container needs --device DEV/uverbs0
            1: CA,          4: ACTIVE,       uverbs0, directory, -,      device mlx5_0 cannot be opened: DEV/uverbs0: Is a directory
            1: CA,          4: ACTIVE,       -,       -,         -,      device mlx5_0 has no node for processes; load ib_uverbs (modprobe ib_uverbs)
            1: CA,          1: DOWN,         uverbs0, file,      -,      device mlx5_0 has no active port; bring its link up
            1: CA,          5: ACTIVE_DEFER, uverbs0, file,      -,      device mlx5_0 has no active port; bring its link up
            1: CA,          -,               uverbs0, file,      -,      device mlx5_0 has no active port; bring its link up
            4: RNIC,        4: ACTIVE,       uverbs0, file,      -,      'device mlx5_0 speaks iWARP, which Farheap does not'
            7: unspecified, 4: ACTIVE,       uverbs0, file,      -,      device mlx5_0 is neither InfiniBand nor RoCE (its node type is 7: unspecified)
            """)
    void aDeviceServesOrSaysWhyNot(
            String type, String state, String uverbs, String node, String withoutQueuePair, String reason)
            throws IOException {
        device("mlx5_0", type == null ? "" : type, state, uverbs, node);
        if (reason == null) {
            assertEquals("mlx5_0", first(withoutQueuePair));
            return;
        }
        String expected = "no RDMA device serves: "
                + reason.replace("DEV", root.resolve("dev").toString());
        assertEquals(
                expected,
                assertThrows(VerbsException.class, () -> first(withoutQueuePair))
                        .getMessage());
        // A device that does not serve does not end the search: one behind it that serves is found.
        device("mlx5_1", "1: CA", "4: ACTIVE", "uverbs1", "file");
        assertEquals("mlx5_1", first(withoutQueuePair));
    }

    @Test
    void aMachineWithoutDevicesSaysSo() {
        assertEquals(List.of(), devices().names());
        assertEquals(
                "no RDMA device serves: there is none",
                assertThrows(VerbsException.class, () -> first(null)).getMessage());
    }

    /** A node of another device, which does not open, is not the reason. */
    @Test
    void theNodeThatIsBlamedIsTheDevicesOwn() throws IOException {
        device("mlx5_0", "1: CA", "4: ACTIVE", "uverbs1", "file");
        device("mlx5_1", "1: CA", "4: ACTIVE", "uverbs0", "directory");
        assertEquals(
                "cannot open device mlx5_0: EIO (the device failed)",
                devices().cannotOpen("mlx5_0", Errno.EIO).getMessage());
        assertEquals(
                "device mlx5_1 cannot be opened: " + root.resolve("dev/uverbs0") + ": Is a directory",
                devices().cannotOpen("mlx5_1", Errno.EIO).getMessage());
    }

    @Test
    void theReasonOfEachIsSaid() throws IOException {
        device("efa_0", "7: unspecified", "4: ACTIVE", "uverbs0", "file");
        device("mlx5_0", "1: CA", "1: DOWN", "uverbs1", "file");
        assertEquals(
                "no RDMA device serves: device efa_0 is neither InfiniBand nor RoCE (its node type is 7: unspecified); "
                        + "device mlx5_0 has no active port; bring its link up",
                assertThrows(VerbsException.class, () -> first(null)).getMessage());
    }

    private static final List<String> TWO = List.of("mlx5_0", "mlx5_1");

    private static String whyNot(VerbsException first, VerbsException second) {
        return Devices.whyNot(TWO, name -> {
            throw name.equals("mlx5_0") ? first : second;
        });
    }

    /** A process on the software device is not reached from other machines: it would be up, and of no use. */
    @Test
    void aWrongSettingOrAnAddressThatIsMissingIsNoReasonForTheSoftwareDevice() {
        VerbsException down = new VerbsException("down");
        assertEquals("no RDMA device serves: down; down", whyNot(down, down));
        assertNull(whyNot(down, VerbsException.ofAddress("eth9 names no GID")));
        assertNull(whyNot(VerbsException.ofAddress("no GID with a network interface"), down));
        assertNull(whyNot(VerbsException.ofSetting("farheap.retries=9"), down));
        assertNull(Devices.whyNot(TWO, name -> name));
        assertEquals("no RDMA device serves: there is none", Devices.whyNot(List.of(), name -> name));
    }

    /** Another device may have the address; no device takes a value that is wrong. */
    @Test
    void aWrongSettingEndsTheSearchAndAMissingAddressDoesNot() {
        assertEquals("mlx5_1", searched(VerbsException.ofAddress("eth9 names no GID")));
        VerbsException wrong = VerbsException.ofSetting("farheap.retries=9: it must be 0 to 6");
        assertSame(wrong, assertThrows(VerbsException.class, () -> searched(wrong)));
    }

    private static String searched(VerbsException ofFirst) {
        return Devices.first(TWO, name -> {
            if (name.equals("mlx5_0")) {
                throw ofFirst;
            }
            return name;
        });
    }

    /** The failures of settings and addresses are of these kinds. */
    @Test
    void settingsAndAddressesAreToldFromDevices() throws IOException {
        assertTrue(refusal(() -> new GidTable("port 1 of mlx5_0", true, List.of()).candidates("eth9"))
                .isOfAddress());
        assertTrue(refusal(() -> new GidTable("port 1 of mlx5_0", true, List.of()).candidates(""))
                .isOfAddress());
        assertTrue(refusal(() -> PartitionTable.index(root, "port 1 of mlx5_0", 0x8123))
                .isOfAddress());
        System.setProperty("farheap.retries.mlx5_0", "9");
        try {
            VerbsException wrong = refusal(() -> PortOptions.of("mlx5_0").resolved("mlx5_0", 1));
            assertTrue(wrong.isOfSetting() && !wrong.isOfAddress(), wrong.getMessage());
        } finally {
            System.clearProperty("farheap.retries.mlx5_0");
        }
    }

    private static VerbsException refusal(Executable call) {
        return assertThrows(VerbsException.class, call);
    }
}
