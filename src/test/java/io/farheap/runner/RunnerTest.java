package io.farheap.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.runner.madeup.LongRun;
import io.farheap.testing.TestDevice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./farheap test} with made-up classes and commands: the counts are right, and nothing is left. */
public class RunnerTest {

    private static final String MADE_UP = "io.farheap.runner.madeup.";
    private static final Path ROOT = Path.of("").toAbsolutePath();

    @TempDir
    Path directory;

    private final String run = "test-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
    private final Map<String, Result> results = new HashMap<>();
    private final List<String> notRun = new ArrayList<>();
    private final List<String> items = new ArrayList<>();

    private static Item group(String name, String... classes) {
        List<String> names = List.of(classes).stream().map(one -> MADE_UP + one).toList();
        Item like = Item.of(name, Suite.LIBRARY, (_, _) -> Outcome.NOTHING, _ -> List.of());
        // The classes do little, so that their JVMs need not spend time on compiling them well.
        return new ClassGroup(TestModule.LIBRARY, names, Effort.SHORT, List.of())
                .item(like)
                .environment(Map.of("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"));
    }

    private static Item command(String name, String script) {
        return Item.of(
                name,
                Suite.NATIVE,
                OutcomeReader.ofStatus(name),
                scratch -> List.of("bash", "-c", script, "" + scratch));
    }

    /** Runs the items with four places; the fields have their results. */
    private void run(Item... all) throws Exception {
        try (Watchdog _ = new Watchdog(run)) {
            runWatched(all);
        }
        assertEquals(List.of(), Processes.with(RunningItem.RUN_MARK + "=" + run), "nothing is left");
    }

    private void runWatched(Item... all) throws InterruptedException {
        new Pool(ROOT, directory, run, 4, (item, _, outcome) -> {
                    items.add(item.name());
                    outcome.results()
                            .forEach(result -> results.merge(
                                    result.shortName(),
                                    result,
                                    (one, other) -> new Result(
                                            one.name(),
                                            one.passed() + other.passed(),
                                            one.failed() + other.failed(),
                                            one.skipped() + other.skipped(),
                                            0,
                                            0,
                                            one.failure() + other.failure())));
                    notRun.addAll(outcome.notRun());
                })
                .run(List.of(all));
    }

    private void assertCounts(String name, int passed, int failed, int skipped) {
        Result result = results.get(name);
        assertEquals(
                passed + " " + failed + " " + skipped,
                result.passed() + " " + result.failed() + " " + result.skipped(),
                result::toString);
    }

    private void assertFailureSays(String name, String part) {
        String failure = results.get(name).failure();
        assertTrue(failure.contains(part), failure);
    }

    @Test
    void countsAndSaysWhatFailedAndWhatWasNotRun() throws Exception {
        run(group("group", "Passes", "Fails"));
        assertCounts("Passes", 2, 0, 0);
        assertCounts("Fails", 1, 1, 1);
        assertFailureSays("Fails", "two lines,\nand a tab\t, and a backslash n: \\n");
        assertEquals(List.of("Fails.isNotRun(): Assumption failed: it needs what is not there"), notRun);
    }

    @Test
    void whatEndsItsJvmFailsAndTheRestRunInAnother() throws Exception {
        run(group("group", "Halts", "Passes", "Fails"));
        assertCounts("Halts", 0, 1, 0);
        assertFailureSays("Halts", "ended with status 7");
        assertFailureSays("Halts", "the last that it said");
        assertCounts("Passes", 2, 0, 0);
        assertCounts("Fails", 1, 1, 1);
    }

    @Test
    void aClassThatRunsSeveralTimesEndsWithTheLast() throws Exception {
        run(group("group", "HaltsLater", "Passes"));
        assertCounts("HaltsLater", 0, 1, 0);
        assertCounts("Passes", 2, 0, 0);
    }

    /** A JVM ends after its last test, before it has reported that it is done. */
    @Test
    void aJvmThatDiesAfterItsTestsFails() throws Exception {
        Path feed =
                Files.writeString(directory.resolve("feed"), "begin\ta.B\ntest\ta.B\tc()\tpassed\t\nend\ta.B\t1\t1\n");
        Item item =
                new ClassGroup(TestModule.LIBRARY, List.of("a.B"), Effort.SHORT, List.of()).item(command("group", ""));
        Ending died = new Ending(139, "", "a crash", 1, 1);
        Outcome outcome = item.reader().read(feed.getParent(), died);
        assertEquals(
                List.of("a.B 1 0", "group 0 1"),
                outcome.results().stream()
                        .map(one -> one.name() + " " + one.passed() + " " + one.failed())
                        .toList());
    }

    @Test
    void whatCannotBeStartedOrReadFails() throws Exception {
        Item unstarted = Item.of("unstarted", Suite.NATIVE, OutcomeReader.ofStatus("unstarted"), _ -> {
            throw new IllegalStateException("there is no class path");
        });
        Item unread = Item.of(
                "unread",
                Suite.NATIVE,
                (_, _) -> {
                    throw new IllegalStateException("there is no report");
                },
                _ -> List.of("true"));
        run(unstarted, unread, command("good", "exit 0"));
        assertCounts("unstarted", 0, 1, 0);
        assertFailureSays("unstarted", "there is no class path");
        assertCounts("unread", 0, 1, 0);
        assertCounts("good", 1, 0, 0);
    }

    @Test
    void whatHangsFailsWithItsStacks() throws Exception {
        run(group("group", "Sleeps", "Passes").silence(Duration.ofSeconds(20)));
        assertCounts("Sleeps", 0, 1, 0);
        assertFailureSays("Sleeps", "it made no progress");
        assertFailureSays("Sleeps", "Sleeps.sleepsForEver");
        assertCounts("Passes", 2, 0, 0);
    }

    @Test
    void whatPrintsMuchPasses() throws Exception {
        run(group("group", "Prints"));
        assertCounts("Prints", 1, 0, 0);
    }

    @Test
    void whatLeavesAProcessFails() throws Exception {
        run(group("group", "Leaves"));
        assertCounts("Leaves", 1, 0, 0);
        assertCounts("group", 0, 1, 0);
        assertFailureSays("group", "sleep 1000");
    }

    @Test
    void aClassWithoutTestsFails() throws Exception {
        run(group("group", "Passes", "NoTests"));
        assertCounts("NoTests", 0, 1, 0);
        assertCounts("Passes", 2, 0, 0);
    }

    @Test
    void aClassThatIsNotThereFails() throws Exception {
        run(group("group", "Absent"));
        assertCounts("Absent", 0, 1, 0);
    }

    @Test
    void commandsCountByTheirStatus() throws Exception {
        run(command("good", "exit 0"), command("bad", "echo what it said; exit 3"), command("killed", "kill -9 $$"));
        assertCounts("good", 1, 0, 0);
        assertCounts("bad", 0, 1, 0);
        assertFailureSays("bad", "what it said");
        assertCounts("killed", 0, 1, 0);
    }

    @Test
    void whatComesAfterAFailureIsNotRun() throws Exception {
        run(
                command("build", "exit 1"),
                command("first", "exit 0").after(Set.of("build")),
                command("second", "exit 0").after(Set.of("first")));
        assertEquals(Set.of("build"), results.keySet());
        assertCounts("build", 0, 1, 0);
        assertEquals(List.of("build", "first", "second"), items);
    }

    /** Each item notes its begin and its end: no other note is between those of an item that must be alone. */
    @Test
    void whatMustBeAloneIs() throws Exception {
        Path notes = directory.resolve("notes");
        String script = "echo begin %s >>" + notes + "; sleep 0.2; echo end %s >>" + notes;
        List<Item> all = new ArrayList<>();
        for (String name : List.of("a", "b", "c", "alone1", "alone2", "d")) {
            all.add(command(name, String.format(script, name, name)).alone(name.startsWith("alone")));
        }
        run(all.toArray(Item[]::new));
        List<String> lines = Files.readAllLines(notes);
        assertEquals(12, lines.size());
        for (String name : List.of("alone1", "alone2")) {
            int begin = lines.indexOf("begin " + name);
            assertEquals("end " + name, lines.get(begin + 1), lines::toString);
        }
        // The others did run beside each other.
        assertFalse(lines.get(1).startsWith("end"), lines::toString);
    }

    @Test
    void theLongestStartsFirst() throws Exception {
        new Pool(ROOT, directory, run, 1, (item, _, _) -> items.add(item.name()))
                .run(List.of(
                        command("short", "exit 0").seconds(1),
                        command("long", "exit 0").seconds(100),
                        command("middle", "exit 0").seconds(50)));
        assertEquals(List.of("long", "middle", "short"), items);
    }

    @Test
    void nothingIsLeftOfARunThatIsKilled() throws Exception {
        for (String signal :
                io.farheap.testing.Effort.variants(2, "-KILL", "-INT", "-TERM").toList()) {
            String name = run + signal;
            // A process that a shell starts in the background ignores SIGINT, and so would this one.
            Process runner = new ProcessBuilder(
                            "env",
                            "--default-signal=INT",
                            Jdk.java(),
                            "-XX:TieredStopAtLevel=1",
                            "-XX:+UseSerialGC",
                            "-cp",
                            System.getProperty("java.class.path"),
                            LongRun.class.getName(),
                            directory.resolve(signal).toString(),
                            name)
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("output" + signal).toFile())
                    .start();
            // Each of the two items has three processes: bash, sleep, and one in a session of its own.
            awaitProcesses(name, 6, runner);
            new ProcessBuilder("kill", signal, Long.toString(runner.pid()))
                    .start()
                    .waitFor();
            runner.waitFor();
            awaitProcesses(name, 0, runner);
        }
    }

    private static void awaitProcesses(String run, int count, Process runner) throws InterruptedException {
        long deadline = System.nanoTime() + TestDevice.patience(TimeUnit.SECONDS.toNanos(30));
        List<Long> found = Processes.with(RunningItem.RUN_MARK + "=" + run);
        while (count == 0 ? !found.isEmpty() : found.size() < count) {
            assertTrue(System.nanoTime() - deadline < 0, found::toString);
            assertTrue(count == 0 || runner.isAlive(), "the run goes on");
            Thread.sleep(100);
            found = Processes.with(RunningItem.RUN_MARK + "=" + run);
        }
    }

    /** Runs two items that do not end; {@link LongRun} calls this in a process of its own. */
    public static void runForEver(String directory, String run) throws Exception {
        try (Watchdog _ = new Watchdog(run)) {
            new Pool(ROOT, Path.of(directory), run, 2, (_, _, _) -> {})
                    .run(List.of(
                            command("one", "setsid sleep 1000 & sleep 1000"),
                            command("two", "setsid sleep 1000 & sleep 1000")));
        }
    }
}
