package io.farheap.cli;

import io.farheap.testing.TestDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a process holds, as /proc and /dev/shm tell it. */
final class ProcessResources {

    private ProcessResources() {}

    /**
     * Descriptors by what they point to, without those that the JVM opens when it likes (class files, random sources).
     */
    static Map<String, Long> descriptors() {
        try (Stream<Path> fds = Files.list(Path.of("/proc/self/fd"))) {
            return count(fds.map(ProcessResources::target)
                    .filter(target -> !target.endsWith(".jar")
                            && !target.contains("/dev/")
                            && !target.contains("/proc/")
                            && !target.endsWith("/modules")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Mappings of files of memory, by name and size: arenas, and what softverbs maps. */
    static Map<String, Long> sharedMappings() {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return count(
                    maps.filter(line -> line.contains("memfd:")).map(line -> line.substring(line.indexOf("memfd:"))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Threads of Farheap and of softverbs, as top -H names them. */
    static Map<String, Long> threads() {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            return count(tasks.map(task -> read(task.resolve("comm")).trim())
                    .filter(name -> name.contains("farheap") || name.contains("soft") || name.contains("grpc")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What stays the same for a while: threads that end may take a moment. */
    static <T> T settled(Supplier<T> actual) throws InterruptedException {
        T value = actual.get();
        for (int same = 0; same < 10; same++) {
            Thread.sleep(100);
            T now = actual.get();
            if (!now.equals(value)) {
                value = now;
                same = 0;
            }
        }
        return value;
    }

    /**
     * Whether there is no more of anything than before. There may be less: what was let go of late was still there
     * before.
     */
    static boolean noMore(Map<String, Long> now, Map<String, Long> before) {
        return now.entrySet().stream().allMatch(entry -> entry.getValue() <= before.getOrDefault(entry.getKey(), 0L));
    }

    /** Fails where after a while there still is more of anything than before. */
    static void assertNoMore(Map<String, Long> before, Supplier<Map<String, Long>> actual) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(60));
        Map<String, Long> now = actual.get();
        while (!noMore(now, before)) {
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

    private static String target(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString().replaceAll("\\[\\d+\\]", "");
        } catch (IOException e) {
            return "/proc/gone";
        }
    }

    private static String read(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            return "";
        }
    }

    private static Map<String, Long> count(Stream<String> names) {
        return names.collect(Collectors.groupingBy(name -> name, TreeMap::new, Collectors.counting()));
    }
}
