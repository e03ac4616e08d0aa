package io.farheap.bench.figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** How much of the processor other work uses. */
final class MachineLoad {

    private static final Path AVERAGE = Path.of("/proc/loadavg");
    private static final Path TIMES = Path.of("/proc/stat");
    /** Of the first line of the times: idle, and idle while a disk works. */
    private static final int IDLE = 4;

    private static final int WAITING = 5;
    /** Later columns are guests' times, which are part of earlier ones. */
    private static final int COLUMNS = 9;

    private static final long SAMPLE_MILLIS = 500;

    private MachineLoad() {}

    /** Returns the load average of the last minute; NaN if the system reports none. */
    static double average() throws IOException {
        return Files.exists(AVERAGE)
                ? Double.parseDouble(Files.readString(AVERAGE).split(" ")[0])
                : Double.NaN;
    }

    /**
     * Returns the percentage of all cores' time that is used in the next half second, by the hypervisor's other guests,
     * too: after a benchmark the load average still shows the benchmark itself. NaN if the system reports none.
     */
    static double busyPercent() throws InterruptedException, IOException {
        if (!Files.exists(TIMES)) {
            return Double.NaN;
        }
        long[] before = times();
        Thread.sleep(SAMPLE_MILLIS);
        long[] after = times();
        long all = Arrays.stream(after).sum() - Arrays.stream(before).sum();
        long idle = idle(after) - idle(before);
        return all <= 0 ? Double.NaN : 100.0 * (all - idle) / all;
    }

    private static long[] times() throws IOException {
        List<String> words = List.of(Files.readAllLines(TIMES).getFirst().split("\\s+"));
        return words.stream().limit(COLUMNS).skip(1).mapToLong(Long::parseLong).toArray();
    }

    /** Of times without the first word of the line. */
    private static long idle(long[] times) {
        return times[IDLE - 1] + times[WAITING - 1];
    }
}
