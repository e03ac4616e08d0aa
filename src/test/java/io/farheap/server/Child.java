package io.farheap.server;

import io.farheap.testing.TestDevice;
import io.farheap.time.TimeLimit;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A JVM of its own on this JVM's class path. Killed when it is closed. */
public final class Child implements AutoCloseable {

    private static final long TIMEOUT_SECONDS = TestDevice.patience(20);

    public final Process process;
    private final BufferedReader output;
    private final Path errors;

    /** @param mainAndArguments may begin with more flags of the JVM */
    public Child(String... mainAndArguments) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(TestDevice.aheadOfTimeFlags());
        command.addAll(List.of(
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dfarheap.verbs=" + System.getProperty("farheap.verbs"),
                TimeLimit.flag(),
                // Otherwise Netty warns if the machine has no network interface but loopback.
                "-Dio.grpc.netty.shaded.io.netty.machineId=02:00:00:00:00:01",
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(List.of(mainAndArguments));
        errors = Files.createTempFile("farheap-child", ".err");
        process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        output = process.inputReader(StandardCharsets.UTF_8);
    }

    /** The next line of its standard output; fails if the output has ended. */
    public String line() throws IOException {
        String line = output.readLine();
        if (line == null) {
            throw new AssertionError("the child ended: " + errors());
        }
        return line;
    }

    /** Its standard error, without softverbs' notices of the modes that tests turn on. */
    public String errors() throws IOException {
        try (Stream<String> lines = Files.lines(errors)) {
            return lines.filter(line -> !line.startsWith("softverbs: ")).collect(Collectors.joining("\n"));
        }
    }

    /** @return its exit code */
    int await() throws InterruptedException {
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the child does not end");
        }
        return process.exitValue();
    }

    /** SIGKILL. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        await();
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        Files.delete(errors);
    }
}
