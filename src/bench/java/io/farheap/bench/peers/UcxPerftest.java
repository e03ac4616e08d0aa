package io.farheap.bench.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * UCX's own benchmark in C over shared memory: two processes, both of which spin. Its put is half of a ping-pong, in
 * which each side waits for the other's store; its get is one-sided. A turn is two runs of it, since a run prints one
 * percentile. Percentiles are in steps of its clock, 10 ns (half of that for a put), so for gets the average is used as
 * the median.
 */
final class UcxPerftest implements PeerRunner {

    private static final String TRANSPORTS = "posix,self";
    private static final int OPERATIONS = 100_000;
    private static final int WARM_UP_OPERATIONS = 10_000;
    private static final int SECONDS = 60;
    private static final Pattern FINAL = Pattern.compile("Final:\\s+\\d+\\s+([\\d.]+)\\s+([\\d.]+)");
    private static final double NANOS_PER_MICRO = 1e3;

    private final String program;
    private final Path directory;

    private UcxPerftest(String program, Path directory) {
        this.program = program;
        this.directory = directory;
    }

    static UcxPerftest open(Path directory) throws PeerAbsentException {
        return new UcxPerftest(ChildProcess.program("ucx_perftest", "ucx-utils"), directory);
    }

    @Override
    public PeerTurn turn(PeerOperation operation, int bytes) throws Exception {
        Matcher median = run(operation, bytes, 50);
        Matcher p99 = run(operation, bytes, 99);
        return new PeerTurn(
                Double.parseDouble(median.group(operation == PeerOperation.GET ? 2 : 1)) * NANOS_PER_MICRO,
                Double.parseDouble(p99.group(1)) * NANOS_PER_MICRO);
    }

    /** @return a match of the line with percentile and average, in us */
    private Matcher run(PeerOperation operation, int bytes, int percentile) throws Exception {
        int port = ChildProcess.freePort();
        List<String> environment =
                List.of("/usr/bin/env", "UCX_TLS=" + TRANSPORTS, program, "-p", Integer.toString(port));
        Path log = directory.resolve("ucx.log");
        try (ChildProcess server = ChildProcess.start(directory.resolve("ucx-server.log"), environment)) {
            server.await(() -> listens(port));
            ProcessBuilder client = new ProcessBuilder(
                    program,
                    "127.0.0.1",
                    "-p",
                    Integer.toString(port),
                    "-t",
                    operation == PeerOperation.GET ? "ucp_get" : "ucp_put_lat",
                    "-s",
                    Integer.toString(bytes),
                    "-n",
                    Integer.toString(OPERATIONS),
                    "-w",
                    Integer.toString(WARM_UP_OPERATIONS),
                    "-R",
                    Integer.toString(percentile));
            client.environment().put("UCX_TLS", TRANSPORTS);
            Process process = client.redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                    throw new IOException("ucx_perftest has not finished within " + SECONDS + " s");
                }
            } finally {
                process.destroyForcibly();
            }
        }
        String printed = Files.readString(log);
        Matcher line = FINAL.matcher(printed);
        if (!line.find()) {
            throw new PeerAbsentException(
                    "ucx_perftest printed no result: " + printed.strip().lines().reduce("", (a, b) -> b));
        }
        return line;
    }

    /** Checked without connecting: the server accepts one client. */
    private static boolean listens(int port) {
        String local = String.format(Locale.ROOT, ":%04X 00000000:0000 0A", port);
        try {
            return Files.readString(Path.of("/proc/net/tcp")).contains(local);
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {}
}
