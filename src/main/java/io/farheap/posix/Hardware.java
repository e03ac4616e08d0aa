package io.farheap.posix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The machine that a model is measured on. */
public final class Hardware {

    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");
    private static final int MAX_LENGTH = 150;

    private Hardware() {}

    /** The processor and how many of its cores this process may use, as {@code AMD EPYC 7551, 60 cores}. */
    public static String describe() {
        try {
            return describe(Files.readAllLines(PROCESSORS), Runtime.getRuntime().availableProcessors());
        } catch (IOException e) {
            return describe(List.of(), Runtime.getRuntime().availableProcessors());
        }
    }

    static String describe(List<String> processors, int cores) {
        String name = processors.stream()
                .filter(line -> line.startsWith("model name") && line.contains(":"))
                .map(line -> line.substring(line.indexOf(':') + 1)
                        .replaceAll("[\\p{Cntrl}\\s]+", " ")
                        .strip())
                .filter(text -> !text.isEmpty())
                .findFirst()
                .orElse("unknown processor");
        return name.substring(0, Math.min(name.length(), MAX_LENGTH)).strip() + ", " + cores
                + (cores == 1 ? " core" : " cores");
    }
}
