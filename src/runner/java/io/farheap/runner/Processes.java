package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The processes that came of an item, found by a variable that each of them has inherited: also those whose parent has
 * ended, and those with a session of their own.
 */
final class Processes {

    private static final int GENTLE_ROUNDS = 100;

    private Processes() {}

    /** Those that have {@code name=value} in their environment, and live. */
    static List<Long> with(String variable) {
        byte[] wanted = variable.getBytes(StandardCharsets.UTF_8);
        List<Long> found = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : processes) {
                if (hasVariable(process, wanted)) {
                    found.add(Long.parseLong(process.getFileName().toString()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    private static boolean hasVariable(Path process, byte[] wanted) {
        byte[] environment;
        try {
            // A process that has ended and is not waited for yet has an empty one.
            environment = Files.readAllBytes(process.resolve("environ"));
        } catch (IOException e) {
            return false;
        }
        int start = 0;
        for (int at = 0; at < environment.length; at++) {
            if (environment[at] == 0) {
                if (at - start == wanted.length && Arrays.equals(environment, start, at, wanted, 0, wanted.length)) {
                    return true;
                }
                start = at + 1;
            }
        }
        return false;
    }

    /** Ends them, and those that they start meanwhile: for two seconds in a way in which they can clear up. */
    static void kill(String variable) {
        for (int round = 0; round < 400; round++) {
            List<Long> left = with(variable);
            left.remove(ProcessHandle.current().pid());
            if (left.isEmpty()) {
                return;
            }
            boolean gently = round < GENTLE_ROUNDS;
            left.forEach(pid -> ProcessHandle.of(pid).ifPresent(process -> {
                if (gently) {
                    process.destroy();
                } else {
                    process.destroyForcibly();
                }
            }));
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** For messages. */
    static String describe(long pid) {
        try {
            String line = Files.readString(Path.of("/proc", Long.toString(pid), "cmdline"))
                    .replace('\0', ' ')
                    .strip();
            return pid + " (" + (line.length() > 200 ? line.substring(0, 200) + "..." : line) + ")";
        } catch (IOException e) {
            return Long.toString(pid);
        }
    }
}
