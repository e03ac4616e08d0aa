package io.farheap.bench.figures;

import com.google.gson.JsonObject;
import io.farheap.bench.machine.ScratchDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The machine on which figures are measured, as the field {@code machine} of each stored figure has it. */
final class MachineRecord {

    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");
    private static final Path KERNEL = Path.of("/proc/sys/kernel/osrelease");
    private static final Path CACHES = Path.of("/sys/devices/system/cpu/cpu0/cache");
    private static final String UNKNOWN = "unknown";

    private MachineRecord() {}

    /**
     * Describes this machine.
     *
     * @param root of the checkout, whose build fetches the peers' client libraries
     * @param disk whether to measure the disk of the temporary files, which takes some 10 s
     */
    static JsonObject read(Path root, boolean disk) throws IOException, InterruptedException {
        List<String> processors = Files.exists(PROCESSORS) ? Files.readAllLines(PROCESSORS) : List.of();
        JsonObject machine = new JsonObject();
        machine.addProperty("processor", value(processors, "model name"));
        machine.addProperty("cores", Runtime.getRuntime().availableProcessors());
        machine.addProperty("caches", caches(processors));
        machine.addProperty(
                "kernel", Files.exists(KERNEL) ? Files.readString(KERNEL).strip() : UNKNOWN);
        machine.addProperty("hypervisor", hypervisor(root, processors));
        machine.addProperty(
                "jdk", System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version"));
        machine.add("peers", PeerVersions.read(root));
        if (disk) {
            try (ScratchDirectory directory = new ScratchDirectory("farheap-fio")) {
                machine.add("disk", DiskSpeed.measure(directory.path()));
            }
        }
        return machine;
    }

    /** The first value of this name in {@code /proc/cpuinfo} or in lscpu's output. */
    private static String value(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name) && line.contains(":"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .filter(text -> !text.isEmpty())
                .findFirst()
                .orElse(UNKNOWN);
    }

    /** As {@code L1 Data 32K, L1 Instruction 32K, L2 Unified 1024K}. */
    private static String caches(List<String> processors) throws IOException {
        if (!Files.isDirectory(CACHES)) {
            return value(processors, "cache size");
        }
        try (Stream<Path> each = Files.list(CACHES)) {
            List<Path> indexes = each.filter(cache -> Files.exists(cache.resolve("size")))
                    .sorted()
                    .toList();
            StringBuilder caches = new StringBuilder();
            for (Path index : indexes) {
                caches.append(caches.isEmpty() ? "L" : ", L")
                        .append(Stream.of("level", "type", "size")
                                .map(name -> index.resolve(name))
                                .filter(Files::exists)
                                .map(MachineRecord::word)
                                .collect(Collectors.joining(" ")));
            }
            return caches.isEmpty() ? value(processors, "cache size") : caches.toString();
        }
    }

    private static String word(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return UNKNOWN;
        }
    }

    private static String hypervisor(Path root, List<String> processors) throws IOException, InterruptedException {
        String printed = ShortCommand.output(root, List.of("lscpu"));
        String vendor = printed == null ? UNKNOWN : value(printed.lines().toList(), "Hypervisor vendor");
        boolean guest = List.of(value(processors, "flags").split(" ")).contains("hypervisor");
        return guest || !vendor.equals(UNKNOWN) ? vendor : "none";
    }
}
