package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.TestDevice;
import io.farheap.time.TimeLimit;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The command line in a process of its own, as a user runs it; its descendants can be distinguished from those of other
 * tests.
 */
final class CommandProcess {

    private static final long LEAVE_SECONDS = 30;

    private final String marker = "farheap-test-" + UUID.randomUUID();
    private final Process process;
    private final BufferedReader output;
    private final StringBuilder seen = new StringBuilder();

    private CommandProcess(String compilerFlag, Map<String, String> environment, List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(TestDevice.aheadOfTimeFlags());
        command.addAll(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                compilerFlag,
                "-Dfarheap.verbs=" + System.getProperty("farheap.verbs"),
                TimeLimit.flag(),
                "-cp",
                System.getProperty("java.class.path") + ":" + marker,
                "io.farheap.cli.Main"));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        process = builder.start();
        output = process.inputReader();
    }

    /** Starts a command without the optimising compiler, which costs more than it saves if a command does little. */
    static CommandProcess start(Map<String, String> environment, String... arguments) throws IOException {
        return new CommandProcess("-XX:TieredStopAtLevel=1", environment, List.of(arguments));
    }

    /** Starts a command that is optimised as users' commands are, in the full form: this shows other races. */
    static CommandProcess startOptimised(String... arguments) throws IOException {
        return new CommandProcess(TestDevice.compilerFlag(), Map.of(), List.of(arguments));
    }

    /** Reads the process's output until a line has this text. */
    void awaitLine(String text) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            seen.append(line).append('\n');
            if (line.contains(text)) {
                return;
            }
        }
        throw new AssertionError("it ended before it printed " + text + ":\n" + seen);
    }

    /**
     * Reads the process's output until the process ends.
     *
     * @return all that it printed
     */
    String awaitEnd(int exitCode) throws IOException, InterruptedException {
        output.lines().forEach(line -> seen.append(line).append('\n'));
        assertEquals(exitCode, process.waitFor(), seen::toString);
        return seen.toString();
    }

    /** Waits until the process and its children are at least {@code count}. */
    void awaitProcesses(int count) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(LEAVE_SECONDS));
        while (ours().size() < count && System.nanoTime() - deadline < 0) {
            Thread.sleep(10);
        }
        assertTrue(ours().size() >= count, () -> ours().toString());
    }

    /** SIGTERM. */
    void terminate() {
        // By the handle: the process's own method closes its output, which is read after this.
        process.toHandle().destroy();
    }

    void kill() {
        process.destroyForcibly();
    }

    /** Fails if this process, or one of its descendants, still exists after a while. */
    void assertNothingIsLeft() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(LEAVE_SECONDS));
        while (!ours().isEmpty() && System.nanoTime() - deadline < 0) {
            Thread.sleep(50);
        }
        assertEquals(List.of(), ours());
    }

    private List<String> ours() {
        return ProcessResources.processes(command -> command.contains(marker));
    }
}
