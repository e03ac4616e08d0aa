package io.farheap.cli;

import io.farheap.soak.HeldResources;
import io.farheap.testing.TestDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The resources of a process, as /proc and /dev/shm show them. */
final class ProcessResources {

    private ProcessResources() {}

    /** Fails if after a while there are still more of any resource than before. */
    static void assertNoMore(Map<String, Long> before, Supplier<Map<String, Long>> actual) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(60));
        Map<String, Long> now = actual.get();
        while (!HeldResources.noMore(now, before)) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("left over: now there is " + now + ", and there was " + before);
            }
            Thread.sleep(10);
            now = actual.get();
        }
    }

    static List<String> sharedMemoryFiles() {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.map(Path::toString).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Command lines of the processes that match. */
    static List<String> processes(Predicate<String> commandLine) {
        return ProcessHandle.allProcesses()
                .map(process -> read(Path.of("/proc", Long.toString(process.pid()), "cmdline"))
                        .replace('\0', ' '))
                .filter(commandLine)
                .toList();
    }

    private static String read(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            return "";
        }
    }
}
