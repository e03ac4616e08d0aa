package io.farheap.bench.ycsb;

import io.farheap.bench.peers.ChildProcess;
import io.farheap.bench.peers.PeerAbsentException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * RocksDB's own benchmark in C++, {@code db_bench}, with the options of the contestants that use it from Java: direct
 * reads, no compression, a Bloom filter, and one block cache of one shard with index and filters. Each turn is a
 * process, so it reads twice: the first time fills the cache, and the second one counts. It checks no value, and its
 * latencies are not taken.
 */
final class DbBench implements ExternalContestant {

    private static final long FIRST_READS = 2_000;
    private static final long LEAST_READS = 100;
    private static final long MOST_READS = 1L << 30;
    private static final Pattern RESULT =
            Pattern.compile("readrandom\\s*:\\s*[\\d.]+ micros/op\\s+([\\d.]+) ops/sec.*\\((\\d+) of (\\d+) found\\)");

    private final DataSet data;
    private final long cacheBytes;
    private final Path directory;
    private final String program;
    private double rate;

    /**
     * @param cacheBytes of its block cache: the memory of a store's log and its index
     * @throws PeerAbsentException if it is not installed
     */
    DbBench(DataSet data, long cacheBytes, Path directory) throws PeerAbsentException {
        this.data = data;
        this.cacheBytes = cacheBytes;
        this.directory = directory;
        program = ChildProcess.program("db_bench", "rocksdb-tools, if it has it");
    }

    @Override
    public void load() throws PeerAbsentException, InterruptedException {
        try {
            run(List.of("--benchmarks=fillseq,compact", "--disable_wal=1"));
        } catch (IOException e) {
            throw new PeerAbsentException("db_bench cannot be used: " + e.getMessage(), e);
        }
    }

    private String run(List<String> options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                program,
                "--db=" + directory.resolve("db"),
                "--num=" + data.records(),
                "--key_size=" + Long.BYTES,
                "--value_size=" + data.valueBytes(),
                "--compression_type=none",
                "--block_size=4096",
                "--bloom_bits=10",
                "--cache_size=" + cacheBytes,
                "--cache_numshardbits=0",
                "--cache_index_and_filter_blocks=1",
                "--use_direct_reads=1",
                "--use_direct_io_for_flush_and_compaction=1",
                "--verify_checksum=0"));
        command.addAll(options);
        return ProgramOutput.of(command, directory.resolve("db_bench.log"));
    }

    @Override
    public boolean takes(YcsbWorkload workload, KeyDistribution distribution) {
        return workload.readsOnly() && distribution == KeyDistribution.UNIFORM;
    }

    @Override
    public ContestTurn turn(int threads, long nanos) throws IOException, InterruptedException {
        long reads =
                rate == 0 ? FIRST_READS : Math.clamp(Math.round(rate / threads * nanos / 1e9), LEAST_READS, MOST_READS);
        ContestTurn turn = parse(run(List.of(
                "--benchmarks=readrandom,readrandom",
                "--use_existing_db=1",
                "--threads=" + threads,
                "--reads=" + reads)));
        rate = turn.opsPerSecond();
        return turn;
    }

    /** Parses what it printed: the last result is the one with a warm cache. */
    static ContestTurn parse(String printed) throws IOException {
        Matcher result = RESULT.matcher(printed);
        ContestTurn turn = null;
        while (result.find()) {
            if (!result.group(2).equals(result.group(3))) {
                throw new IOException("db_bench did not find all keys: " + result.group());
            }
            ClientCounts tally = new ClientCounts();
            tally.ended = Long.parseLong(result.group(3));
            turn = new ContestTurn(Double.parseDouble(result.group(1)), tally, 0);
        }
        if (turn == null) {
            throw new IOException("db_bench printed no result: " + printed.strip());
        }
        return turn;
    }

    @Override
    public Facts facts() {
        return new Facts(
                Math.min(1, (double) cacheBytes / data.logBytes()), 0, 0, "get (db_bench, C++)", "file, direct", true);
    }

    @Override
    public Means means() {
        return Means.single(cacheBytes);
    }

    @Override
    public void close() {}
}
