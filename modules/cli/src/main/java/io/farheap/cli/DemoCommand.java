package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.cache.Cache;
import io.farheap.command.DeviceNotice;
import io.farheap.command.ManagerProcess;
import io.farheap.command.OutputFile;
import io.farheap.command.ProgressBars;
import io.farheap.command.ServerProcess;
import io.farheap.command.Sizes;
import io.farheap.command.Subcommand;
import io.farheap.latency.LatencyInterval;
import io.farheap.latency.LatencyTracking;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.migration.MigrationResult;
import io.farheap.server.contract.ServerOptions;
import io.farheap.time.TimeLimit;
import io.farheap.verbs.DeviceInfo;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code farheap demo}: a file in far memory, under load, moved to another process while reads continue, verified to
 * the last byte.
 */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        description =
                "Serve a file from other processes' memory, move it while it is read and written, and verify every byte.")
public final class DemoCommand implements Subcommand, Callable<Integer> {

    private static final int DIFFERENT = 1;
    private static final List<String> NOT_CODED = List.of("--file", "--servers", "--json", "--hlog");
    private static final double BEFORE_SHARE = 0.4;
    private static final long PATIENCE_NANOS = TimeLimit.of(60_000_000_000L);

    @Option(names = "--file", paramLabel = "F", description = "the file to serve (default: the JDK's lib/modules)")
    private Path file = Path.of(System.getProperty("java.home"), "lib", "modules");

    @Option(
            names = "--servers",
            paramLabel = "N",
            description = "memory servers, one more than the file needs (default: ${DEFAULT-VALUE})")
    private int servers = 3;

    @Option(names = "--seconds", paramLabel = "S", description = "how long the load runs (default: ${DEFAULT-VALUE})")
    private double seconds = 10;

    @Option(
            names = "--region",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "16m",
            description = "region size (default: ${DEFAULT-VALUE})")
    private long regionBytes;

    @Option(
            names = "--resilience",
            paramLabel = "K+R",
            description = "instead of the above: memory coded over K + R servers of one region each, some of which are "
                    + "killed under load, such as 4+2")
    private @Nullable String code;

    @Option(
            names = "--kill",
            paramLabel = "N",
            description = "with --resilience: servers that are killed at once, 1 to R (default: R)")
    private @Nullable Integer kill;

    @Option(
            names = "--device",
            paramLabel = "NAME",
            description = "RDMA device of the cache, NAME or NAME:PORT (default: the first that serves)")
    private String device = "";

    @Option(
            names = "--server-device",
            paramLabel = "NAME",
            description = "RDMA device of the servers, NAME or NAME:PORT (default: the first that serves)")
    private String serverDevice = "";

    @Option(names = "--json", paramLabel = "OUT", description = "write the figures to this file as one JSON object")
    private @Nullable Path json;

    @Option(
            names = "--hlog",
            paramLabel = "OUT",
            description = "write the latency histograms of each second to this file (HdrHistogram log)")
    private @Nullable Path hlog;

    @Spec
    private CommandSpec spec;

    private final PrintStream out = System.out;
    /** Set before the servers start. */
    @SuppressWarnings("NullAway.Init")
    private ManagerProcess manager;

    private final List<ServerProcess> running = new ArrayList<>();
    /** One result each time the cache has left a server. */
    private final BlockingQueue<MigrationResult> reclaimed = new LinkedBlockingQueue<>();

    @Override
    public Integer call() throws IOException {
        if (code != null || kill != null) {
            return coded();
        }
        checkOptions();
        announceDevice();
        // Ctrl-C ends this process at any point; then the servers end, by this hook or by their watch on standard
        // input.
        Thread stopServers = new Thread(this::stopProcesses, "farheap-stop-servers");
        Runtime.getRuntime().addShutdownHook(stopServers);
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment content = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            startServers(content.byteSize());
            DemoReport report = run(content);
            report.print(out);
            if (json != null) {
                Files.writeString(json, report.json() + System.lineSeparator());
            }
            return report.mismatches() == 0 && report.failures() == 0 ? 0 : DIFFERENT;
        } finally {
            stopProcesses();
            removeHook(stopServers);
        }
    }

    private int coded() {
        CodedDemoOptions options = CodedDemoOptions.parse(code, kill);
        for (String other : NOT_CODED) {
            if (spec.commandLine().getParseResult().hasMatchedOption(other)) {
                throw new IllegalArgumentException(
                        other + ": it has no meaning with --resilience, which starts the servers that it needs and "
                                + "prints its figures; leave it out");
            }
        }
        checkSeconds();
        options.checkSlab(regionBytes);
        announceDevice();
        try (CodedDemo demo = new CodedDemo(options, regionBytes, seconds, device, serverDevice, out)) {
            Thread stopServers = new Thread(demo::close, "farheap-stop-servers");
            Runtime.getRuntime().addShutdownHook(stopServers);
            try {
                return demo.run();
            } finally {
                removeHook(stopServers);
            }
        }
    }

    private void stopProcesses() {
        running.forEach(ServerProcess::close);
        if (manager != null) {
            manager.close();
        }
    }

    private void checkOptions() throws IOException {
        if (servers < 2) {
            throw new IllegalArgumentException(
                    "--servers " + servers + ": the demo needs at least 2, one of them the spare");
        }
        checkSeconds();
        if (!ServerOptions.isRegionSize(regionBytes)) {
            throw new IllegalArgumentException("--region " + regionBytes
                    + " bytes: it must be a power of two, at least " + Sizes.format(ServerOptions.MIN_REGION_BYTES));
        }
        OutputFile.check("--json", json);
        OutputFile.check("--hlog", hlog);
        if (!Files.isRegularFile(file) || !Files.isReadable(file) || Files.size(file) < DemoLoad.LINE_BYTES) {
            throw new IllegalArgumentException(
                    "--file " + file + ": it must be a readable file of at least " + DemoLoad.LINE_BYTES + " bytes");
        }
    }

    private void checkSeconds() {
        if (!(seconds > 0)) {
            throw new IllegalArgumentException("--seconds " + seconds + ": the load must run for more than 0 seconds");
        }
    }

    private void announceDevice() {
        DeviceNotice.print(spec.commandLine().getErr());
        out.println("RDMA device      "
                + Devices.list().stream().map(DeviceInfo::name).toList()
                + (Devices.library() == VerbsLibrary.SOFT
                        ? " of softverbs: shared memory of this host, no network"
                        : " of the system's libibverbs"));
    }

    private void startServers(long bytes) {
        manager = ManagerProcess.start(Devices.library(), "127.0.0.1:0", "--temporary");
        out.printf("cache manager    pid %d, %s%n", manager.pid(), manager.address());
        long regions = (bytes + regionBytes - 1) / regionBytes;
        long perServer = (regions + servers - 2) / (servers - 1);
        for (int i = 0; i < servers; i++) {
            ServerProcess server = ServerProcess.start(
                    Devices.library(),
                    serverDevice,
                    perServer * regionBytes,
                    regionBytes,
                    Map.of(),
                    "--manager",
                    manager.address());
            running.add(server);
            out.printf(
                    "memory server %d   pid %d, %s, %s of %s%n",
                    i + 1, server.pid(), server.address(), DemoReport.regions(perServer), Sizes.format(regionBytes));
        }
        awaitServers();
    }

    /** Waits until the servers have reported to the manager. */
    private void awaitServers() {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        try (ManagerClient asked = ManagerClient.connect(manager.address())) {
            while (asked.servers().size() < servers) {
                if (System.nanoTime() - deadline > 0) {
                    throw new IllegalStateException(
                            "not all of the " + servers + " memory servers have reported to the manager");
                }
                pause();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    private DemoReport run(MemorySegment content) throws IOException {
        try (PrintStream log = hlog == null ? null : new PrintStream(Files.newOutputStream(hlog));
                Cache cache = create(content.byteSize())) {
            out.printf(
                    "cache            %,d bytes in %s on %s, filled from %s%n",
                    cache.capacity(), DemoReport.regions(cache.regions()), String.join(" and ", cache.servers()), file);
            compareDigest(cache, content);
            try (DemoLoad load = new DemoLoad(cache, content, System.nanoTime())) {
                DemoReport report = load(cache, load, content, log);
                if (log != null && log.checkError()) {
                    throw new IOException(hlog + " could not be written, so it lacks some of the figures");
                }
                return report;
            }
        }
    }

    private Cache create(long bytes) {
        try (ProgressBar bar = bar("filling", bytes)) {
            return Cache.builder()
                    .capacity(bytes)
                    .manager(manager.address())
                    .onReclaimed((server, moved, left) -> reclaimed.add(moved))
                    .device(device)
                    .file(file, bar::stepTo)
                    .trackLatency(LatencyTracking.EVERY)
                    .name("farheap-demo")
                    .create();
        }
    }

    private void compareDigest(Cache cache, MemorySegment content) {
        MessageDigest expected = sha256();
        MessageDigest actual = sha256();
        try (ProgressBar bar = bar("reading back", content.byteSize());
                CacheReader reader = new CacheReader(cache)) {
            reader.read(content.byteSize(), (address, bytes) -> {
                actual.update(bytes.asByteBuffer());
                expected.update(content.asSlice(address, bytes.byteSize()).asByteBuffer());
                bar.stepTo(address + bytes.byteSize());
            });
        }
        byte[] digest = actual.digest();
        boolean same = Arrays.equals(digest, expected.digest());
        out.println(
                "SHA-256          " + HexFormat.of().formatHex(digest) + (same ? ", the file's" : ", NOT the file's"));
        if (!same) {
            throw new IllegalStateException("the cache's content differs from the file");
        }
    }

    private DemoReport load(Cache cache, DemoLoad load, MemorySegment content, @Nullable PrintStream log) {
        if (log != null) {
            cache.latency().logTo(log);
        }
        cache.latency().endInterval();
        Thread thread = Thread.ofPlatform().name("farheap-demo-load").start(load::run);
        long start = System.nanoTime();
        Phase phase = new Phase(cache, load);
        LatencyInterval before = phase.run("load", seconds * BEFORE_SHARE);

        ServerProcess leaving = mostUsed(cache);
        out.printf(
                "%,8.1f s  SIGTERM to memory server %s, which has notice of 30 s%n",
                (System.nanoTime() - start) / 1e9, leaving.address());
        MigrationResult migration = reclaim(leaving);
        LatencyInterval during = cache.latency().endInterval();
        out.printf(
                "%,8.1f s  reclaimed %s: %s moved, the cache is on %s%n",
                (System.nanoTime() - start) / 1e9,
                leaving.address(),
                DemoReport.regions(migration.regions()),
                String.join(" and ", cache.servers()));

        LatencyInterval after = phase.run("load", seconds * (1 - BEFORE_SHARE));
        load.stop();
        join(thread);
        double loadSeconds = (System.nanoTime() - start) / 1e9;
        long verified = verify(cache, load, content);
        return new DemoReport(
                device(cache),
                commandLine(),
                content.byteSize(),
                verified,
                load.mismatches() + (content.byteSize() - verified),
                load.failures(),
                before,
                during,
                after,
                migration,
                load.operations(),
                loadSeconds);
    }

    private ServerProcess mostUsed(Cache cache) {
        Map<String, Long> regions = IntStream.range(0, cache.regions())
                .mapToObj(cache::serverOf)
                .collect(Collectors.groupingBy(server -> server, Collectors.counting()));
        return Collections.max(running, Comparator.comparing(server -> regions.getOrDefault(server.address(), 0L)));
    }

    /**
     * The server reports to the manager that it leaves, the manager notifies the cache, the cache moves by itself, and
     * then the server ends.
     */
    private MigrationResult reclaim(ServerProcess server) {
        server.leave();
        try {
            MigrationResult moved = reclaimed.poll(PATIENCE_NANOS, TimeUnit.NANOSECONDS);
            if (moved == null || !server.await(TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS))) {
                throw new IllegalStateException(
                        "the cache has not left memory server " + server.address() + " in time");
            }
            return moved;
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** @return how many bytes are right */
    private long verify(Cache cache, DemoLoad load, MemorySegment content) {
        long[] right = new long[1];
        try (ProgressBar bar = bar("verifying", content.byteSize());
                CacheReader reader = new CacheReader(cache);
                Arena arena = Arena.ofConfined()) {
            MemorySegment expected = arena.allocate(1 << 20, 8);
            reader.read(content.byteSize(), (address, bytes) -> {
                MemorySegment piece = expected.asSlice(0, bytes.byteSize());
                piece.copyFrom(content.asSlice(address, bytes.byteSize()));
                load.overlay(piece, address);
                right[0] += same(piece, bytes);
                bar.stepTo(address + bytes.byteSize());
            });
        }
        return right[0];
    }

    private static long same(MemorySegment expected, MemorySegment actual) {
        if (expected.mismatch(actual) < 0) {
            return actual.byteSize();
        }
        long same = 0;
        for (long i = 0; i < actual.byteSize(); i++) {
            if (expected.get(JAVA_BYTE, i) == actual.get(JAVA_BYTE, i)) {
                same++;
            }
        }
        return same;
    }

    private String device(Cache cache) {
        return cache.context().label() + " ("
                + (cache.context().library() == VerbsLibrary.SOFT ? "softverbs" : "system") + ")";
    }

    private String commandLine() {
        return "./farheap demo --file " + file + " --servers " + servers + " --seconds " + seconds + " --region "
                + regionBytes + (device.isEmpty() ? "" : " --device " + device)
                + (serverDevice.isEmpty() ? "" : " --server-device " + serverDevice);
    }

    private ProgressBar bar(String task, long bytes) {
        return ProgressBars.bar(String.format("%-14s", task), bytes)
                .setUnit(" MiB", 1 << 20)
                .setUpdateIntervalMillis(200)
                .build();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JDK has no SHA-256", e);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is shutting down: the hook is running.
        }
    }

    /** Prints the throughput of every second of the load, and gathers its latencies. */
    private final class Phase {

        private final Cache cache;
        private final DemoLoad load;
        private final long start = System.nanoTime();

        Phase(Cache cache, DemoLoad load) {
            this.cache = cache;
            this.load = load;
        }

        LatencyInterval run(String what, double length) {
            LatencyInterval sum = cache.latency().endInterval();
            long end = System.nanoTime() + (long) (length * 1e9);
            while (System.nanoTime() - end < 0) {
                long from = System.nanoTime();
                long operations = load.operations();
                sleep(Math.min(1_000_000_000L, end - from));
                double second = (System.nanoTime() - from) / 1e9;
                out.printf(
                        "%,8.1f s  %s: %.2f million operations/s%n",
                        (System.nanoTime() - start) / 1e9, what, (load.operations() - operations) / second / 1e6);
                LatencyInterval interval = cache.latency().endInterval();
                sum.reads().add(interval.reads());
                sum.writes().add(interval.writes());
            }
            return sum;
        }

        private void sleep(long nanos) {
            try {
                Thread.sleep(Duration.ofNanos(Math.max(1, nanos)));
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted", e);
            }
        }
    }
}
