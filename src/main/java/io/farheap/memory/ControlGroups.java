package io.farheap.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The memory that the limits of this process's control groups leave: of its own group and of all groups above it, as
 * far as they are visible from here. Supports cgroup v2 and the memory hierarchy of v1.
 */
final class ControlGroups {

    /**
     * The files of a version. Page cache that has not been used lately is reclaimed for other uses, so it counts as
     * available. Before the kernel enforces a group's limit it also reclaims page cache in use, and parts of its own
     * caches.
     */
    private enum Version {
        TWO("memory.max", "memory.current", "inactive_file", Set.of("active_file", "slab_reclaimable")),
        ONE("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", Set.of("total_active_file"));

        private final String limit;
        private final String usage;
        // Fields of memory.stat.
        private final String cache;
        // That of Set.of is immutable.
        @SuppressWarnings("ImmutableEnumChecker")
        private final Set<String> inUse;

        Version(String limit, String usage, String cache, Set<String> inUse) {
            this.limit = limit;
            this.usage = usage;
            this.cache = cache;
            this.inUse = inUse;
        }

        private boolean counts(String field, boolean reclaims) {
            return field.equals(cache) || reclaims && inUse.contains(field);
        }
    }

    private static final AvailableBytes UNLIMITED =
            new AvailableBytes("no control group", Long.MAX_VALUE, Long.MAX_VALUE);

    private ControlGroups() {}

    /**
     * @param root of the file system
     * @param reclaims whether caches in use count as available too
     */
    static AvailableBytes least(Path root, boolean reclaims) {
        AvailableBytes least = UNLIMITED;
        // N:controllers:path, where v2 has number 0 and no controllers.
        for (String line : lines(root.resolve("proc/self/cgroup"))) {
            String[] fields = line.split(":", 3);
            if (fields.length == 3 && fields[0].equals("0") && fields[1].isEmpty()) {
                least = least.least(least(root, reclaims, Version.TWO, fields[2]));
            } else if (fields.length == 3 && List.of(fields[1].split(",")).contains("memory")) {
                least = least.least(least(root, reclaims, Version.ONE, fields[2]));
            }
        }
        return least;
    }

    /**
     * Returns a file of this process's own group of version 2; null if the process is in none that is visible from
     * here.
     *
     * @param root of the file system
     */
    static @Nullable Path own(Path root, String file) {
        for (String line : lines(root.resolve("proc/self/cgroup"))) {
            if (line.startsWith("0::")) {
                List<Path> groups = groups(root, Version.TWO, line.substring("0::".length()));
                return groups.isEmpty() ? null : groups.getFirst().resolve(file);
            }
        }
        return null;
    }

    private static AvailableBytes least(Path root, boolean reclaims, Version version, String path) {
        AvailableBytes least = UNLIMITED;
        for (Path group : groups(root, version, path)) {
            least = least.least(left(version, group, reclaims));
        }
        return least;
    }

    /**
     * Returns this process's own group and those above it. Finds the mount point of the hierarchy: a container may see
     * a part of it, whose root is then the container's own group.
     */
    private static List<Path> groups(Path root, Version version, String path) {
        // ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS [TAGS...] - TYPE SOURCE SUPER-OPTIONS
        for (String line : lines(root.resolve("proc/self/mountinfo"))) {
            String[] halves = line.split(" - ", 2);
            String[] mount = halves[0].split(" ");
            String[] type = halves.length < 2 ? new String[0] : halves[1].split(" ");
            if (mount.length < 5 || type.length < 3) {
                continue;
            }
            boolean ours = version == Version.TWO
                    ? type[0].equals("cgroup2")
                    : type[0].equals("cgroup") && List.of(type[2].split(",")).contains("memory");
            if (ours) {
                return groups(root, unescaped(mount[4]), below(unescaped(mount[3]), path));
            }
        }
        return List.of();
    }

    /**
     * A group's path relative to the mounted root; the mounted group itself if the path is not below that root, as in a
     * container with v1.
     */
    private static String below(String mounted, String path) {
        if (mounted.equals("/")) {
            return path;
        }
        return path.equals(mounted) || path.startsWith(mounted + "/") ? path.substring(mounted.length()) : "";
    }

    private static List<Path> groups(Path root, String mountPoint, String below) {
        List<Path> groups = new ArrayList<>();
        try {
            Path top = root.resolve(relative(mountPoint)).normalize();
            Path group = top.resolve(relative(below)).normalize();
            // For a group outside of the visible part ("/../..") only the mounted root is checked.
            for (group = group.startsWith(top) ? group : top;
                    group != null && group.startsWith(top);
                    group = group.getParent()) {
                groups.add(group);
                if (group.equals(top)) {
                    break;
                }
            }
        } catch (InvalidPathException e) {
            // Not a path that this machine has.
        }
        return groups;
    }

    private static AvailableBytes left(Version version, Path group, boolean reclaims) {
        long limit = number(group.resolve(version.limit));
        long usage = number(group.resolve(version.usage));
        if (limit == Long.MAX_VALUE || usage == Long.MAX_VALUE) {
            return UNLIMITED;
        }
        long cache = 0;
        for (String line : lines(group.resolve("memory.stat"))) {
            String[] field = line.split(" ");
            if (field.length == 2 && version.counts(field[0], reclaims)) {
                long bytes = number(field[1]);
                cache += bytes == Long.MAX_VALUE ? 0 : bytes;
            }
        }
        return new AvailableBytes("control group " + group, Math.max(0, limit - Math.max(0, usage - cache)), limit);
    }

    /** The number in a file; "max", v1's value near 2^63 and a missing file all mean no limit. */
    private static long number(Path file) {
        List<String> lines = lines(file);
        return lines.isEmpty() ? Long.MAX_VALUE : number(lines.getFirst().trim());
    }

    private static long number(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }

    private static String relative(String path) {
        return path.replaceFirst("^/+", "");
    }

    /** Blanks are octal escapes in mountinfo. */
    private static String unescaped(String path) {
        return path.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }
}
