package io.farheap.command;

import io.farheap.time.TimeLimit;
import io.farheap.verbs.PortOptions;
import io.farheap.verbs.VerbsLibrary;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A JVM with this one's class path, as a child of this process. The program that it runs must end when its standard
 * input does, so that it does not outlive its parent; if the parent ends while the child is suspended, the child is
 * resumed first. Any thread.
 */
public final class ChildJvm implements AutoCloseable {

    private static final Pattern LISTENING = Pattern.compile("listening on (\\S+:\\d+)");
    /**
     * Properties of this process that say how it reaches its device and where it keeps files; children inherit them.
     */
    private static final List<String> INHERITED =
            List.of("org.bytedeco.javacpp.cachedir", "java.io.tmpdir", "user.home", "farheap.coding");

    /**
     * Flags of this JVM that children inherit: without the optimising compiler a JVM starts at half the cost, and with
     * an ahead-of-time cache, which is of this class path, at two thirds.
     */
    private static final List<String> INHERITED_FLAGS = List.of("-XX:TieredStopAtLevel=", "-XX:AOTCache=", "-Xlog:aot");

    private static final long STOP_SECONDS = TimeLimit.of(10);

    private final Process process;
    private final BufferedReader output;
    /** Null while it runs. */
    private @Nullable Suspension suspension;

    private ChildJvm(Process process) {
        this.process = process;
        this.output = process.inputReader(StandardCharsets.UTF_8);
    }

    /**
     * Starts a child.
     *
     * @param environment variables that it has beside this process's
     * @param flags of the JVM
     * @param command main class and arguments
     */
    public static ChildJvm start(
            VerbsLibrary library, Map<String, String> environment, List<String> flags, List<String> command)
            throws IOException {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> INHERITED_FLAGS.stream().anyMatch(flag::startsWith))
                .forEach(line::add);
        line.addAll(flags);
        line.addAll(List.of(
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-D" + VerbsLibrary.PROPERTY + "=" + library.name().toLowerCase(Locale.ROOT),
                // Its standard error is that of this process, which reports itself how its children fare.
                "-D" + LogLevel.PROPERTY + "=warning",
                TimeLimit.flag()));
        for (String name : System.getProperties().stringPropertyNames()) {
            if (INHERITED.contains(name) || PortOptions.isProperty(name)) {
                line.add("-D" + name + "=" + System.getProperty(name));
            }
        }
        line.addAll(List.of("-cp", System.getProperty("java.class.path")));
        line.addAll(command);
        ProcessText.requireEncodable(line);
        ProcessBuilder builder = new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        return new ChildJvm(builder.start());
    }

    /** Returns its standard output; one thread reads it. */
    public BufferedReader output() {
        return output;
    }

    /**
     * Waits until it prints the address at which it listens, and returns that as HOST:PORT.
     *
     * @param what the child, as the exception's message names it
     */
    public String awaitAddress(String what) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            Matcher matcher = LISTENING.matcher(line);
            if (matcher.find()) {
                return matcher.group(1);
            }
        }
        throw new IOException(what + " ended before it listened; its messages are above");
    }

    /** Returns its standard input. */
    public Writer input() {
        return process.outputWriter(StandardCharsets.UTF_8);
    }

    public long pid() {
        return process.pid();
    }

    /**
     * SIGSTOP: when this returns, nothing of it runs until it is {@linkplain #resume resumed} or closed, or this
     * process ends.
     */
    public synchronized void suspend() {
        if (suspension == null) {
            suspension = new Suspension(process.pid());
        }
    }

    /** Sends SIGCONT, if it is suspended. */
    public synchronized void resume() {
        if (suspension != null) {
            suspension.close();
            suspension = null;
        }
    }

    /** Sends SIGKILL, also while it is suspended. Its output can still be read. */
    public void kill() {
        // By the handle: the process's own method closes its output, too.
        process.toHandle().destroyForcibly();
        await(STOP_SECONDS);
        resume();
    }

    /** Waits, and returns whether it has ended by itself within so many seconds. */
    public boolean await(long seconds) {
        try {
            return process.waitFor(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Completes with its exit value when it has ended. */
    public CompletableFuture<Integer> onExit() {
        return process.onExit().thenApply(Process::exitValue);
    }

    /** Returns its exit value. */
    public int exitValue() {
        return process.exitValue();
    }

    /** Sends SIGTERM, and does not wait. */
    public void terminate() {
        // By the handle: the process's own method closes its standard input, too.
        process.toHandle().destroy();
    }

    /** Sends SIGTERM, and SIGKILL if that does not help. */
    @Override
    public void close() {
        resume();
        process.destroy();
        if (!await(STOP_SECONDS)) {
            kill();
        }
    }

    /** As {@link #close}, but lets it end by itself first: its standard input is closed. */
    public void end() {
        resume();
        try {
            input().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            if (!await(STOP_SECONDS)) {
                close();
            }
        }
    }
}
