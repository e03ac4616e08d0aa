package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the machine's processors have done since it started, in ticks: whoever used them. */
record ProcessorTime(long all, long idle) {

    static ProcessorTime now() {
        try {
            String[] fields =
                    Files.readAllLines(Path.of("/proc/stat")).getFirst().trim().split("\\s+");
            long all = 0;
            // user, nice, system, idle, iowait, irq, softirq, steal; what guests take is in user.
            for (int i = 1; i <= 8; i++) {
                all += Long.parseLong(fields[i]);
            }
            return new ProcessorTime(all, Long.parseLong(fields[4]) + Long.parseLong(fields[5]));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The share of time in which processors idled since then. */
    double idleShareSince(ProcessorTime then) {
        return all == then.all ? 0 : (double) (idle - then.idle) / (all - then.all);
    }
}
