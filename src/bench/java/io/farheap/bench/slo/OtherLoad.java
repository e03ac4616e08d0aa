package io.farheap.bench.slo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Measures how much of the machine's processors other processes used during a measurement, which shows how reliable its
 * figures are.
 */
public final class OtherLoad {

    private static final Path STATISTICS = Path.of("/proc/stat");
    private static final double TICKS_PER_SECOND = 100;
    /** Columns of the kernel: idle, and waiting for a disk. */
    private static final int IDLE = 3;

    private static final int WAITING = 4;
    /** Columns that count: the time of guests is contained in these already. */
    private static final int COLUMNS = 8;

    private final List<ProcessHandle> ours;
    private final double busy;
    private final double own;
    private final long start = System.nanoTime();

    private OtherLoad(List<ProcessHandle> ours) {
        this.ours = ours;
        busy = busySeconds();
        own = ownSeconds(ours);
    }

    /**
     * Begins now.
     *
     * @param ours processes that do not count as others
     */
    public static OtherLoad since(List<ProcessHandle> ours) {
        return new OtherLoad(ours);
    }

    /** Returns the share, from 0 to 1; NaN if the kernel does not provide it. */
    public double share() {
        double seconds =
                (System.nanoTime() - start) / 1e9 * Runtime.getRuntime().availableProcessors();
        return Math.clamp((busySeconds() - busy - (ownSeconds(ours) - own)) / seconds, 0, 1);
    }

    private static double ownSeconds(List<ProcessHandle> processes) {
        return processes.stream()
                .map(process -> process.info().totalCpuDuration().orElse(Duration.ZERO))
                .mapToDouble(cpu -> cpu.toNanos() / 1e9)
                .sum();
    }

    private static double busySeconds() {
        try {
            return busySeconds(Files.readAllLines(STATISTICS).getFirst());
        } catch (IOException e) {
            return Double.NaN;
        }
    }

    /** @param line as {@code cpu user nice system idle iowait irq softirq steal ...}, in ticks */
    static double busySeconds(String line) {
        String[] words = line.trim().split("\\s+");
        double ticks = 0;
        for (int column = 0; column < Math.min(COLUMNS, words.length - 1); column++) {
            if (column != IDLE && column != WAITING) {
                ticks += Long.parseLong(words[column + 1]);
            }
        }
        return ticks / TICKS_PER_SECOND;
    }
}
