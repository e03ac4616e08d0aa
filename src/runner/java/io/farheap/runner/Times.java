package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * How long each class, and each test of another kind, took the last time: from the last run here, else from the list
 * that is checked in. Only the order and the grouping of the queue rest on it. A file has a line for each: suite, name,
 * seconds and processor seconds, between tabs.
 */
final class Times {

    /** Of what has not run yet. */
    private static final double UNKNOWN_SECONDS = 20;

    record Time(double seconds, double cpuSeconds) {}

    private final Path own;
    private final Map<String, Time> times = new TreeMap<>();

    /** @param checkedIn read first; {@code own} replaces what both have, and is written */
    Times(Path checkedIn, Path own) {
        this.own = own;
        read(checkedIn);
        read(own);
    }

    /** What is checked in alone: of pieces, which must be the same on each machine. */
    Times(Path checkedIn) {
        own = null;
        read(checkedIn);
    }

    private void read(Path file) {
        if (file == null || !Files.isReadable(file)) {
            return;
        }
        try {
            for (String line : Files.readAllLines(file)) {
                String[] fields = line.split("\t");
                if (fields.length == 4) {
                    Time time = new Time(Double.parseDouble(fields[2]), Double.parseDouble(fields[3]));
                    times.put(fields[0] + "\t" + fields[1], time);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (NumberFormatException e) {
            // A file that a run was amid of writing: the order is another, then.
        }
    }

    Time of(Suite suite, String name) {
        return times.getOrDefault(suite + "\t" + name, new Time(UNKNOWN_SECONDS, UNKNOWN_SECONDS));
    }

    double seconds(Suite suite, String name) {
        return of(suite, name).seconds;
    }

    void took(Suite suite, String name, double seconds, double cpuSeconds) {
        times.put(suite + "\t" + name, new Time(seconds, cpuSeconds));
    }

    void write() {
        StringBuilder text = new StringBuilder();
        times.forEach((name, time) ->
                text.append(String.format(Locale.ROOT, "%s\t%.1f\t%.1f%n", name, time.seconds, time.cpuSeconds)));
        try {
            Files.createDirectories(own.getParent());
            Files.writeString(own, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
