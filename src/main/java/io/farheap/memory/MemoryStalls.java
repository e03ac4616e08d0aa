package io.farheap.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The share of the time in which tasks wait for memory, as the kernel reports it (pressure stall information, PSI):
 * that of the machine, and of this process's control group. A kernel may have neither. Thread-safe.
 */
public final class MemoryStalls {

    private static final System.Logger LOG = System.getLogger(MemoryStalls.class.getName());
    /** The first use of this class is the first look at them. */
    private static final MemoryStalls MACHINE = new MemoryStalls(AvailableMemory.ROOT);

    private static final String SOME = "some ";
    private static final String AVERAGE = "avg10=";

    private final List<Path> files = new ArrayList<>();

    /** @param root of the file system */
    MemoryStalls(Path root) {
        List<String> troubles = new ArrayList<>();
        List<Path> all = new ArrayList<>(List.of(root.resolve("proc/pressure/memory")));
        Path group = ControlGroups.own(root, "memory.pressure");
        if (group != null) {
            all.add(group);
        }
        for (Path file : all) {
            String trouble = trouble(file);
            if (trouble == null) {
                files.add(file);
            } else {
                troubles.add(file + " " + trouble);
            }
        }
        if (files.isEmpty()) {
            LOG.log(
                    System.Logger.Level.INFO,
                    "this kernel does not say for how long tasks wait for memory (" + String.join(", ", troubles)
                            + "), so only free memory counts for the headroom; boot it with psi=1 if it has that");
        }
    }

    /** Returns why a file says nothing; null if it does. */
    private static @Nullable String trouble(Path file) {
        try {
            return Double.isNaN(average(Files.readAllLines(file)))
                    ? "has no line that begins with \"some avg10=\" and a number"
                    : null;
        } catch (IOException e) {
            return "cannot be read: " + e.getClass().getSimpleName();
        }
    }

    /**
     * The percentage of the last ten seconds in which at least one task waited for memory, of the machine or of this
     * process's control group, whichever is more; 0 if the kernel does not say so. A sentence in the log says that,
     * once.
     */
    public static double percent() {
        return MACHINE.most();
    }

    double most() {
        double most = 0;
        for (Path file : files) {
            try {
                double average = average(Files.readAllLines(file));
                most = Double.isNaN(average) ? most : Math.max(most, average);
            } catch (IOException e) {
                // The group may have been removed while this process ends.
            }
        }
        return most;
    }

    /** Returns {@code avg10} of the line that begins with {@code some}; NaN if there is none. */
    static double average(List<String> lines) {
        for (String line : lines) {
            if (line.startsWith(SOME)) {
                for (String field : List.of(line.split(" ", -1))) {
                    if (field.startsWith(AVERAGE)) {
                        return percentage(field.substring(AVERAGE.length()));
                    }
                }
            }
        }
        return Double.NaN;
    }

    private static double percentage(String text) {
        try {
            double percent = Double.parseDouble(text);
            return percent >= 0 && percent <= 100 ? percent : Double.NaN;
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }
}
