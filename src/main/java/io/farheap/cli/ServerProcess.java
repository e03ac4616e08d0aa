package io.farheap.cli;

import io.farheap.verbs.VerbsLibrary;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A memory server in a process of its own, on this host. It ends with its parent, however that ends: it watches its standard
 * input.
 */
public final class ServerProcess implements AutoCloseable {

    private static final Pattern LISTENING = Pattern.compile("listening on (\\S+:\\d+)");
    private static final int SLOWNESS = Integer.getInteger("farheap.slowness", 1);
    private static final long STOP_SECONDS = 10L * SLOWNESS;

    private final Process process;
    private final String address;

    private ServerProcess(Process process, String address) {
        this.process = process;
        this.address = address;
    }

    /** Starts a server on a free port of the loopback interface, and returns when it listens. */
    public static ServerProcess start(VerbsLibrary library, long memoryBytes, long regionBytes) {
        return start(library, "", memoryBytes, regionBytes);
    }

    /** @param device the server's RDMA device; empty for the first with an active port */
    public static ServerProcess start(VerbsLibrary library, String device, long memoryBytes, long regionBytes) {
        return start(library, device, memoryBytes, regionBytes, Map.of());
    }

    /**
     * @param environment variables that the server has beside this process's
     * @param options     more of the {@code server} command's; a {@code --lease} among them is the server's
     */
    public static ServerProcess start(VerbsLibrary library, String device, long memoryBytes, long regionBytes, Map<String, String> environment,
                                      String... options) {
        Process process;
        try {
            List<String> command = command(library, device, memoryBytes, regionBytes);
            List<String> more = List.of(options);
            if (!more.contains("--lease")) {
                command.addAll(List.of("--lease", 3 * SLOWNESS + "s"));
            }
            command.addAll(more);
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
            builder.environment().putAll(environment);
            process = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a memory server", e);
        }
        try {
            return new ServerProcess(process, awaitAddress(process));
        } catch (IOException e) {
            process.destroyForcibly();
            throw new UncheckedIOException(e);
        } catch (RuntimeException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    /** HOST:PORT of its control plane. */
    public String address() {
        return address;
    }

    public long pid() {
        return process.pid();
    }

    /** SIGKILL. */
    public void kill() {
        process.destroyForcibly();
        await();
    }

    /** SIGTERM, and SIGKILL where that does not help. */
    @Override
    public void close() {
        process.destroy();
        if (!await()) {
            kill();
        }
    }

    private boolean await() {
        try {
            return process.waitFor(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static List<String> command(VerbsLibrary library, String device, long memoryBytes, long regionBytes) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // A small heap is all it needs.
        command.addAll(List.of("-Xmx64m", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow", "-D" + VerbsLibrary.PROPERTY + "=" + library.name().toLowerCase(),
            "-Dfarheap.slowness=" + SLOWNESS));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.farheap.cli.Main", "server",
            "--memory", Long.toString(memoryBytes), "--region", Long.toString(regionBytes), "--listen", "127.0.0.1:0", "--device", device,
            "--until-stdin-closes"));
        return command;
    }

    private static String awaitAddress(Process process) throws IOException {
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            Matcher matcher = LISTENING.matcher(line);
            if (matcher.find()) {
                return matcher.group(1);
            }
        }
        throw new IOException("the memory server ended before it listened; its messages are above");
    }
}
