package io.farheap.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.farheap.posix.PosixException;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.FakeMachine;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.RefusedCalls;
import io.farheap.testing.TestDevice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Memory on a machine that reserves huge pages. Each test sets how many the kernel reserves, so no other process may
 * use the machine: the tests run in a guest. The command is:
 *
 * <pre>./farheap guest --topology one src/test/guest/suite memory.HugePagesTest</pre>
 */
@Needs(Need.GUEST)
class HugePagesTest {

    private static final Path RESERVED = Path.of("/proc/sys/vm/nr_hugepages");
    private static final Path FREE = Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
    private static final long HUGE = 2 << 20;
    private static final int REGIONS = 8;

    private String before = "";

    @BeforeEach
    void machine() throws IOException {
        before = Files.readString(RESERVED);
    }

    @AfterEach
    void asBefore() throws IOException {
        Files.writeString(RESERVED, before);
    }

    /** @return how many pages the kernel has reserved; fewer than asked for if memory is fragmented */
    private static long reserve(long pages) throws IOException {
        Files.writeString(RESERVED, Long.toString(pages));
        return Long.parseLong(Files.readString(RESERVED).trim());
    }

    /** Reads sysfs, because {@link #aServerStartsOnWhatIsReserved} mounts another file over /proc/meminfo. */
    private static long free() throws IOException {
        return Long.parseLong(Files.readString(FREE).trim());
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("waited too long for: " + what);
            }
            LockSupport.parkNanos(100_000);
        }
    }

    private static ServerOptions options(long regions) {
        return new ServerOptions(
                regions * HUGE, HUGE, TestDevice.patience(30_000_000_000L), TestDevice.server(), "huge");
    }

    @Test
    void tooFewAreLeftAlone() throws IOException {
        assertEquals(3, reserve(3));
        try (SharedMemory memory = SharedMemory.allocate("test-huge", 4 * HUGE)) {
            assertEquals(SharedMemory.PAGE_BYTES, memory.pageBytes());
            memory.segment().fill((byte) 1);
            assertEquals(3, free());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPartIsTakenAgainOnlyIfItIsThere(boolean olderKernel) throws Exception {
        assertEquals(2, reserve(2));
        RefusedCalls.during(olderKernel ? List.of(RefusedCalls.NO_POPULATE) : List.of(), () -> {
            try (SharedMemory memory = SharedMemory.allocate("test-huge", 2 * HUGE)) {
                assertEquals(HUGE, memory.pageBytes());
                assertEquals(0, free());
                memory.segment().fill((byte) 1);
                assertThrows(IllegalArgumentException.class, () -> memory.discard(0, 1 << 16));
                memory.discard(0, HUGE);
                assertEquals(1, free());
                try (SharedMemory other = SharedMemory.allocate("test-other", HUGE)) {
                    assertEquals(HUGE, other.pageBytes());
                    assertThrows(PosixException.class, () -> memory.populate(0, HUGE));
                }
                memory.populate(0, HUGE);
                assertEquals(0, memory.segment().get(JAVA_BYTE, 0));
                assertEquals(1, memory.segment().get(JAVA_BYTE, HUGE));
            }
            return 0;
        });
        assertEquals(2, free());
    }

    /** A process that opens a server and prints how many huge pages are still free then. */
    static final class Opened {
        private Opened() {}

        public static void main(String[] arguments) throws IOException {
            try (MemoryServer server = MemoryServer.open(options(REGIONS))) {
                System.out.println("opened " + server.describe().server().freeRegions() + ", leaves " + free());
            }
        }
    }

    /** A server starts if enough huge pages are reserved, although the ordinary pages are too few for its memory. */
    @Test
    void aServerStartsOnWhatIsReserved(@TempDir Path scratch) throws Exception {
        assertEquals(REGIONS + 1, reserve(REGIONS + 1));
        Path meminfo = scratch.resolve("meminfo");
        Files.writeString(meminfo, """
                MemTotal:         131072 kB
                MemAvailable:      15360 kB
                HugePages_Free:        %d
                HugePages_Rsvd:        0
                Hugepagesize:       2048 kB
                Hugetlb:           %d kB
                """.formatted(REGIONS + 1, REGIONS * HUGE >> 10));
        Result result = run("""
                mount --bind "$1" /proc/meminfo
                shift
                exec "$@"
                """, meminfo, Opened.class, "");
        assertTrue(result.output.contains("opened 8, leaves 1\n"), result.output);
        assertEquals(0, result.status, result.output);
    }

    /**
     * A server with headroom takes ordinary pages although huge pages are free: other processes must be able to use the
     * memory that it withdraws.
     */
    @Test
    void headroomIsKeptInOrdinaryPages() throws IOException {
        assertEquals(4, reserve(4));
        FakeMachine machine = new FakeMachine(HUGE, 64, 4);
        try (MemoryServer server = MemoryServer.open(options(4).headroom(machine.headroom()))) {
            machine.runs(Planes.of(server));
            assertEquals(4, free());
            machine.wants(2);
            await("two are withdrawn", () -> server.describe().withdrawnRegions() == 2);
            machine.othersHave(0);
            await("all are free again", () -> server.describe().server().freeRegions() == 4);
            assertEquals(4, free());
        }
    }

    /**
     * A process that allocates memory under a limit of 0 huge pages and writes to it. If the memory were mapped with
     * huge pages, the first access would end the process.
     */
    static final class Limited {
        private Limited() {}

        public static void main(String[] arguments) {
            if (arguments[0].equals("true") && !RefusedCalls.refuse(List.of(RefusedCalls.NO_POPULATE))) {
                System.out.println("no seccomp");
                return;
            }
            try (SharedMemory memory = SharedMemory.allocate("test-limited", 2 * HUGE)) {
                memory.segment().fill((byte) 1);
                System.out.println("pages of " + memory.pageBytes());
            }
        }
    }

    /** The case of a pod that requests no huge pages, on a node that has some (kubernetes/kubernetes#71233). */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLimitOfNoneIsFoundBeforeTheyAreUsed(boolean olderKernel, @TempDir Path mounted) throws Exception {
        assertEquals(2, reserve(2));
        Result result = run("""
                mount -t cgroup2 none "$1"
                echo +hugetlb >"$1/cgroup.subtree_control" || { echo no limits; exit 0; }
                group=$1/farheap-test
                mkdir -p "$group"
                echo 0 >"$group/hugetlb.2MB.max"
                shift
                status=0
                sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@" || status=$?
                rmdir "$group"
                exit $status
                """, mounted, Limited.class, Boolean.toString(olderKernel));
        assumeTrue(!result.output.contains("no limits") && !result.output.contains("no seccomp"), result.output);
        assertEquals("pages of 4096\n", result.output);
        assertEquals(0, result.status);
        assertEquals(2, free());
    }

    private record Result(int status, String output) {}

    /** @param script a shell script, run with mounts of its own; its arguments are the path and the command to start */
    private static Result run(String script, Path path, Class<?> main, String argument)
            throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        "unshare",
                        "--mount",
                        "sh",
                        "-ec",
                        script,
                        "sh",
                        path.toString(),
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dfarheap.verbs=" + System.getProperty("farheap.verbs", "soft"),
                        "-Dfarheap.test.serverDevice=" + TestDevice.server(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        main.getName(),
                        argument)
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
    }
}
