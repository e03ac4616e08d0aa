package io.farheap.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory that a machine and its control groups leave to this process, read from the kernel's files. */
class AvailableMemoryTest {

    private static final long MIB = 1 << 20;
    private static final String V2 =
            "30 23 0:26 %s /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 " + "rw,nsdelegate\n";
    private static final String V1 = """
            31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
            32 23 0:28 %s /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory
            """;

    @TempDir
    private Path root;

    @BeforeEach
    void machine() throws IOException {
        write(
                "proc/meminfo",
                "MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:    8388608 " + "kB\n");
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private void two(String group, String max, long current, long inactive) throws IOException {
        String directory = "sys/fs/cgroup" + group + "/";
        write(directory + "memory.max", max + "\n");
        write(directory + "memory.current", current + "\n");
        write(directory + "memory.stat", "anon 5\ninactive_anon 7\ninactive_file " + inactive + "\nactive_file 3\n");
    }

    private long bytes() {
        return AvailableMemory.of(root).bytes();
    }

    @Test
    void withoutControlGroupsItIsTheMachines() {
        assertEquals(8192 * MIB, bytes());
    }

    @Test
    void theRealMachineHasSome() {
        long bytes = AvailableMemory.bytes();
        assertTrue(bytes > MIB && bytes < Long.MAX_VALUE, bytes + " bytes");
    }

    @Test
    void theLeastOfAllGroupsAboveCounts() throws IOException {
        write("proc/self/mountinfo", "22 1 254:0 / / rw - ext4 /dev/vda rw\n" + V2.formatted("/"));
        write("proc/self/cgroup", "0::/system.slice/farheap.service\n");
        two("/system.slice/farheap.service", "max", 10 * MIB, 0);
        assertEquals(8192 * MIB, bytes(), "max is no limit");

        two("/system.slice", Long.toString(3000 * MIB), 1000 * MIB, 0);
        assertEquals(2000 * MIB, bytes());
        two("/system.slice/farheap.service", Long.toString(500 * MIB), 100 * MIB, 0);
        assertEquals(400 * MIB, bytes());
        two("", Long.toString(300 * MIB), 100 * MIB, 0);
        assertEquals(200 * MIB, bytes(), "a container's own group is the root that it sees");
    }

    @Test
    void aCacheThatIsNotUsedIsAvailable() throws IOException {
        write("proc/self/mountinfo", V2.formatted("/"));
        write("proc/self/cgroup", "0::/\n");
        two("", Long.toString(1000 * MIB), 900 * MIB, 600 * MIB);
        assertEquals(700 * MIB, bytes());
        two("", Long.toString(1000 * MIB), 1100 * MIB, 0);
        assertEquals(0, bytes(), "a group that has more than its limit has nothing left");
        two("", Long.toString(1000 * MIB), 100 * MIB, 600 * MIB);
        assertEquals(1000 * MIB, bytes(), "a cache is not counted beyond what is used");
    }

    @Test
    void versionOneIsReadToo() throws IOException {
        write("proc/self/mountinfo", V1.formatted("/"));
        write("proc/self/cgroup", "12:cpu,cpuacct:/elsewhere\n5:memory:/docker/abc\n0::/ignored\n");
        String group = "sys/fs/cgroup/memory/docker/abc/";
        write(group + "memory.limit_in_bytes", "9223372036854771712\n");
        write(group + "memory.usage_in_bytes", Long.toString(50 * MIB));
        assertEquals(8192 * MIB, bytes());
        write(group + "memory.limit_in_bytes", Long.toString(256 * MIB));
        write(group + "memory.stat", "inactive_file 1\ntotal_inactive_file " + 20 * MIB + "\n");
        assertEquals((256 - 50 + 20) * MIB, bytes());
    }

    /** With cgroup version 1, a container sees the path of its group on the host, but only the files of its group. */
    @Test
    void aContainersMountIsItsGroup() throws IOException {
        write("proc/self/mountinfo", V1.formatted("/docker/abc"));
        write("proc/self/cgroup", "5:memory:/docker/abc/inner\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", Long.toString(128 * MIB));
        write("sys/fs/cgroup/memory/memory.usage_in_bytes", "0");
        assertEquals(128 * MIB, bytes());
        write("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", Long.toString(64 * MIB));
        write("sys/fs/cgroup/memory/inner/memory.usage_in_bytes", "0");
        assertEquals(64 * MIB, bytes());
        write("proc/self/cgroup", "5:memory:/../..\n");
        assertEquals(128 * MIB, bytes());
    }

    @Test
    void aRefusalSaysWhoseLimitItIs() throws IOException {
        write("proc/self/mountinfo", V2.formatted("/"));
        write("proc/self/cgroup", "0::/box\n");
        two("/box", Long.toString(100 * MIB), 0, 0);
        AvailableMemory.require("memory", 100 * MIB, "donate less", root);
        String message = assertThrows(
                        IllegalArgumentException.class,
                        () -> AvailableMemory.require("memory", 101 * MIB, "donate less", root))
                .getMessage();
        assertTrue(
                message.contains("101 MiB")
                        && message.contains("100 MiB")
                        && message.contains("/box")
                        && message.contains("donate less"),
                message);
    }

    /** If the allocation were not refused, the kernel would kill this process while it populates the memory. */
    @Test
    void whatAProcessAllocatesIsRefusedAboveItsLimit() throws IOException {
        write("proc/self/mountinfo", V2.formatted("/"));
        write("proc/self/cgroup", "0::/box\n");
        two("/box", Long.toString(3 * MIB), 0, 0);
        // 5 MiB is not a whole number of huge pages, so the memory would be of ordinary pages.
        String message = assertThrows(
                        IllegalArgumentException.class, () -> SharedMemory.allocate("buffer", 5 * MIB, root))
                .getMessage();
        assertEquals(
                "memory \"buffer\" of 5 MiB; control group " + root + "/sys/fs/cgroup/box has 3 MiB available, so "
                        + "allocate less, or give this process more",
                message);
        SharedMemory.allocate("buffer", 3 * MIB, root).close();
        two("/box", Long.toString(MIB), MIB, 0);
        SharedMemory.allocate("buffer", MIB - 4096, root).close();
    }

    /** The kernel reclaims active file pages and slabs, too, before it treats a group as being at its limit. */
    @Test
    void whatAProcessAllocatesTakesThePlaceOfCachesThatAreInUse() throws IOException {
        write("proc/self/mountinfo", V2.formatted("/"));
        write("proc/self/cgroup", "0::/box\n");
        two("/box", Long.toString(8 * MIB), 8 * MIB, 0);
        write(
                "sys/fs/cgroup/box/memory.stat",
                "inactive_file " + MIB + "\nactive_file " + MIB + "\nslab_reclaimable " + MIB + "\n");
        SharedMemory.allocate("buffer", 3 * MIB, root).close();
        assertThrows(IllegalArgumentException.class, () -> SharedMemory.allocate("buffer", 3 * MIB + 4096, root));
        assertEquals(MIB, bytes(), "what is donated does not");

        write("proc/self/mountinfo", V1.formatted("/"));
        write("proc/self/cgroup", "5:memory:/box\n");
        String group = "sys/fs/cgroup/memory/box/";
        write(group + "memory.limit_in_bytes", Long.toString(8 * MIB));
        write(group + "memory.usage_in_bytes", Long.toString(8 * MIB));
        write(group + "memory.stat", "active_file 9\ntotal_inactive_file " + MIB + "\ntotal_active_file " + 2 * MIB);
        SharedMemory.allocate("buffer", 3 * MIB, root).close();
        assertThrows(IllegalArgumentException.class, () -> SharedMemory.allocate("buffer", 3 * MIB + 4096, root));
    }

    @Test
    void nonsenseIsNoLimit() throws IOException {
        write("proc/self/mountinfo", "x\n\n1 2 3\n30 23 0:26 / /sys/fs/cgroup rw - cgroup2\n" + V2.formatted("/"));
        write("proc/self/cgroup", "0::\n\nx:y\n5:memory\n0::/box\n");
        two("/box", "lots", -1, -1);
        assertEquals(8192 * MIB, bytes());
    }

    private void reserves(long hugePageBytes, long pages, long free, long promised) throws IOException {
        write("proc/meminfo", """
                MemTotal:       16777216 kB
                MemAvailable:    1048576 kB
                HugePages_Total: %d
                HugePages_Free:  %d
                HugePages_Rsvd:  %d
                HugePages_Surp:  0
                Hugepagesize:    %d kB
                Hugetlb:         %d kB
                """.formatted(pages, free, promised, hugePageBytes >> 10, pages * hugePageBytes >> 10));
    }

    /** Otherwise a machine that reserves most of its memory would never have its headroom free. */
    @Test
    void whatIsReservedAsHugePagesIsNoPartOfTheMachine() throws IOException {
        reserves(2 * MIB, 7168, 0, 0);
        AvailableBytes machine = AvailableMemory.tightest(root);
        assertEquals(2048 * MIB, machine.total());
        assertEquals(1024 * MIB, machine.bytes());
    }

    @Test
    void hugePagesThatArePromisedAreNotThere() throws IOException {
        reserves(2 * MIB, 100, 10, 4);
        MemoryInfo info = MemoryInfo.of(root);
        assertEquals(12 * MIB, info.hugeBytes());
        assertTrue(info.isOfHugePages(6 * MIB) && !info.isOfHugePages(7 * MIB));
        reserves(1024 * MIB, 4, 4, 0);
        info = MemoryInfo.of(root);
        assertEquals(4096 * MIB, info.hugeBytes());
        assertTrue(info.isOfHugePages(1024 * MIB) && !info.isOfHugePages(6 * MIB));
        write("proc/meminfo", "MemTotal:       16000000 kB\n");
        assertTrue(!MemoryInfo.of(root).isOfHugePages(6 * MIB), "a kernel without huge pages");
    }

    /** The case of a container that may not use the machine's reserved huge pages. */
    @Test
    void hugePagesThatTheKernelRefusesAreNoReasonToTakeMoreOthersThanThereAre() throws IOException {
        long bytes = 1L << 40;
        reserves(2 * MIB, bytes / (2 * MIB), bytes / (2 * MIB), 0);
        assertEquals(
                "memory of 1048576 MiB; this machine has 1024 MiB available, and 1048576 MiB in reserved huge pages, "
                        + "which are too few or not for this process, so donate less",
                assertThrows(IllegalArgumentException.class, () -> SharedMemory.allocateDonated("lent", bytes, 0, root))
                        .getMessage());
        assertTrue(assertThrows(
                        IllegalArgumentException.class,
                        () -> SharedMemory.allocateDonated("lent", bytes, 2 * MIB, root))
                .getMessage()
                .contains("headroom"));
    }
}
