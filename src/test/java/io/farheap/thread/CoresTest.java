package io.farheap.thread;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CoresTest {

    @TempDir
    private Path system;

    private static BitSet cores(int... numbers) {
        BitSet cores = new BitSet();
        for (int core : numbers) {
            cores.set(core);
        }
        return cores;
    }

    private void file(String name, String content) throws IOException {
        Path file = system.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content + "\n");
    }

    @Test
    void theKernelsListsAreRead() {
        assertEquals(cores(0, 1, 2, 3, 8, 10, 11), Cores.parse("0-3,8,10-11"));
        assertEquals(cores(5), Cores.parse("5"));
        assertEquals(cores(), Cores.parse(""));
    }

    @Test
    void coresOfTheDevicesNodeComeFirst() throws IOException {
        file("class/infiniband/mlx5_0/device/numa_node", "1");
        file("devices/system/node/node1/cpulist", "2-3,6-7");
        assertEquals(List.of(2, 3, 6, 0, 1), Cores.near(cores(0, 1, 2, 3, 6), system, "mlx5_0"));
    }

    @Test
    void aCoreHasANode() throws IOException {
        file("devices/system/node/online", "0-1");
        file("devices/system/node/node0/cpulist", "0-1");
        file("devices/system/node/node1/cpulist", "2-3");
        assertEquals(0, Cores.nodeOf(1, system));
        assertEquals(1, Cores.nodeOf(2, system));
        assertEquals(0, Cores.nodeOf(ThreadAffinity.ANY, system));
        assertEquals(0, Cores.nodeOf(9, system), "a core that no node has");
        assertTrue(Cores.currentNode() >= 0);
    }

    @Test
    void aDeviceWithoutANodeIsNearEveryCore() throws IOException {
        file("class/infiniband/rxe0/device/numa_node", "-1");
        assertEquals(List.of(0, 2), Cores.near(cores(0, 2), system, "rxe0"));
        assertEquals(List.of(0, 2), Cores.near(cores(0, 2), system, "soft0"));
    }

    @Test
    void aPinnedThreadStaysOnItsCore() throws InterruptedException {
        List<Integer> cores = Cores.near("");
        assertFalse(cores.isEmpty());
        BitSet[] pinned = new BitSet[1];
        Thread thread = new Thread(() -> {
            ThreadAffinity.pin(cores.getLast());
            pinned[0] = Posix.affinity(0);
        });
        thread.start();
        thread.join();
        assertEquals(cores(cores.getLast()), pinned[0]);
        assertEquals(cores, Cores.near(""), "other threads are where they were");
    }
}
