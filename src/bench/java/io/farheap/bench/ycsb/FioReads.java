package io.farheap.bench.ycsb;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.child.TetheredProcess;
import io.farheap.bench.peers.PeerAbsentException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * fio beside the file device: random reads of a file as long as the log, past the page cache, with the same engine,
 * depth and block size, by as many jobs as there are client threads; without io_uring by as many jobs as the depth,
 * since each job then has one request at a time. It shows the limit of the disk, and so whether the baseline is a fair
 * one. A turn is as long as those of the others; before it fio reads for a while, which does not count: a job begins
 * with an empty queue.
 */
final class FioReads implements ExternalContestant {

    private static final String PROGRAM = "/usr/bin/fio";
    private static final String URING = "io_uring";
    private static final long RAMP_MILLIS = 400;

    private final DataSet data;
    private final Path directory;
    private final String engine;
    private final int depth;
    private final int blockBytes;

    /**
     * @param deviceName of the file device, which contains its engine
     * @param depth requests at a time
     * @throws PeerAbsentException if fio is not installed
     */
    FioReads(DataSet data, Path directory, String deviceName, int depth, int blockBytes) throws PeerAbsentException {
        this.data = data;
        this.directory = directory;
        this.engine = deviceName.contains(URING) ? URING : "psync";
        this.depth = depth;
        this.blockBytes = blockBytes;
        if (!Files.isExecutable(Path.of(PROGRAM))) {
            throw new PeerAbsentException("fio is not installed (Debian: apt-get install fio)");
        }
    }

    /** Creates its file. */
    @Override
    public void load() throws IOException, InterruptedException {
        run(1, 1, 0);
    }

    @Override
    public boolean takes(YcsbWorkload workload, KeyDistribution distribution) {
        return workload.readsOnly() && distribution == KeyDistribution.UNIFORM;
    }

    @Override
    public ContestTurn turn(int threads, long nanos) throws IOException, InterruptedException {
        return run(threads, Math.max(1, nanos / 1_000_000), RAMP_MILLIS);
    }

    private ContestTurn run(int threads, long millis, long rampMillis) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                PROGRAM,
                "--name=ycsb",
                "--filename=" + directory.resolve("fio"),
                "--size=" + Math.max(1 << 20, data.logBytes() / blockBytes * blockBytes),
                "--rw=randread",
                "--direct=1",
                "--norandommap",
                "--randrepeat=0",
                "--bs=" + blockBytes,
                "--ioengine=" + engine,
                "--time_based",
                "--runtime=" + millis + "ms",
                "--group_reporting",
                "--output-format=json+"));
        if (rampMillis > 0) {
            command.add("--ramp_time=" + rampMillis + "ms");
        }
        if (engine.equals(URING)) {
            command.addAll(List.of("--iodepth=" + depth, "--numjobs=" + threads));
        } else {
            command.addAll(List.of("--thread", "--numjobs=" + depth));
        }
        Path log = directory.resolve("fio.json");
        Process fio = new ProcessBuilder(TetheredProcess.command(command))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        int status = fio.waitFor();
        String printed = Files.readString(log);
        if (status != 0 || printed.indexOf('{') < 0) {
            throw new IOException("it ended with status " + status + ": " + printed.strip());
        }
        return turn(
                JsonParser.parseString(printed.substring(printed.indexOf('{'))).getAsJsonObject());
    }

    private static ContestTurn turn(JsonObject printed) {
        JsonArray jobs = printed.getAsJsonArray("jobs");
        JsonObject reads = jobs.get(0).getAsJsonObject().getAsJsonObject("read");
        double rate = reads.get("iops").getAsDouble();
        ClientCounts tally = new ClientCounts();
        tally.ended = reads.get("total_ios").getAsLong();
        tally.pending = tally.ended;
        tally.deviceReads = tally.ended;
        if (reads.getAsJsonObject("clat_ns").get("bins") instanceof JsonObject bins) {
            bins.entrySet()
                    .forEach(bin -> tally.took(
                            Long.parseLong(bin.getKey()), bin.getValue().getAsLong()));
        }
        return new ContestTurn(rate, tally, 0);
    }

    @Override
    public Facts facts() {
        return new Facts(0, 0, 0, "fio, " + engine, "file", true);
    }

    @Override
    public Means means() {
        return new Means(0, depth, 1);
    }

    @Override
    public void close() {}
}
