package io.farheap.bench.figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * How much of the processor other work uses.
 *
 * @param average the load average of the last minute; NaN if the system reports none
 * @param busyPercent the percentage of all cores' time that was used in half a second, by the hypervisor's other
 *     guests, too; NaN if the system reports none
 */
record MachineLoad(double average, double busyPercent) {

    /** Measures the load of a machine. */
    @FunctionalInterface
    interface Probe {

        MachineLoad now() throws IOException, InterruptedException;
    }

    private static final Path AVERAGE = Path.of("/proc/loadavg");
    private static final Path TIMES = Path.of("/proc/stat");
    /** Of the first line of the times: idle, and idle while a disk works. */
    private static final int IDLE = 4;

    private static final int WAITING = 5;
    /** Later columns are guests' times, which are part of earlier ones. */
    private static final int COLUMNS = 9;

    private static final long SAMPLE_MILLIS = 500;

    private static final double MOST_BUSY_PERCENT = 25;
    private static final double MOST_LOAD_OF_CORE = 0.5;

    /** Measures for half a second. */
    static MachineLoad now() throws IOException, InterruptedException {
        double average = Files.exists(AVERAGE)
                ? Double.parseDouble(Files.readString(AVERAGE).split(" ")[0])
                : Double.NaN;
        return new MachineLoad(average, sampled());
    }

    /**
     * Whether other work would spoil a figure. The load average decides only if the system does not report the
     * processors' times: for minutes after a build, or after another benchmark, it still shows that one.
     */
    boolean busy(int cores) {
        return Double.isNaN(busyPercent) ? average > MOST_LOAD_OF_CORE * cores : busyPercent > MOST_BUSY_PERCENT;
    }

    /** Says what is too much, and the limit: the beginning of a sentence about a machine that is {@link #busy}. */
    String tooMuch(int cores) {
        return Double.isNaN(busyPercent)
                ? "the load average is " + average + ", and a figure needs a machine with at most "
                        + MOST_LOAD_OF_CORE * cores
                : "other work uses " + Math.round(busyPercent) + "% of the processor's time (load average " + average
                        + "), and a figure needs a machine on which it uses at most " + Math.round(MOST_BUSY_PERCENT)
                        + "%";
    }

    private static double sampled() throws InterruptedException, IOException {
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
