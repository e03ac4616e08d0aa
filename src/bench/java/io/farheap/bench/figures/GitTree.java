package io.farheap.bench.figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The checkout's commits, as git reports them. */
final class GitTree {

    /**
     * A commit.
     *
     * @param hash all 40 digits
     * @param date of the commit, as {@code 2026-11-29}
     */
    record Commit(String hash, String date) {}

    /** The files that a build is made of: a change of a page does not change a figure. */
    private static final List<String> SOURCES =
            List.of("farheap", "pom.xml", "src", "modules", "native", "cmake", ".mvn");

    /** Hashes of commits that changed no code: they only format, move, rename or reword. */
    private static final String WITHOUT_CHANGE = ".git-blame-ignore-revs";

    /** The first letter of a package, or a path, whose changes are not looked at. */
    private static final String WITHOUT = "!";
    /** The same, of a path as git has it. */
    private static final String EXCLUDED = ":(exclude)";

    private final Path root;

    GitTree(Path root) {
        this.root = root;
    }

    /** @throws IllegalArgumentException if git reports no commit */
    String commit() throws IOException, InterruptedException {
        String hash = git(List.of("rev-parse", "HEAD"));
        if (hash == null) {
            throw new IllegalArgumentException(
                    root + ": git reports no commit here, and a figure must name one; measure it in a clone");
        }
        return hash;
    }

    /** Whether sources differ from the commit, or are in none. */
    boolean dirty() throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("status", "--porcelain", "--"));
        arguments.addAll(SOURCES);
        String changes = git(arguments);
        return changes == null || !changes.isEmpty();
    }

    /**
     * Returns the latest commit after a given one that changed some packages.
     *
     * @param since the hash of the given commit
     * @param packages as in {@link FigureSpec}
     * @return null if there is none, or if git does not know the given commit
     */
    @Nullable
    Commit changed(String since, List<String> packages) throws IOException, InterruptedException {
        List<String> paths = paths(packages);
        if (paths.stream().allMatch(path -> path.startsWith(EXCLUDED))) {
            return null;
        }
        List<String> arguments = new ArrayList<>(List.of("log", "--format=%H %cs", since + "..HEAD", "--"));
        arguments.addAll(paths);
        String log = git(arguments);
        if (log == null) {
            return null;
        }
        Set<String> withoutChange = withoutChange();
        return log.lines()
                .map(line -> line.split(" ", 2))
                .filter(words -> words.length == 2 && !withoutChange.contains(words[0]))
                .map(words -> new Commit(words[0], words[1]))
                .findFirst()
                .orElse(null);
    }

    /**
     * The directories and files of packages that are there, from the root of the checkout; those that are left out as
     * git excludes them.
     */
    List<String> paths(List<String> packages) throws IOException {
        List<String> paths = new ArrayList<>();
        for (String each : packages) {
            boolean without = each.startsWith(WITHOUT);
            for (String path : places(without ? each.substring(WITHOUT.length()) : each)) {
                if (Files.exists(root.resolve(path))) {
                    paths.add(without ? EXCLUDED + path : path);
                }
            }
        }
        return paths;
    }

    /** The paths that a package may have. */
    private List<String> places(String each) throws IOException {
        if (each.contains("/")) {
            return List.of(each);
        }
        String directory = each.replace('.', '/');
        return sourceRoots().stream().map(sources -> sources + "/" + directory).toList();
    }

    private List<String> sourceRoots() throws IOException {
        List<String> roots = new ArrayList<>(List.of("src/main/java", "src/bench/java", "src/peers/java"));
        Path modules = root.resolve("modules");
        if (Files.isDirectory(modules)) {
            try (Stream<Path> each = Files.list(modules)) {
                each.map(module -> "modules/" + module.getFileName() + "/src/main/java")
                        .sorted()
                        .forEach(roots::add);
            }
        }
        return roots;
    }

    private Set<String> withoutChange() throws IOException {
        Path file = root.resolve(WITHOUT_CHANGE);
        return Files.exists(file) ? Set.copyOf(Files.readAllLines(file)) : Set.of();
    }

    private @Nullable String git(List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("git"));
        command.addAll(arguments);
        return ShortCommand.output(root, command);
    }
}
