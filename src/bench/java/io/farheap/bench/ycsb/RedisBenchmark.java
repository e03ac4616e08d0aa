package io.farheap.bench.ycsb;

import io.farheap.bench.peers.ChildProcess;
import io.farheap.bench.peers.PeerAbsentException;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Redis as far memory with its own client in C, {@code redis-benchmark}: each connection sends GETs of random keys in
 * pipelines of 64 over a Unix socket. It checks no value, and prints a few percentiles of a pipeline's time: half of a
 * turn's operations count with the median, and the others with the next percentile that it prints.
 */
final class RedisBenchmark implements ExternalContestant {

    private static final int PIPELINE = OperationGroup.SIZE;
    private static final int LOAD_BATCH = 512;
    /** Of a SET beside its value. */
    private static final int COMMAND_BYTES = 100;

    private static final byte[] STORED = "+OK\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final long LEAST_REQUESTS = 64L * PIPELINE;
    private static final long FIRST_REQUESTS = 20_000;
    private static final long MOST_REQUESTS = 1L << 30;
    private static final int RATE = 1;
    private static final int MEDIAN = 4;
    private static final int COLUMNS = 8;
    private static final double NANOS_PER_MILLI = 1e6;

    private final DataSet data;
    private final Path directory;
    private final String program;
    private final Path socket;
    private final ChildProcess server;
    private double rate;

    /** @throws PeerAbsentException if Redis or its benchmark is not installed */
    RedisBenchmark(DataSet data, Path directory) throws PeerAbsentException, IOException, InterruptedException {
        this.data = data;
        this.directory = directory;
        program = ChildProcess.program("redis-benchmark", "redis-tools");
        socket = directory.resolve("redis.socket");
        server = ChildProcess.start(
                directory.resolve("redis.log"),
                List.of(
                        ChildProcess.program("redis-server", "redis-server"),
                        "--port",
                        "0",
                        "--unixsocket",
                        socket.toString(),
                        "--save",
                        "",
                        "--appendonly",
                        "no",
                        "--dir",
                        directory.toString()));
        try {
            server.await(() -> ChildProcess.accepts(socket));
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    @Override
    public void load() throws IOException {
        byte[] value = new byte[data.valueBytes()];
        MemorySegment segment = MemorySegment.ofArray(value);
        ByteBuffer out = ByteBuffer.allocateDirect(LOAD_BATCH * (COMMAND_BYTES + value.length));
        ByteBuffer in = ByteBuffer.allocateDirect(LOAD_BATCH * STORED.length);
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            long key = 0;
            while (key < data.records()) {
                int count = (int) Math.min(LOAD_BATCH, data.records() - key);
                out.clear();
                for (int i = 0; i < count; i++) {
                    data.fill(segment, 0, key);
                    out.put(set(key++, value.length))
                            .put(value)
                            .put((byte) '\r')
                            .put((byte) '\n');
                }
                out.flip();
                while (out.hasRemaining()) {
                    channel.write(out);
                }
                in.clear().limit(count * STORED.length);
                while (in.hasRemaining()) {
                    if (channel.read(in) < 0) {
                        throw new EOFException("Redis ended the connection while it was filled");
                    }
                }
            }
        }
    }

    /** Returns the bytes of a SET before the value; the key is one that redis-benchmark makes of __rand_int__. */
    private static byte[] set(long key, int valueBytes) {
        String name = String.format(Locale.ROOT, "key:%012d", key);
        return ("*3\r\n$3\r\nSET\r\n$" + name.length() + "\r\n" + name + "\r\n$" + valueBytes + "\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public boolean takes(YcsbWorkload workload, KeyDistribution distribution) {
        return workload.readsOnly() && distribution == KeyDistribution.UNIFORM;
    }

    @Override
    public ContestTurn turn(int threads, long nanos) throws IOException, InterruptedException {
        long requests =
                rate == 0 ? FIRST_REQUESTS : Math.clamp(Math.round(rate * nanos / 1e9), LEAST_REQUESTS, MOST_REQUESTS);
        ContestTurn turn = parse(
                ProgramOutput.of(
                        List.of(
                                program,
                                "-s",
                                socket.toString(),
                                "-c",
                                Integer.toString(threads),
                                "-P",
                                Integer.toString(PIPELINE),
                                "-n",
                                Long.toString(requests),
                                "-r",
                                Long.toString(data.records()),
                                "--csv",
                                "GET",
                                "key:__rand_int__"),
                        directory.resolve("redis-benchmark.log")),
                requests);
        rate = turn.opsPerSecond();
        return turn;
    }

    /** Parses the program's table, whose last line has rate, average, least, p50, p95, p99 and greatest, in ms. */
    static ContestTurn parse(String printed, long requests) throws IOException {
        String line = printed.strip().lines().reduce("", (earlier, later) -> later);
        String[] words = line.replace("\"", "").split(",");
        ClientCounts tally = new ClientCounts();
        tally.ended = requests;
        try {
            if (words.length == COLUMNS) {
                long[] parts = {requests / 2, requests * 45 / 100, requests * 4 / 100, requests / 100};
                for (int i = 0; i < parts.length; i++) {
                    tally.took(Math.round(Double.parseDouble(words[MEDIAN + i]) * NANOS_PER_MILLI), parts[i]);
                }
            }
            return new ContestTurn(Double.parseDouble(words[RATE]), tally, 0);
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            throw new IOException("redis-benchmark printed no result: " + line, e);
        }
    }

    @Override
    public int otherCores() {
        return 1;
    }

    @Override
    public Facts facts() {
        return new Facts(0, 1, 0, "pipelined", "Redis (redis-benchmark, C)", true);
    }

    @Override
    public Means means() {
        return Means.grouped(0);
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
