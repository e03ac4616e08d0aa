package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.farheap.posix.Errno;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.RefusedCalls;
import io.farheap.testing.SoftJvm;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** softverbs in a process to which the system refuses a call that it needs. Each case is a JVM of its own. */
@Needs(Need.SOFTVERBS)
class RefusedSystemCallsTest {

    private static final int MEMBARRIER = 324;

    /** Uses a device, and before or meanwhile has membarrier refused to this thread from then on. */
    static final class Refused {
        private Refused() {}

        public static void main(String[] arguments) throws Exception {
            if (arguments[0].equals("early")) {
                refuse();
            }
            try (ConnectedPair pair = ConnectedPair.connect("soft0", "soft0", 4096)) {
                pair.prepare(0, SendRequests.WRITE, SendRequests.SIGNALED, 0, 8, 8);
                System.out.println("wrote " + pair.post(0) + " " + (pair.await(0) == WcStatus.SUCCESS));
                if (arguments[0].equals("late")) {
                    refuse();
                }
            } catch (VerbsException e) {
                System.out.println("refused " + e.getMessage());
                return;
            }
            System.out.println("closed");
        }

        /** Refuses membarrier as a container's filter does. */
        private static void refuse() {
            if (!RefusedCalls.refuse(List.of(RefusedCalls.Call.of(MEMBARRIER, Errno.EPERM)))) {
                System.out.println("no filter");
            }
        }
    }

    @Test
    void aDeviceWithoutMembarrierIsRefusedWithItsReason() throws Exception {
        SoftJvm result = SoftJvm.run(List.of(), Refused.class, "early");
        assumeTrue(!result.output().contains("no filter"), "no seccomp here");
        assertEquals(0, result.status(), result.output());
        assertTrue(
                result.output()
                        .contains("softverbs: membarrier is refused (Operation not permitted): "
                                + "a seccomp filter of this process or container has to allow it"),
                result.output());
        assertTrue(
                result.output().contains("refused cannot open device soft0: EPERM (not permitted)"), result.output());
    }

    /** Other processes rely on the barriers, so a process that cannot execute them must end. */
    @Test
    void aProcessEndsWhoseBarriersFail() throws Exception {
        SoftJvm result = SoftJvm.run(List.of("sh", "-c", "ulimit -c 0; exec \"$@\"", "sh"), Refused.class, "late");
        assumeTrue(!result.output().contains("no filter"), "no seccomp here");
        assertTrue(result.output().contains("wrote 0 true"), result.output());
        assertTrue(
                result.output()
                        .contains("softverbs: membarrier fails (Operation not permitted) since the device was opened"),
                result.output());
        assertNotEquals(0, result.status(), result.output());
    }

    /** A pid namespace may ask for files in memory that cannot be executed. */
    @Test
    void aSystemThatWantsNoExecutableMemoryGetsNone() throws Exception {
        List<String> shell = List.of(
                "unshare", "--pid", "--fork", "sh", "-c", "echo 2 > /proc/sys/vm/memfd_noexec && exec \"$@\"", "sh");
        List<String> nothing = new ArrayList<>(shell);
        nothing.add("true");
        assumeTrue(new ProcessBuilder(nothing).start().waitFor() == 0, "needs root, and vm.memfd_noexec, of Linux 6.3");
        SoftJvm result = SoftJvm.run(shell, Refused.class, "never");
        assertTrue(result.output().endsWith("wrote 0 true\nclosed\n"), result.output());
    }
}
