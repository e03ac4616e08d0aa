package io.farheap.runner;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The command of an item while it runs, and what it has started. A command that makes no progress is asked for its
 * stacks and ended; what it leaves behind is ended, too, and is a failure.
 */
final class RunningItem {

    /** Each process of an item has it; its value is the run's number and the item's. */
    static final String MARK = "FARHEAP_TEST_ITEM";

    /** Each process of a run has it. */
    static final String RUN_MARK = "FARHEAP_TEST_RUN";

    private static final int SHOWN_BYTES = 6000;
    /** With the stacks of all threads. */
    private static final int SHOWN_OF_HANGING_BYTES = 100_000;

    /** What a command has started may take so long to end after it. */
    private static final int LEAVING_TENTHS = 50;
    /**
     * The least time without progress that says that a command hangs before its first progress: on a busy machine a JVM
     * needs half a minute to load its first class.
     */
    private static final long STARTING_SECONDS = 180;
    /** After SIGQUIT a JVM prints its stacks. */
    private static final long STACKS_SECONDS = 5;

    private final Item item;
    private final Path scratch;
    private final Path output;
    private final Path cpu;
    private final String mark;
    private final Process process;
    private final long started = System.nanoTime();

    /** @param run what the processes of this run have as {@link #RUN_MARK} */
    RunningItem(Item item, Path root, Path scratch, String run, int number) throws IOException {
        this.item = item;
        this.scratch = scratch;
        output = scratch.resolve("output");
        cpu = scratch.resolve("cpu");
        Files.createDirectories(scratch);
        mark = mark(run, number);
        // bash counts the processor time of all that the command has waited for.
        List<String> line = new ArrayList<>(List.of(
                "bash", "-c", "exec 3>&2; TIMEFORMAT='%U %S'; { time \"$@\" 2>&3 3>&-; } 2>\"$0\"", cpu.toString()));
        line.addAll(item.command().line(scratch));
        ProcessBuilder builder = new ProcessBuilder(line)
                .directory(root.toFile())
                .redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(output.toFile());
        builder.environment().putAll(item.environment());
        builder.environment().put(MARK, mark.substring(MARK.length() + 1));
        builder.environment().put(RUN_MARK, run);
        process = builder.start();
    }

    /** What each process of an item has in its environment. */
    static String mark(String run, int number) {
        return MARK + "=" + run + "." + number;
    }

    /** Waits for the end. */
    Ending await() throws InterruptedException {
        String trouble = awaitProgress();
        boolean hanging = !trouble.isEmpty();
        double seconds = (System.nanoTime() - started) / 1e9;
        List<Long> left = leftovers();
        if (!left.isEmpty()) {
            String names = left.stream()
                    .map(Processes::describe)
                    .reduce((a, b) -> a + ", " + b)
                    .orElse("");
            Processes.kill(mark);
            trouble = trouble.isEmpty() ? "it left processes, which were ended: " + names : trouble;
        }
        int status = process.waitFor();
        String said = end(output, hanging ? SHOWN_OF_HANGING_BYTES : SHOWN_BYTES);
        return new Ending(status, trouble, said, seconds, cpuSeconds());
    }

    /** Why it had to be ended; empty if it ended by itself. */
    private String awaitProgress() throws InterruptedException {
        long progress = 0;
        long since = System.nanoTime();
        while (!process.waitFor(200, TimeUnit.MILLISECONDS)) {
            long now = item.reader().progress(scratch);
            long silentSeconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - since);
            long longest = item.silence().toSeconds();
            if (now != progress) {
                progress = now;
                since = System.nanoTime();
            } else if (silentSeconds >= (now == 0 ? Math.max(longest, STARTING_SECONDS) : longest)) {
                signalJvms();
                Thread.sleep(TimeUnit.SECONDS.toMillis(STACKS_SECONDS));
                Processes.kill(mark);
                return "it made no progress for " + silentSeconds + " s and was ended";
            }
        }
        return "";
    }

    /** Stacks go to each JVM's output. */
    private void signalJvms() {
        for (long pid : Processes.with(mark)) {
            if (ProcessHandle.of(pid)
                    .flatMap(handle -> handle.info().command())
                    .filter(command -> command.endsWith("/java"))
                    .isPresent()) {
                try {
                    new ProcessBuilder("kill", "-QUIT", Long.toString(pid))
                            .start()
                            .waitFor();
                } catch (IOException e) {
                    // It has no kill: there are no stacks then.
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private List<Long> leftovers() throws InterruptedException {
        List<Long> left = Processes.with(mark);
        for (int i = 0; i < LEAVING_TENTHS && !left.isEmpty(); i++) {
            Thread.sleep(100);
            left = Processes.with(mark);
        }
        return left;
    }

    private double cpuSeconds() {
        String[] words = end(cpu, SHOWN_BYTES).strip().split("\\s+");
        try {
            return words.length < 2
                    ? 0
                    : Double.parseDouble(words[words.length - 2]) + Double.parseDouble(words[words.length - 1]);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** The last of a file, however long that is. */
    private static String end(Path file, int bytes) {
        try (RandomAccessFile from = new RandomAccessFile(file.toFile(), "r")) {
            long skipped = Math.max(0, from.length() - bytes);
            from.seek(skipped);
            byte[] last = new byte[(int) (from.length() - skipped)];
            from.readFully(last);
            return (skipped > 0 ? "[...] " : "") + new String(last, StandardCharsets.UTF_8);
        } catch (FileNotFoundException e) {
            return "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
