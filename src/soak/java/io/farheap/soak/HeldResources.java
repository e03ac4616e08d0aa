package io.farheap.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What this process holds, by name, as /proc tells it: to be compared with what it held before. */
public final class HeldResources {

    private HeldResources() {}

    /**
     * Descriptors by what they point to, without those that the JVM opens when it likes (class files, random sources).
     */
    public static Map<String, Long> descriptors() {
        return descriptorsOf("self");
    }

    /** Descriptors of another process, counted like those of this one. */
    public static Map<String, Long> descriptors(long pid) {
        return descriptorsOf(Long.toString(pid));
    }

    private static Map<String, Long> descriptorsOf(String process) {
        try (Stream<Path> fds = Files.list(Path.of("/proc", process, "fd"))) {
            return count(fds.map(HeldResources::target)
                    .filter(target -> !target.endsWith(".jar")
                            && !target.contains("/dev/")
                            && !target.contains("/proc/")
                            && !target.endsWith("/modules")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Mappings of files of memory, by name and size: arenas, and what softverbs maps. */
    public static Map<String, Long> sharedMappings() {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return count(
                    maps.filter(line -> line.contains("memfd:")).map(line -> line.substring(line.indexOf("memfd:"))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Threads of Farheap and of softverbs, as top -H names them. */
    public static Map<String, Long> threads() {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            return count(tasks.map(task -> read(task.resolve("comm")).trim())
                    .filter(name -> name.contains("farheap") || name.contains("soft") || name.contains("grpc")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What it has been for a second: what was let go of late is gone. */
    public static <T> T settled(Supplier<T> actual) throws InterruptedException {
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
    public static boolean noMore(Map<String, Long> now, Map<String, Long> before) {
        return now.entrySet().stream().allMatch(entry -> entry.getValue() <= before.getOrDefault(entry.getKey(), 0L));
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
