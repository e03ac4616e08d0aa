package io.farheap.bench.procedure;

import io.farheap.bench.against.AgainstOptions;
import io.farheap.bench.against.ComparedRows;
import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.machine.FirstCore;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.TimingNote;
import io.farheap.bench.report.Turns;
import io.farheap.bench.report.Validity;
import io.farheap.cache.Cache;
import io.farheap.cache.Procedure;
import io.farheap.cache.Procedures;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.command.Sizes;
import io.farheap.measure.LateOperations;
import io.farheap.verbs.Devices;
import io.farheap.verbs.soft.SoftverbsCounters;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench procedure}. */
@Command(
        name = "procedure",
        mixinStandardHelpOptions = true,
        description = {
            "Calls of stored procedures beside the reads that they replace, in turns in one run.",
            "chase: a chain of pointers followed by one call, and by as many blocking reads, one at a time. under-way: the rate of chases by calls and by "
                    + "one-sided reads, 16 under way, beside the time of one. rate: calls with one access, as many "
                    + "under way as a session takes, beside batched reads of 16 bytes; one server thread. turns: the rate of chases of "
                    + "8 and 16 on a server whose calls take turns if that is faster, beside one whose calls never do. steal: of calls of "
                    + "50 us whose ring is on one of two server threads, how many the other executes while the client sleeps. tenants: the rate of calls beside another "
                    + "client whose calls never end. range: the time of a range of calls that sum up its words, over one server and over two; "
                    + "with less than three cores the latter is computed, from that of each half alone. Medians over turns.",
            "late_pct is the share of a row's operations other than READs that softverbs' model executed late, at client or server, whichever has more; "
                    + "if it is above 1 the row is invalid and has no ratio, and if there are READs alone it is null. With a "
                    + "model, chases have a second row with 'computed': their time in a run without it, and the model's for each message."
        })
public final class BenchProcedureCommand implements Callable<Integer> {

    private static final Set<String> OPS = Set.of("chase", "under-way", "rate", "turns", "steal", "tenants", "range");
    private static final long MOST_SPAN = 16L << 30;

    @Option(
            names = "--op",
            paramLabel = "OP",
            split = ",",
            defaultValue = "chase,under-way,rate,turns,steal,tenants,range",
            description = "chase, under-way, rate, turns, steal, tenants, range (default: ${DEFAULT-VALUE})")
    private List<String> ops;

    @Option(
            names = "--depth",
            paramLabel = "N",
            split = ",",
            defaultValue = "0,1,2,4,8,16",
            description = "hops of a chase; 0 is a call that follows none, beside one read (default: ${DEFAULT-VALUE})")
    private List<Integer> depths;

    @Option(
            names = "--span",
            paramLabel = "SIZE",
            split = ",",
            converter = Sizes.class,
            defaultValue = "64k,256m",
            description = "bytes over which the nodes are scattered (default: ${DEFAULT-VALUE})")
    private List<Long> spans;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "6",
            description = "turns that count, rounded up to an even number, after those in which the sides warm up "
                    + "(default: ${DEFAULT-VALUE})")
    private int repeat;

    @Option(
            names = "--millis",
            paramLabel = "MS",
            defaultValue = "300",
            description = "of a turn, for each side (default: ${DEFAULT-VALUE})")
    private long millis;

    @Option(names = "--peers", description = "chase by Redis's FCALL too, if redis-server 7 is installed")
    private boolean peers;

    @Mixin
    private BenchOutput output;

    @Mixin
    private AgainstOptions against;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        DeviceNotice.print(spec.commandLine().getErr());
        if (against.wanted()) {
            against.compare(spec, output, ComparedRows.PROCEDURE);
            return 0;
        }
        BenchReport report = null;
        SoftverbsCounters model = null;
        List<Plot> plots = new ArrayList<>();
        for (long span : spans) {
            long region = Math.max(64 << 10, Long.highestOneBit(Math.min(span, 64 << 20)));
            long memory = (span + region - 1) / region * region;
            // With room for a neighbour's cache.
            try (ServerProcess server = server(memory + 4 * region, region, "MEASURED", 1);
                    Cache cache = cache(server, memory);
                    FirstCore core = new FirstCore(cache.context().device().name());
                    ModelLateness late = new ModelLateness(server.address());
                    PutOffCalls putOff = new PutOffCalls(server.address())) {
                LateOperations.allow(cache.context());
                if (report == null) {
                    report = begun(cache);
                }
                model = SoftverbsCounters.now(Devices.library());
                PointerChains chains = new PointerChains(cache, memory);
                Procedure hops = cache.procedures()
                        .register(PointerChaseProcedure.class, Procedures.READS | Procedures.UNORDERED);
                if (ops.contains("chase")) {
                    plots.add(chase(core, report, late, putOff, cache, chains, hops, span));
                }
                if (ops.contains("under-way")) {
                    new ChasesUnderWay(core, report, System.out, late, putOff, cache, chains, hops)
                            .run(depths, span, repeat, turnNanos());
                }
                if (ops.contains("rate")) {
                    rate(core, report, late, cache, chains, hops, span);
                }
                if (ops.contains("turns")) {
                    turns(core, report, server, cache, chains, hops, memory, region);
                }
                if (ops.contains("tenants")) {
                    tenants(core, report, late, server, cache, chains, hops, span);
                }
            }
        }
        if (ops.contains("steal")) {
            try (ServerProcess server = server(4 << 20, 1 << 20, "MEASURED", 2);
                    Cache cache = cache(server, 1 << 20);
                    ModelLateness late = new ModelLateness(server.address())) {
                LateOperations.allow(cache.context());
                if (report == null) {
                    report = begun(cache);
                }
                new CallStealing(cache, server.address()).run(report, late, repeat, millis * 1_000_000);
            }
        }
        if (ops.contains("range")) {
            for (long span : spans) {
                report = ranges(report, span);
            }
        }
        if (report != null) {
            if (model != null && model.modelled() && ops.contains("chase")) {
                ComputedChases.run(report, System.out, model, depths, spans, repeat, millis);
            }
            if (peers && ops.contains("chase")) {
                RedisCost.run(report, System.out, depths, repeat, millis * 1_000_000);
            }
            output.write(report, plots.toArray(Plot[]::new));
        }
        return 0;
    }

    /** Two servers, of which one has a cache of two regions, and each has one of another cache's. */
    private BenchReport ranges(@Nullable BenchReport begun, long span) {
        long region = Math.max(64 << 10, Long.highestOneBit(span / 2));
        try (ServerProcess first = server(3 * region, region, "MEASURED", 1);
                // Pinned, it has the core of the first, which is right if one of them at a time is under load.
                ServerProcess second = RangeScaling.hasCores()
                        ? server(region, region, "MEASURED", 1, "--no-pinning")
                        : server(region, region, "MEASURED", 1);
                Cache one = cache(2 * region, first.address());
                Cache two = cache(2 * region, first.address(), second.address());
                FirstCore core = new FirstCore(one.context().device().name());
                ModelLateness late = new ModelLateness(first.address(), second.address())) {
            LateOperations.allow(one.context());
            BenchReport report = begun == null ? begun(one) : begun;
            new RangeScaling(core, report, System.out, late, one, two).run(repeat, turnNanos());
            return report;
        }
    }

    /** Prints the origin of the figures, and what their times include. */
    private BenchReport begun(Cache cache) {
        BenchReport report = output.report(spec, cache.context());
        report.origin().forEach(System.out::println);
        TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
        note.put(report);
        System.out.println(note.sentence());
        return report;
    }

    private void check() {
        output.check();
        against.check(output);
        for (String op : ops) {
            if (!OPS.contains(op)) {
                throw new IllegalArgumentException("--op " + op + ": it is one of " + new TreeSet<>(OPS));
            }
        }
        if (repeat < 1 || millis < 1) {
            throw new IllegalArgumentException(
                    "--repeat " + repeat + " --millis " + millis + ": each must be at least 1");
        }
        for (int depth : depths) {
            if (depth < 0 || depth > 1_000_000) {
                throw new IllegalArgumentException("--depth " + depth + ": it is 0 to 1000000");
            }
        }
        for (long span : spans) {
            if (span < 4096 || span > MOST_SPAN) {
                throw new IllegalArgumentException("--span " + span + ": it is 4k to 16g");
            }
        }
    }

    private static ServerProcess server(long memory, long region, String turns, int threads, String... more) {
        List<String> options = new ArrayList<>(
                List.of("--procedures", "java", "--threads", Integer.toString(threads), "--turns", turns));
        options.addAll(List.of(more));
        return ServerProcess.start(
                Devices.library(), "", memory, region, LateOperations.environment(), options.toArray(String[]::new));
    }

    private static Cache cache(ServerProcess server, long bytes) {
        return cache(bytes, server.address());
    }

    private static Cache cache(long bytes, String... servers) {
        return Cache.builder()
                .capacity(bytes)
                .servers(servers)
                .name("farheap-bench")
                // The most that queue pairs of the ConnectX-5 model accept.
                .queueDepth(8)
                .create();
    }

    private Plot chase(
            FirstCore core,
            BenchReport report,
            ModelLateness late,
            PutOffCalls putOff,
            Cache cache,
            PointerChains chains,
            Procedure hops,
            long span) {
        PrintStream out = System.out;
        out.printf(
                "%nchase over %s%n%6s%14s%14s%24s%14s%n",
                Sizes.format(span), "depth", "call p50 ns", "reads p50 ns", "reads/call (least..most)", "call p99 ns");
        double[] x = new double[depths.size()];
        double[] called = new double[depths.size()];
        double[] read = new double[depths.size()];
        putOff.share();
        for (int i = 0; i < depths.size(); i++) {
            ChaseCost cost = new ChaseCost(cache, chains, hops, depths.get(i));
            boolean settled = core.run(() -> cost.run(repeat, turnNanos(), late));
            Validity validity = late.validity();
            x[i] = depths.get(i);
            called[i] = cost.call.median();
            read[i] = cost.read.median();
            double ratio = read[i] / called[i];
            out.printf(
                    "%6d%,14.0f%,14.0f%24s%,14d   %s%n",
                    depths.get(i),
                    called[i],
                    read[i],
                    shown(
                            validity,
                            String.format(
                                    "%.2f (%.2f..%.2f)",
                                    ratio, cost.read.least() / cost.call.most(), cost.read.most() / cost.call.least())),
                    cost.calls.getValueAtPercentile(99),
                    validity.remark(settled));
            BenchReport.Row row = report.row()
                    .put("op", "chase")
                    .put("depth", (long) depths.get(i))
                    .put("span", span)
                    .put("call_p50_ns", called[i])
                    .put("read_p50_ns", read[i])
                    .put("ratio_p50", validity.compared(ratio))
                    .put("call_p99_ns", cost.calls.getValueAtPercentile(99))
                    .put("call_p999_ns", cost.calls.getValueAtPercentile(99.9))
                    .put("call_max_ns", cost.calls.getMaxValue());
            validity.put(row, settled).put("computed", false).put("put_off_share", putOff.share());
        }
        return Plot.lines(
                        "procedure-chase-" + span,
                        "A chain of pointers over " + Sizes.format(span) + ", one at a time",
                        "pointers",
                        "p50, ns")
                .series("one call", x, called)
                .series("reads", x, read);
    }

    private long turnNanos() {
        return millis * 1_000_000;
    }

    /** Returns a ratio as it is printed: an invalid row has none. */
    private static String shown(Validity validity, String ratio) {
        return validity.invalid() ? "-" : ratio;
    }

    private void rate(
            FirstCore core,
            BenchReport report,
            ModelLateness late,
            Cache cache,
            PointerChains chains,
            Procedure hops,
            long span) {
        PrintStream out = System.out;
        out.printf("%nrate over %s, one server thread%n", Sizes.format(span));
        cache.reconfigure(CacheConfiguration.DIRECT.with(0, 1, 16, 4));
        for (int depth : new int[] {1, 8}) {
            Turns turns;
            Validity validity;
            try (CallLoad load = new CallLoad(core, cache, chains, 3)) {
                List<Turns.Side<RuntimeException>> sides =
                        List.of(turn -> load.calls(hops, depth, turnNanos()), turn -> load.reads(turnNanos()));
                turns = Turns.take(sides, ChaseCost.warmUp(turnNanos()), repeat, late::restart);
                validity = late.validity();
                if (load.failed() > 0) {
                    throw new IllegalStateException(load.failed() + " operations failed");
                }
            }
            Samples calls = turns.of(0);
            Samples reads = turns.of(1);
            out.printf(
                    "%d access(es) a call: %,.0f calls/s (%,.0f..%,.0f); batched 16-byte reads %,.0f/s; ratio %s %s%n",
                    depth,
                    calls.median(),
                    calls.least(),
                    calls.most(),
                    reads.median(),
                    shown(validity, spread("%.3f (%.3f..%.3f)", calls, reads)),
                    validity.remark(turns.settled()));
            BenchReport.Row row = report.row()
                    .put("op", "rate")
                    .put("depth", (long) depth)
                    .put("span", span)
                    .put("calls_per_s", calls.median())
                    .put("reads_per_s", reads.median());
            putRatio(row, validity, turns);
        }
        cache.reconfigure(CacheConfiguration.DIRECT.withQueueDepth(8));
    }

    /** Returns the ratio of two rates, with the least and the highest one that their turns have. */
    private static String spread(String format, Samples rates, Samples others) {
        return String.format(
                format, rates.median() / others.median(), rates.least() / others.most(), rates.most() / others.least());
    }

    /** Puts the ratio of the first side's rate to the other's. */
    private static void putRatio(BenchReport.Row row, Validity validity, Turns turns) {
        Samples rates = turns.of(0);
        Samples others = turns.of(1);
        row.put("ratio_ops", MedianRatio.ofRates(validity, rates.median(), others.median()))
                .put("least_ratio_ops", validity.compared(rates.least() / others.most()))
                .put("most_ratio_ops", validity.compared(rates.most() / others.least()));
        validity.put(row, turns.settled()).put("computed", false);
    }

    /** Two servers, one of which at a time is under load. */
    private void turns(
            FirstCore core,
            BenchReport report,
            ServerProcess turning,
            Cache cache,
            PointerChains chains,
            Procedure hops,
            long memory,
            long region) {
        CacheConfiguration batches = CacheConfiguration.DIRECT.with(0, 1, 16, 4);
        cache.reconfigure(batches);
        try (ServerProcess server = server(memory + 4 * region, region, "OFF", 1);
                Cache other = cache(server, memory);
                ModelLateness late = new ModelLateness(turning.address(), server.address())) {
            other.reconfigure(batches);
            PointerChains same = new PointerChains(other, memory);
            Procedure off =
                    other.procedures().register(PointerChaseProcedure.class, Procedures.READS | Procedures.UNORDERED);
            for (int depth : new int[] {1, 8, 16}) {
                Turns turns;
                Validity validity;
                try (CallLoad inTurns = new CallLoad(core, cache, chains, 3);
                        CallLoad straight = new CallLoad(core, other, same, 3)) {
                    List<Turns.Side<RuntimeException>> sides = List.of(
                            turn -> inTurns.calls(hops, depth, turnNanos()),
                            turn -> straight.calls(off, depth, turnNanos()));
                    turns = Turns.take(sides, ChaseCost.warmUp(turnNanos()), repeat, late::restart);
                    validity = late.validity();
                }
                Samples with = turns.of(0);
                Samples without = turns.of(1);
                System.out.printf(
                        "%n%d accesses a call over %s: with turns %,.0f calls/s, without %,.0f; ratio %s %s",
                        depth,
                        Sizes.format(memory),
                        with.median(),
                        without.median(),
                        shown(validity, spread("%.2f (%.2f..%.2f)", with, without)),
                        validity.remark(turns.settled()));
                BenchReport.Row row = report.row()
                        .put("op", "turns")
                        .put("depth", (long) depth)
                        .put("span", memory)
                        .put("calls_per_s", with.median())
                        .put("straight_calls_per_s", without.median());
                putRatio(row, validity, turns);
            }
        }
        System.out.println();
        cache.reconfigure(CacheConfiguration.DIRECT.withQueueDepth(8));
    }

    /** Turns alone, and turns beside the neighbour, which pauses before a turn ends. */
    private void tenants(
            FirstCore core,
            BenchReport report,
            ModelLateness late,
            ServerProcess server,
            Cache cache,
            PointerChains chains,
            Procedure hops,
            long span) {
        Samples stall = new Samples();
        Samples p99 = new Samples();
        Samples quietP99 = new Samples();
        Turns turns;
        Validity validity;
        try (Cache other = cache(server, 64 << 10);
                NoisyNeighbour neighbour = new NoisyNeighbour(other);
                CallLoad load = new CallLoad(core, cache, chains, 4)) {
            List<Turns.Side<RuntimeException>> sides = List.of(
                    turn -> {
                        neighbour.begin();
                        load.latency.reset();
                        double loud = load.calls(hops, 1, turnNanos());
                        neighbour.pause();
                        if (turn >= 0) {
                            stall.add((double) load.latency.getMaxValue() / 1e3);
                            p99.add((double) load.latency.getValueAtPercentile(99));
                        }
                        return loud;
                    },
                    turn -> {
                        load.latency.reset();
                        double quiet = load.calls(hops, 1, turnNanos());
                        if (turn >= 0) {
                            quietP99.add((double) load.latency.getValueAtPercentile(99));
                        }
                        return quiet;
                    });
            turns = Turns.take(sides, ChaseCost.warmUp(turnNanos()), repeat, late::restart);
            validity = late.validity();
        }
        Samples beside = turns.of(0);
        Samples alone = turns.of(1);
        System.out.printf(
                "%ntenants over %s: beside calls that never end %,.0f calls/s of %,.0f: %s; p99 %,.0f ns of %,.0f; longest %,.0f us %s%n",
                Sizes.format(span),
                beside.median(),
                alone.median(),
                shown(validity, spread("%.3f (%.3f..%.3f)", beside, alone)),
                p99.median(),
                quietP99.median(),
                stall.most(),
                validity.remark(turns.settled()));
        BenchReport.Row row = report.row()
                .put("op", "tenants")
                .put("depth", 1L)
                .put("span", span)
                .put("calls_per_s", beside.median())
                .put("quiet_calls_per_s", alone.median())
                .put("p99_ns", p99.median())
                .put("quiet_p99_ns", quietP99.median())
                .put("longest_stall_us", stall.most());
        putRatio(row, validity, turns);
    }
}
