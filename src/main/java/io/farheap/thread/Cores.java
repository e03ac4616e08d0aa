package io.farheap.thread;

import io.farheap.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/** The processor cores that this process may use, and those of them that are near a device. */
public final class Cores {

    private static final Path SYSTEM = Path.of("/sys");
    private static final int NO_NODE = -1;

    private Cores() {}

    /**
     * All cores of the process, those of the device's NUMA node first.
     *
     * @param device an RDMA device's name; one that the kernel does not know, such as softverbs's, is near every core
     */
    public static List<Integer> near(String device) {
        // The mask of the process's first thread, since the calling thread may be pinned.
        return near(Posix.affinity((int) ProcessHandle.current().pid()), SYSTEM, device);
    }

    static List<Integer> near(BitSet allowed, Path system, String device) {
        BitSet near = coresNear(system, device);
        return allowed.stream()
                .boxed()
                .sorted(Comparator.comparing((Integer core) -> !near.get(core)))
                .toList();
    }

    /** The NUMA node that the calling thread runs on; 0 if the machine does not report it. */
    public static int currentNode() {
        return nodeOf(Posix.currentCore());
    }

    /** The NUMA node of a core; 0 if the machine does not report it, or the core is {@link ThreadAffinity#ANY}. */
    public static int nodeOf(int core) {
        return nodeOf(core, SYSTEM);
    }

    static int nodeOf(int core, Path system) {
        Path nodes = system.resolve("devices/system/node");
        for (int node : parse(read(nodes.resolve("online"))).stream().toArray()) {
            if (core >= 0
                    && parse(read(nodes.resolve("node" + node + "/cpulist"))).get(core)) {
                return node;
            }
        }
        return 0;
    }

    private static BitSet coresNear(Path system, String device) {
        int node =
                number(read(system.resolve("class/infiniband").resolve(device).resolve("device/numa_node")));
        return node == NO_NODE
                ? new BitSet()
                : parse(read(system.resolve("devices/system/node/node" + node + "/cpulist")));
    }

    /** Parses a list as the kernel writes it, such as {@code 0-3,8,10-11}. */
    static BitSet parse(String list) {
        BitSet cores = new BitSet();
        for (String range : list.split(",")) {
            String[] ends = range.split("-");
            int first = number(ends[0]);
            int last = number(ends[ends.length - 1]);
            if (first >= 0 && last >= first) {
                cores.set(first, last + 1);
            }
        }
        return cores;
    }

    private static int number(String text) {
        try {
            return Integer.parseInt(text.trim());
        } catch (NumberFormatException e) {
            return NO_NODE;
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).trim();
        } catch (IOException e) {
            return "";
        }
    }
}
