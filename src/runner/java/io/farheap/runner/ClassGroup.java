package io.farheap.runner;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Test classes of one module that share a JVM: JUnit's console runs them on that module's class path, and a listener
 * ({@code ResultFeed}) writes what happens into a file. If the JVM ends before its time, the class that it was at has
 * failed, and another JVM takes the rest.
 */
record ClassGroup(TestModule module, List<String> classes, Effort effort, List<String> options) {

    /** Longer than JUnit lets a test take. */
    static final Duration SILENCE = Duration.ofMinutes(16);

    /**
     * By the wall, beside others. Each JVM starts and compiles anew what all tests use: groups of 180 s take 0.88 of
     * the processor time of groups of 60 s.
     */
    private static final double GROUP_SECONDS = 180;

    private static final String CONSOLE = "org.junit.platform.console.ConsoleLauncher";

    /** Puts classes into groups that take some 180 s each, longest first. */
    static List<List<String>> pack(List<String> classes, ToDoubleFunction<String> seconds) {
        List<String> longest = new ArrayList<>(classes);
        longest.sort((a, b) -> Double.compare(seconds.applyAsDouble(b), seconds.applyAsDouble(a)));
        double all = classes.stream().mapToDouble(seconds).sum();
        int count = (int) Math.max(1, Math.ceil(all / GROUP_SECONDS));
        List<List<String>> groups = new ArrayList<>();
        double[] sums = new double[count];
        for (int i = 0; i < count; i++) {
            groups.add(new ArrayList<>());
        }
        for (String name : longest) {
            int least = 0;
            for (int i = 1; i < count; i++) {
                if (sums[i] < sums[least]) {
                    least = i;
                }
            }
            groups.get(least).add(name);
            sums[least] += seconds.applyAsDouble(name);
        }
        groups.removeIf(List::isEmpty);
        return groups;
    }

    /** @param like has the name, the environment and so on of the item, and its command and reader are replaced */
    Item item(Item like) {
        return new Item(
                like.name(),
                like.suite(),
                this::line,
                like.environment(),
                like.slots(),
                like.alone(),
                like.after(),
                like.seconds(),
                like.silence(),
                like.mebibytes(),
                new Reader(this, like));
    }

    private List<String> line(Path scratch) {
        List<String> line = new ArrayList<>(List.of(Jdk.java(), "-ea", "-Xmx1g"));
        line.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
        line.addAll(module.jvmOptions());
        line.addAll(options);
        line.add("-Dfarheap.effort=" + effort);
        line.add("-Dfarheap.feed=" + feed(scratch));
        line.addAll(List.of("-cp", module.classPath(), CONSOLE, "execute"));
        line.addAll(List.of("--disable-banner", "--disable-ansi-colors", "--details=none", "--fail-if-no-tests"));
        if (effort != Effort.FULL) {
            line.add("--exclude-tag=full");
        }
        classes.forEach(name -> line.add("--select-class=" + name));
        return line;
    }

    private static Path feed(Path scratch) {
        return scratch.toAbsolutePath().resolve("feed");
    }

    private record Reader(ClassGroup group, Item item) implements OutcomeReader {

        /** What a test prints is none: one that hangs may print for ever. */
        @Override
        public long progress(Path scratch) {
            return feed(scratch).toFile().length();
        }

        @Override
        public Outcome read(Path scratch, Ending ending) {
            Feed feed = Files.exists(feed(scratch)) ? Feed.read(feed(scratch)) : new Feed();
            List<Result> results = new ArrayList<>();
            List<String> rest = new ArrayList<>();
            boolean blamed = false;
            for (String name : group.classes) {
                Feed.OfClass found = feed.classes().get(name);
                if (found != null && found.ended()) {
                    results.add(
                            found.tests() > 0
                                    ? found.result(name)
                                    : Result.failure(
                                            name, "it ran no test; a class for full alone has @Tag(\"full\")"));
                } else if (feed.finished()) {
                    results.add(Result.failure(name, "it was planned and not run; is it a test class?"));
                } else if (found != null) {
                    blamed = true;
                    results.add(Result.failure(name, "its JVM ended amid it: " + ending.how() + "\n" + ending.said()));
                } else {
                    rest.add(name);
                }
            }
            if (!rest.isEmpty() && !blamed) {
                // It would not come further another time.
                rest.forEach(name -> results.add(
                        Result.failure(name, "its JVM did not come to it: " + ending.how() + "\n" + ending.said())));
                rest.clear();
            }
            boolean noted = blamed || results.stream().anyMatch(one -> one.failed() > 0);
            // Status 1 is that of failed tests. A JVM that dies behind its last test has failed too, and so has what it
            // leaves.
            if (!ending.trouble().isEmpty() && !blamed || !noted && (!feed.finished() || !ending.passed())) {
                results.add(Result.failure(item.name(), "its JVM: " + ending.how() + "\n" + ending.said()));
            }
            return new Outcome(results, feed.notRun(), rest.isEmpty() ? List.of() : List.of(restItem(rest)));
        }

        private Item restItem(List<String> rest) {
            Item named = new Item(
                    item.name() + "+",
                    item.suite(),
                    item.command(),
                    item.environment(),
                    item.slots(),
                    item.alone(),
                    item.after(),
                    item.seconds(),
                    item.silence(),
                    item.mebibytes(),
                    item.reader());
            return new ClassGroup(group.module, List.copyOf(rest), group.effort, group.options).item(named);
        }
    }
}
