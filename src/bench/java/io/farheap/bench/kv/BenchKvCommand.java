package io.farheap.bench.kv;

import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.kv.policy.Replacements;
import io.farheap.remote.VerbCounts;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench kv}: what a map's requests cost in operations and time, and its hit ratios on traces. */
@Command(
        name = "kv",
        mixinStandardHelpOptions = true,
        description = {
            "Measure maps, on a memory server in a process of its own.",
            "messages: operations that each kind of request posts, and its time and rate beside a bare loop that posts "
                    + "the same, in turns; YCSB A to D with 1 to 64 sessions.",
            "ycsb: rate and latency of YCSB A to D, uniform and Zipfian, 1 to 64 sessions. adaptivity: hits while the load "
                    + "changes between what LRU and LFU are good at. elasticity: rate over time while clients come and go, and a map grows.",
            "traces: hits and operations of a trace played on a map, a get for each request, and a set where it misses. "
                    + "The map holds N objects of one size; what sessions hold free meanwhile, one or two each, is among "
                    + "them. A trace is a file with a key a line, whole numbers from 0 on."
        })
public final class BenchKvCommand implements Callable<Integer> {

    private enum Part {
        MESSAGES,
        YCSB,
        TRACES,
        ADAPTIVITY,
        ELASTICITY,
        WORTH
    }

    @Option(
            names = "--part",
            split = ",",
            paramLabel = "PART",
            description =
                    "messages, ycsb, traces, adaptivity, elasticity (default: traces where --trace is given, else "
                            + "all others)")
    private List<Part> parts = List.of();

    @Option(
            names = "--keys",
            paramLabel = "N",
            defaultValue = "10000",
            description = "all but traces: objects in the map (default: ${DEFAULT-VALUE})")
    private long keys;

    @Option(
            names = "--turns",
            paramLabel = "N",
            defaultValue = "7",
            description =
                    "messages: turns of each side, of 0.1 s; ycsb: tenths of a second for each figure; elasticity: "
                            + "windows of 0.1 s for each number of clients and size of the map (default: ${DEFAULT-VALUE})")
    private int turns;

    @Option(
            names = "--sessions",
            split = ",",
            paramLabel = "N",
            defaultValue = "1,2,4,8,16,32,64",
            description = "messages, ycsb: sessions for YCSB (default: ${DEFAULT-VALUE})")
    private List<Integer> sessions;

    @Option(names = "--trace", split = ",", paramLabel = "FILE", description = "traces")
    private List<Path> traces = List.of();

    @Option(names = "--objects", split = ",", paramLabel = "N", description = "objects that the map holds")
    private List<Long> objects = List.of();

    @Option(
            names = "--percent",
            split = ",",
            paramLabel = "P",
            defaultValue = "1,5,10,20,40",
            description = "the same, in per cent of a trace's distinct keys, rounded; where --objects is not given "
                    + "(default: ${DEFAULT-VALUE})")
    private List<Integer> percents;

    @Option(
            names = "--policy",
            paramLabel = "P",
            defaultValue = Replacements.ADAPTIVE,
            description = "adaptive, paper, lru, lfu, ...; several with a blank between (default: ${DEFAULT-VALUE})")
    private String policies;

    @Option(
            names = "--clients",
            split = ",",
            paramLabel = "C",
            defaultValue = "1",
            description = "sessions that requests are dealt to in turn (default: ${DEFAULT-VALUE})")
    private List<Integer> clients;

    @Mixin
    private BenchOutput output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        output.check();
        if (clients.stream().anyMatch(count -> count < 1)
                || sessions.stream().anyMatch(count -> count < 1)
                || objects.stream().anyMatch(count -> count < 1)
                || percents.stream().anyMatch(percent -> percent < 1 || percent > 100)) {
            throw new IllegalArgumentException("--clients " + clients + " --objects " + objects + " --percent "
                    + percents + " --sessions " + sessions
                    + ": clients, objects and sessions are at least 1, per cent 1 to 100");
        }
        if (keys < 100 || turns < 1) {
            throw new IllegalArgumentException(
                    "--keys " + keys + " --turns " + turns + ": there are at least 100 keys and 1 turn");
        }
        if (parts.contains(Part.TRACES) && traces.isEmpty()) {
            throw new IllegalArgumentException("--part traces: name the files by --trace FILE,...");
        }
        DeviceNotice.print(spec.commandLine().getErr());
        BenchReport report;
        try (Context context = Devices.open("")) {
            report = output.report(spec, context);
        }
        PrintStream out = System.out;
        report.origin().forEach(out::println);
        List<Plot> plots = new ArrayList<>();
        if (wanted(Part.MESSAGES)) {
            new MessagesPart(report, out, keys, turns, sessions).run();
        }
        if (wanted(Part.YCSB)) {
            new YcsbPart(report, out, keys, turns, sessions).run();
        }
        if (wanted(Part.TRACES)) {
            play(report, out);
        }
        if (wanted(Part.ADAPTIVITY)) {
            AdaptivityPart part = new AdaptivityPart(report, out, keys);
            part.run();
            plots.add(part.plot());
        }
        if (wanted(Part.ELASTICITY)) {
            ElasticityPart part = new ElasticityPart(report, out, keys, turns);
            part.run();
            plots.add(part.plot());
            GrowingMap growing = new GrowingMap(report, out, keys, turns);
            growing.run();
            plots.add(growing.plot());
        }
        if (wanted(Part.WORTH)) {
            WorthPart part = new WorthPart(report, out, keys, turns, sessions);
            part.run();
            plots.addAll(part.plots());
        }
        output.write(report, plots.toArray(Plot[]::new));
        return 0;
    }

    private boolean wanted(Part part) {
        return parts.isEmpty() ? traces.isEmpty() != (part == Part.TRACES) : parts.contains(part);
    }

    private void play(BenchReport report, PrintStream out) throws IOException {
        out.printf(
                "%n%-16s%10s  %-10s%8s%12s%12s%8s   a request: %6s%8s%8s%8s%n",
                "trace", "objects", "policy", "clients", "requests", "hits", "hit %", "READ", "WRITE", "CAS", "FAA");
        for (Path trace : traces) {
            int[] keys = TraceFile.read(trace);
            for (long count : counts(keys)) {
                for (String policy : policies.split(" ")) {
                    for (int sessions : clients) {
                        play(report, out, trace, keys, count, policy, sessions);
                    }
                }
            }
        }
    }

    private List<Long> counts(int[] keys) {
        if (!objects.isEmpty()) {
            return objects;
        }
        long distinct = IntStream.of(keys).distinct().count();
        return percents.stream()
                .map(percent -> Math.max(1, Math.round(distinct * percent / 100.0)))
                .toList();
    }

    private static void play(
            BenchReport report, PrintStream out, Path trace, int[] keys, long objects, String policy, int sessions) {
        long bytes = BenchMaps.bytesOfSmall(objects);
        try (ServerProcess server = ServerProcess.start(Devices.library(), bytes, bytes);
                FarMap map = BenchMaps.createSmall(server, objects, sessions, policy);
                MapTrace played = new MapTrace(map, sessions)) {
            long hits = played.play(keys);
            print(report, out, trace, objects, policy, sessions, keys.length, hits, played.posted());
        }
    }

    private static void print(
            BenchReport report,
            PrintStream out,
            Path trace,
            long objects,
            String policy,
            int sessions,
            int requests,
            long hits,
            VerbCounts posted) {
        double percent = 100.0 * hits / Math.max(1, requests);
        double each = Math.max(1, requests);
        String name = trace.getFileName().toString();
        out.printf(
                "%-16s%,10d  %-10s%8d%,12d%,12d%8.2f   %16.3f%8.3f%8.3f%8.3f%n",
                name,
                objects,
                policy,
                sessions,
                requests,
                hits,
                percent,
                posted.reads() / each,
                posted.writes() / each,
                posted.swaps() / each,
                posted.adds() / each);
        report.row()
                .put("part", "traces")
                .put("trace", name)
                .put("objects", objects)
                .put("policy", policy)
                .put("clients", (long) sessions)
                .put("requests", (long) requests)
                .put("hits", hits)
                .put("hit_pct", percent)
                .put("reads", posted.reads() / each)
                .put("writes", posted.writes() / each)
                .put("cas", posted.swaps() / each)
                .put("faa", posted.adds() / each);
    }
}
