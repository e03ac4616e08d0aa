package io.farheap.bench.kv;

import com.google.gson.JsonObject;
import io.farheap.bench.against.AgainstOptions;
import io.farheap.bench.against.ComparedRows;
import io.farheap.bench.kv.leases.EnginesPart;
import io.farheap.bench.kv.leases.LeasesPart;
import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.RepeatedPlays;
import io.farheap.bench.report.TimingNote;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Plot;
import io.farheap.command.Sizes;
import io.farheap.measure.LateOperations;
import io.farheap.measure.SoftverbsModel;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench kv}: measures the operations and the time of a map's requests, and its hit ratios on traces. */
@Command(
        name = "kv",
        mixinStandardHelpOptions = true,
        description = {
            "Measure maps, on a memory server in a process of its own.",
            "messages: operations that each kind of request posts, and its time and rate beside a bare loop that posts "
                    + "the same, in turns; YCSB A to D with 1 to 64 sessions.",
            "ycsb: rate and latency of YCSB A to D, uniform and Zipfian, 1 to 64 sessions; with --peers beside Redis "
                    + "and memcached, of as much memory, whose requests are pipelined on a Unix socket; with --nic-model "
                    + "also with the times of a NIC. adaptivity: hits while the load changes between one that suits LRU "
                    + "and one that suits LFU. elasticity: rate over time while clients come and go, and a map grows; memory in "
                    + "live blocks while sizes change.",
            "traces: hits and operations of a trace played on a map, a get for each request, and a set if it misses. "
                    + "The map holds N objects of one size; free blocks that sessions hold, one or two each, count among "
                    + "them. A trace is a file with a key a line, whole numbers from 0 on. With --reference beside "
                    + "the hits of other policies, the best of them by name at each point, and means over all points.",
            "worth: rate and operations of maps that lack one part or another of the design, and of LRU lists under a lock.",
            "leases: hits of leased maps beside simpler policies, the share of hits that is one READ by terms and numbers "
                    + "of LRU queues, latency by kind of request, with and without reports; with --trace also hits of the "
                    + "beginnings of traces. engines: leased and disaggregated maps beside each other, by the share of "
                    + "sets, keys, sizes of values and clients.",
            "bytes_local is the client's memory for counters and buffers, in_flight the requests under way at a time. "
                    + "With a NIC model a row is invalid if over one per cent of the operations of a process, other than READs, were "
                    + "late: it has no rates, times or ratios. A JSON file whose tables have other points, too, is not replaced."
        })
public final class BenchKvCommand implements Callable<Integer> {

    /** Figures of parts that are played several times. */
    private static final Set<String> PLAYED = Set.of(
            "first_tenth_hit_pct",
            "hit_pct",
            "hits",
            "ops_per_s",
            "p50_ns",
            "p99_ns",
            "milliseconds",
            "moved",
            "evicted",
            "moved_bytes",
            "hot",
            "hot_still",
            "live_share",
            "no_room",
            "segments_emptied");

    /** When a window of a load ended. */
    private static final String MOMENT = "seconds";

    private static final Set<String> LONGEST = Set.of("max_ns", "quiet_max_ns");

    private enum Part {
        MESSAGES(true),
        YCSB(true),
        TRACES(true),
        ADAPTIVITY(false),
        ELASTICITY(false),
        WORTH(true),
        LEASES(false),
        ENGINES(false);

        /** Whether its rows say how many operations were late; a run with other ones fails if over 1% were. */
        final boolean marksLateRows;

        Part(boolean marksLateRows) {
            this.marksLateRows = marksLateRows;
        }
    }

    @Option(
            names = "--part",
            split = ",",
            paramLabel = "PART",
            description =
                    "messages, ycsb, traces, adaptivity, elasticity, worth, leases, engines (default: traces if --trace "
                            + "is given, else all others)")
    private List<Part> parts = List.of();

    @Option(
            names = "--keys",
            paramLabel = "N",
            defaultValue = "10000",
            description = "all but traces: objects in the map (default: ${DEFAULT-VALUE})")
    private long keys;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "0",
            description =
                    "elasticity: of the map that a second server joins and is drained from, a half of it on each; "
                            + "a power of two (default: enough for --keys)")
    private long memory;

    @Option(
            names = "--within",
            paramLabel = "SECONDS",
            defaultValue = "5",
            description = "elasticity: time limit in s for moving and evicting when the server is drained "
                    + "(default: ${DEFAULT-VALUE})")
    private int within;

    @Option(
            names = "--turns",
            paramLabel = "N",
            defaultValue = "7",
            description =
                    "messages, ycsb: turns of each side, of 0.1 s; worth: tenths of a second for each figure; leases, engines: "
                            + "tenths of a second for each play, after as many to warm up; elasticity: "
                            + "windows of 0.1 s for each number of clients and size of the map (default: ${DEFAULT-VALUE})")
    private int turns;

    @Option(
            names = "--plays",
            paramLabel = "N",
            defaultValue = "3",
            description = "adaptivity, elasticity, traces, leases, engines: how often each is played; figures are medians "
                    + "of the plays (default: ${DEFAULT-VALUE})")
    private int plays;

    @Option(
            names = "--play-within",
            paramLabel = "SECONDS",
            defaultValue = "900",
            description = "traces: a trace is played again only if that is expected to end within so many s since the "
                    + "beginning; its rows say how often it was played (default: ${DEFAULT-VALUE})")
    private int playWithin;

    @Option(
            names = "--sessions",
            split = ",",
            paramLabel = "N",
            defaultValue = "1,2,4,8,16,32,64",
            description = "messages, ycsb, worth: sessions for YCSB (default: ${DEFAULT-VALUE})")
    private List<Integer> sessions;

    @Option(
            names = "--trace",
            split = ",",
            paramLabel = "FILE",
            description = "traces, or directories of them; those that end with .xz are unpacked by xz")
    private List<Path> traces = List.of();

    @Option(names = "--objects", split = ",", paramLabel = "N", description = "objects that the map holds")
    private List<Long> objects = List.of();

    @Option(
            names = "--percent",
            split = ",",
            paramLabel = "P",
            defaultValue = "1,5,10,20,40",
            description = "the same, in per cent of a trace's distinct keys, rounded, if --objects is not given "
                    + "(default: ${DEFAULT-VALUE})")
    private List<Integer> percents;

    @Option(
            names = "--policy",
            paramLabel = "P",
            description =
                    "adaptive, paper, lru, lfu, ..., separated by blanks (default: adaptive and paper, and if --clients "
                            + "is not given either, at a tenth of the keys all others)")
    private String policies = "";

    @Option(
            names = "--clients",
            split = ",",
            paramLabel = "C",
            description =
                    "sessions that requests are dealt to in turn (default: 1; if --policy is not given either, 1, "
                            + "8 and 64 for adaptive and paper)")
    private List<Integer> clients = List.of();

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "5",
            description = "traces, if neither --policy nor --clients is given: s for each rate of clients that a miss "
                    + "delays by 500 us; 0 for no such rate (default: ${DEFAULT-VALUE})")
    private int seconds;

    @Option(
            names = "--reference",
            paramLabel = "FILE",
            description = "traces: hits of other policies on the same traces: columns trace, size, and one for each "
                    + "policy, such as lcs:arc, between tabs")
    private @Nullable Path reference;

    @Option(
            names = "--nic-model",
            paramLabel = "MODEL",
            description = "ycsb: the maps also with this model of softverbs, such as connectx5, in processes of their "
                    + "own between the two halves of the run without it")
    private String nicModel = "";

    @Option(
            names = "--peers",
            description =
                    "messages, ycsb: also Redis and memcached; ./farheap installs the servers that it can, the others "
                            + "are listed as absent")
    private boolean peers;

    @Mixin
    private BenchOutput output;

    @Mixin
    private AgainstOptions against;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        output.check();
        against.check(output);
        if (clients.stream().anyMatch(count -> count < 1)
                || sessions.stream().anyMatch(count -> count < 1)
                || objects.stream().anyMatch(count -> count < 1)
                || percents.stream().anyMatch(percent -> percent < 1 || percent > 100)) {
            throw new IllegalArgumentException("--clients " + clients + " --objects " + objects + " --percent "
                    + percents + " --sessions " + sessions
                    + ": clients, objects and sessions are at least 1, per cent 1 to 100");
        }
        if (keys < 100 || turns < 1 || plays < 1 || playWithin < 0) {
            throw new IllegalArgumentException("--keys " + keys + " --turns " + turns + " --plays " + plays
                    + " --play-within " + playWithin
                    + ": there are at least 100 keys, 1 turn and 1 play, and no time is below 0");
        }
        if (memory != 0 && (Long.bitCount(memory) != 1 || memory < 2 * DrainedMap.LEAST_BYTES)) {
            throw new IllegalArgumentException("--memory " + memory + ": a power of two, of at least "
                    + BenchMaps.powerOfTwo(2 * DrainedMap.LEAST_BYTES) + " bytes");
        }
        if (within < 0) {
            throw new IllegalArgumentException("--within " + within + ": 0 seconds or more");
        }
        if (seconds < 0) {
            throw new IllegalArgumentException("--seconds " + seconds + ": 0 or more");
        }
        if (reference != null && !wanted(Part.TRACES)) {
            throw new IllegalArgumentException(
                    "--reference " + reference + ": it is for the part traces, which is not measured");
        }
        if (!nicModel.isEmpty() && !wanted(Part.YCSB)) {
            throw new IllegalArgumentException(
                    "--nic-model " + nicModel + ": it is for the part ycsb, which is not measured");
        }
        YcsbWithModel.check(nicModel);
        if (parts.contains(Part.TRACES) && traces.isEmpty()) {
            throw new IllegalArgumentException("--part traces: name the files by --trace FILE,...");
        }
        List<Path> files = TraceFile.in(traces);
        PolicyReference others = reference == null ? null : PolicyReference.read(reference);
        if (files.isEmpty() && !traces.isEmpty()) {
            throw new IllegalArgumentException("--trace " + traces + ": there is no trace in it");
        }
        DeviceNotice.print(spec.commandLine().getErr());
        if (against.wanted()) {
            against.compare(spec, output, ComparedRows.KV);
            return 0;
        }
        BenchReport report;
        try (Context context = Devices.open("")) {
            report = output.report(spec, context);
            if (Stream.of(Part.values()).filter(this::wanted).allMatch(part -> part.marksLateRows)) {
                LateOperations.allow(context);
            }
        }
        PrintStream out = System.out;
        report.origin().forEach(out::println);
        TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
        note.put(report);
        out.println(note.sentence());
        TracesPart tracesPart = new TracesPart(
                report,
                out,
                objects,
                percents,
                policyNames(),
                clients,
                seconds,
                new PlayLimit(plays, TimeUnit.SECONDS.toNanos(playWithin)),
                others);
        checkTables(tracesPart, files);
        List<Plot> plots = new ArrayList<>();
        timed(Part.MESSAGES, out, report, () -> {
            new MessagesPart(report, out, keys, turns, sessions).run();
            if (peers) {
                new KvPeers(report, out, turns).run();
            }
        });
        timed(Part.YCSB, out, report, () -> {
            if (nicModel.isEmpty()) {
                new YcsbPart(report, out, keys, turns, sessions, peers).run();
                return;
            }
            List<JsonObject> withModel = new ArrayList<>();
            YcsbWithModel.beside(
                    report,
                    turns,
                    (half, of) -> new YcsbPart(half, out, keys, of, sessions, peers).run(),
                    of -> YcsbWithModel.rows(nicModel, keys, of, sessions),
                    withModel::add);
            YcsbWithModel.title(out, nicModel);
            withModel.forEach(row -> YcsbWithModel.add(report, out, nicModel, row));
        });
        timed(Part.TRACES, out, report, () -> tracesPart.run(files));
        timed(Part.ADAPTIVITY, out, report, () -> played(report, out, plots, this::adaptivity));
        timed(Part.ELASTICITY, out, report, () -> played(report, out, plots, this::elasticity));
        timed(Part.WORTH, out, report, () -> {
            WorthPart part = new WorthPart(report, out, keys, turns, sessions);
            part.run();
            plots.addAll(part.plots());
        });
        timed(Part.LEASES, out, report, () -> {
            LeasesPart part = new LeasesPart(report, out, keys, turns, plays);
            part.run();
            for (Path file : files) {
                part.trace(TraceFile.name(file), TraceFile.read(file));
            }
            plots.addAll(part.plots());
        });
        timed(Part.ENGINES, out, report, () -> new EnginesPart(report, out, keys, turns, plays).run());
        output.write(report, plots.toArray(Plot[]::new));
        return 0;
    }

    /** A part that is random, and so is played several times. */
    @FunctionalInterface
    private interface PlayedPart {

        /**
         * Plays it once.
         *
         * @param seed another one for each play
         * @return its plots
         */
        List<Plot> play(BenchReport report, PrintStream out, long seed);
    }

    /** Plays a part several times, and reports the median of each figure. Plots are of the first play. */
    private void played(BenchReport report, PrintStream out, List<Plot> plots, PlayedPart part) {
        RepeatedPlays merged = new RepeatedPlays(PLAYED, LONGEST, MOMENT);
        for (int play = 1; play <= plays; play++) {
            out.printf("%nplay %d of %d%n", play, plays);
            BenchReport own = report.another();
            List<Plot> ofPlay = part.play(own, out, play);
            if (play == 1) {
                plots.addAll(ofPlay);
            }
            merged.add(own.rows());
        }
        merged.put(report);
    }

    private List<Plot> adaptivity(BenchReport report, PrintStream out, long seed) {
        AdaptivityPart part = new AdaptivityPart(report, out, keys, seed);
        part.run();
        return List.of(part.plot());
    }

    private List<Plot> elasticity(BenchReport report, PrintStream out, long seed) {
        ElasticityPart part = new ElasticityPart(report, out, keys, turns);
        part.run();
        GrowingMap growing = new GrowingMap(report, out, keys, turns);
        growing.run();
        DrainedMap drained = new DrainedMap(report, out, keys, memory / 2, Duration.ofSeconds(within), turns);
        drained.run();
        new MixedSizes(report, out, keys, seed).run();
        return List.of(part.plot(), growing.plot(), drained.plot());
    }

    /** Refuses a run that would replace a report, but not all points of its tables. */
    private void checkTables(TracesPart tracesPart, List<Path> files) throws IOException {
        Path report = spec.commandLine().getParseResult().matchedOptionValue("--json", (Path) null);
        if (report == null) {
            return;
        }
        Set<String> earlier = WholeTable.points(report);
        if (!earlier.isEmpty()) {
            WholeTable.check(report, earlier, points(tracesPart, files));
        }
    }

    private Set<String> points(TracesPart tracesPart, List<Path> files) throws IOException {
        Set<String> points = new LinkedHashSet<>();
        for (Part part : Part.values()) {
            if (!wanted(part)) {
                continue;
            }
            switch (part) {
                case TRACES -> points.addAll(tracesPart.points(files));
                case YCSB -> {
                    points.addAll(YcsbPart.points(sessions, SoftverbsModel.of(Devices.library())));
                    if (peers) {
                        points.addAll(YcsbPart.points(sessions, SoftverbsModel.NONE));
                    }
                    if (!nicModel.isEmpty()) {
                        points.addAll(YcsbPart.points(sessions, nicModel));
                    }
                }
                case WORTH -> sessions.forEach(count -> points.add(WholeTable.worth(count)));
                default -> points.add(part.name().toLowerCase(Locale.ROOT));
            }
        }
        return points;
    }

    private List<String> policyNames() {
        return policies.isBlank() ? List.of() : List.of(policies.strip().split(" +"));
    }

    private boolean wanted(Part part) {
        return parts.isEmpty() ? traces.isEmpty() != (part == Part.TRACES) : parts.contains(part);
    }

    /** Runs a part, and prints how long it took. */
    private void timed(Part part, PrintStream out, BenchReport report, Running running) throws IOException {
        if (!wanted(part)) {
            return;
        }
        long begun = System.nanoTime();
        running.run();
        double seconds = (System.nanoTime() - begun) / 1e9;
        String name = part.name().toLowerCase(Locale.ROOT);
        out.printf("%n%s took %,.0f s%n", name, seconds);
        report.summary().put(name + "_seconds", seconds);
    }

    @FunctionalInterface
    private interface Running {
        void run() throws IOException;
    }
}
