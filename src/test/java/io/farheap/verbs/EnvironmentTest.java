package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.RegisteredMemory;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Shell;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** A machine that is not set up for RDMA gets one sentence that names the remedy. Each case is a JVM of its own. */
@Needs({Need.GUEST, Need.SYSTEM})
class EnvironmentTest {

    /** Opens a device, the first that serves if none is named, registers memory, and prints what happens. */
    static final class Registrar {
        private Registrar() {}

        public static void main(String[] arguments) {
            try (Context context = Devices.open(arguments.length == 0 ? "" : arguments[0]);
                    ProtectionDomain domain = context.allocateProtectionDomain();
                    RegisteredMemory memory =
                            RegisteredMemory.allocate(domain, "test-memory", 4 << 20, Access.LOCAL_WRITE)) {
                System.out.println("registered " + memory.bytes());
            } catch (VerbsException e) {
                System.out.println("refused " + e.getMessage());
            }
        }
    }

    @Test
    void withEverythingThereItWorks() {
        assertEquals("registered 4194304", register(""));
    }

    /** Root may lock any amount, so the test drops the capability. */
    @Test
    void tooLittleLockedMemoryNamesTheLimit() {
        String output = register("ulimit -l 64; setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock");
        assertEquals(
                "refused cannot register 4194304 bytes on rxe0: ENOMEM (out of memory, or above the locked-memory limit: raise "
                        + "`ulimit -l` or LimitMEMLOCK=)",
                output);
    }

    @Test
    void noPermissionNamesTheDirectory() {
        Shell.run("chmod 000 /dev/infiniband/uverbs0");
        try {
            String output = register("setpriv --bounding-set -dac_override --inh-caps -dac_override", "rxe0");
            assertEquals(
                    "refused device rxe0 cannot be opened: /dev/infiniband/uverbs0: no permission; this user needs read and write access "
                            + "(a udev rule or a group)",
                    output);
        } finally {
            Shell.run("chmod 666 /dev/infiniband/uverbs0");
        }
    }

    @Test
    void noActivePortNamesTheDevicesAndTheRemedy() {
        String links = "for i in $(rdma link show | sed 's/.*netdev //'); do ip link set $i ";
        Shell.run(links + "down; done");
        try {
            String output = register("");
            assertTrue(
                    output.startsWith(
                            "refused no RDMA device serves: device rxe0 has no active port; bring its link up"),
                    output);
            assertTrue(output.endsWith("; or use the software device with -Dfarheap.verbs=soft"), output);
        } finally {
            Shell.run(
                    links
                            + "up; done; for i in $(seq 100); do rdma link show | grep -q 'state DOWN' || exit 0; sleep 0.1; done; exit 1");
        }
    }

    @Test
    void noLibraryNamesThePackages() {
        String library = Shell.run("ldconfig -p | sed -n 's/.*libibverbs.so.1 .*=> //p' | head -n 1")
                .trim();
        Shell.run("mv " + library + " " + library + ".gone");
        try {
            String output = register("");
            assertTrue(
                    output.startsWith("refused no libibverbs (libibverbs.so.1: cannot open shared object file"),
                    output);
            assertTrue(
                    output.contains("apt-get install libibverbs1 ibverbs-providers")
                            && output.contains("-Dfarheap.verbs=soft"),
                    output);
        } finally {
            Shell.run("mv " + library + ".gone " + library);
        }
    }

    /** A critical call would keep the whole JVM from its safepoints while the kernel executes the request. */
    @Test
    void aDeviceThatPostsBySystemCallsIsKnownByAnyName() {
        Shell.run("rdma link add mlx5_0 type rxe netdev lo");
        try (Context context = Devices.open("mlx5_0")) {
            assertTrue(context.calls().criticalBytes() < 0, "posts of 0 bytes would be critical");
        } finally {
            Shell.run("rdma link delete mlx5_0");
        }
    }

    /** @param before commands, and a program that runs the JVM */
    private static String register(String before, String... device) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Shell.Result result = Shell.result(before + " " + java
                + " -XX:TieredStopAtLevel=1 -Xmx64m --enable-native-access=ALL-UNNAMED" + " -Dfarheap.verbs=system -cp "
                + System.getProperty("java.class.path") + " '" + Registrar.class.getName() + "' "
                + String.join(" ", device));
        assertEquals(0, result.status(), result.output());
        return result.output()
                .lines()
                .filter(line -> !line.startsWith("WARNING"))
                .reduce("", (all, line) -> all + line);
    }
}
