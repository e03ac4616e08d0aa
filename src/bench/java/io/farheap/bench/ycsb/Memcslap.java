package io.farheap.bench.ycsb;

import io.farheap.bench.peers.ChildProcess;
import io.farheap.bench.peers.PeerAbsentException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * memcached with a client in C, libmemcached's {@code memcslap}: each thread gets all keys of a set of its own by one
 * request for many keys. Keys and values are the program's: 20 to 60 and 50 to 5,000 bytes, so the row stands beside
 * others for the cost of the client and not of the record. It prints no latencies.
 */
final class Memcslap implements ExternalContestant {

    private static final int KEYS = 10_000;
    private static final String MEGABYTES = "256";
    /** A run stores its keys again; a turn has no more runs, however short they are. */
    private static final int MOST_RUNS = 8;

    private static final double NANOS = 1e9;
    private static final Pattern RESULT =
            Pattern.compile("Time to m?get\\s+(\\d+)\\s+keys by\\s+\\d+\\s+threads:\\s+([\\d.]+)\\s+seconds");

    private final Path directory;
    private final String program;
    private final int port;
    private final ChildProcess server;

    /** @throws PeerAbsentException if memcached or libmemcached's tools are not installed */
    Memcslap(Path directory) throws PeerAbsentException, IOException, InterruptedException {
        this.directory = directory;
        program = ChildProcess.program("memcslap", "libmemcached-tools");
        port = ChildProcess.freePort();
        // As root it insists on a user.
        server = ChildProcess.start(
                directory.resolve("memcached.log"),
                List.of(
                        ChildProcess.program("memcached", "memcached"),
                        "-l",
                        "127.0.0.1",
                        "-p",
                        Integer.toString(port),
                        "-U",
                        "0",
                        "-t",
                        "1",
                        "-m",
                        MEGABYTES,
                        "-u",
                        System.getProperty("user.name")));
        try {
            server.await(() -> ChildProcess.listens(port));
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    /**
     * Runs it once.
     *
     * @throws PeerAbsentException if it does not print what it should
     */
    @Override
    public void load() throws PeerAbsentException, InterruptedException {
        try {
            run(1);
        } catch (IOException e) {
            throw new PeerAbsentException("memcslap cannot be used: " + e.getMessage(), e);
        }
    }

    @Override
    public boolean takes(YcsbWorkload workload, KeyDistribution distribution) {
        return workload.readsOnly() && distribution == KeyDistribution.UNIFORM;
    }

    @Override
    public ContestTurn turn(int threads, long nanos) throws IOException, InterruptedException {
        ClientCounts tally = new ClientCounts();
        double seconds = 0;
        for (int i = 0; i < MOST_RUNS && seconds * NANOS < nanos; i++) {
            Run run = run(threads);
            tally.ended += run.keys();
            seconds += run.seconds();
        }
        return new ContestTurn(tally.ended / seconds, tally, 0);
    }

    /** What a run of the program measured. */
    record Run(long keys, double seconds) {}

    private Run run(int threads) throws IOException, InterruptedException {
        return parse(ProgramOutput.of(
                List.of(
                        program,
                        "--servers=127.0.0.1:" + port,
                        "--binary",
                        "--test=mget",
                        "--concurrency=" + threads,
                        "--execute-number=" + KEYS),
                directory.resolve("memcslap.log")));
    }

    static Run parse(String printed) throws IOException {
        Matcher result = RESULT.matcher(printed);
        if (!result.find()) {
            throw new IOException("memcslap printed no result: " + printed.strip());
        }
        double seconds = Double.parseDouble(result.group(2));
        if (!(seconds > 0)) {
            throw new IOException("memcslap's run was shorter than it measures: " + result.group());
        }
        return new Run(Long.parseLong(result.group(1)), seconds);
    }

    @Override
    public int otherCores() {
        return 1;
    }

    @Override
    public Facts facts() {
        return new Facts(0, 1, 0, "one request", "memcached (memcslap, C; values of 50 to 5,000 bytes)", true);
    }

    @Override
    public Means means() {
        return new Means(0, KEYS, KEYS);
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
