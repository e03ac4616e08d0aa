package io.farheap.bench.kv.leases;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.Samples;
import io.farheap.command.Plot;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/**
 * Measures leased maps on two servers of two threads each (C-Hint, SoCC '14): hits beside simpler policies, the share
 * of gets that ask no server for terms and numbers of LRU queues, latency by kind of request, and what reports of READs
 * are worth. Two processes make requests in turn, so that sets of one make pointers of the other stale. Maps have
 * memory for somewhat more than a quarter of the keys. Sides are played several times, each time from an empty map and
 * with the same requests, in rotating order: a pause in which other sides ran would end leases.
 */
public final class LeasesPart {

    private static final long TENTH_NANOS = 100_000_000;
    private static final int VALUE_BYTES = 1000;
    private static final int PROCESSES = 2;
    /** The map has memory for one key among this number of keys, rounded up to a power of two bytes. */
    private static final int KEYS_AN_OBJECT = 4;

    // The terms of maps that are made by default, in ms.
    private static final int TERM = 1000;
    private static final int LONGEST = 10_000;
    /** The longest term of queues, in terms of queue 1. */
    private static final int TERMS = LONGEST / TERM;

    private static final int[] GETS = {100, 95, 90};
    private static final int USUAL_GETS = 95;
    /** In ms; a lease of a minute does not end in a play. */
    private static final int[] FIXED = {10, 100, 1000, 60_000};

    private static final int[] STEPS = {10, 100, 1000};
    private static final int[] QUEUES = {2, 4, LeaseSide.MOST_QUEUES};

    private static final String RANDOM = "random";
    private static final String LRU = "lru";
    private static final String MULTI_QUEUE = "multi-queue";
    private static final String ONE_QUEUE = "one queue";
    private static final String WHOLE = "c-hint";
    private static final String NO_REPORTS = "no reports";
    /** The policies whose latencies are plotted, kind by kind. */
    private static final List<String> PLOTTED = List.of(LRU, WHOLE);

    private static final String WRITTEN_REPORTS = "written";

    /** Requests that are played of a trace, at most. */
    private static final int MOST_REQUESTS = 100_000;

    private static final int PERCENT_OF_KEYS = 10;
    /** A trace is the same in each play, and only times differ. */
    private static final int MOST_TRACE_PLAYS = 2;

    private static final int SERVERS = 2;

    private static final double[] QUANTILES = IntStream.rangeClosed(1, 999)
            .filter(permille -> permille % 10 == 0 || permille > 990)
            .mapToDouble(permille -> permille / 10.0)
            .toArray();

    private final BenchReport report;
    private final PrintStream out;
    private final long keys;
    private final int turns;
    private final int plays;
    private final List<Plot> plots = new ArrayList<>();

    /**
     * Makes a part, which {@link #run} measures.
     *
     * @param keys that are asked for
     * @param turns tenths of a second in which the rate of each play is measured, after requests that are counted
     * @param plays of each side, at least
     */
    public LeasesPart(BenchReport report, PrintStream out, long keys, int turns, int plays) {
        this.report = report;
        this.out = out;
        this.keys = keys;
        this.turns = turns;
        this.plays = plays;
    }

    /** Measures all but traces. */
    public void run() {
        LeaseWorkload usual = new LeaseWorkload(
                keys,
                LeaseWorkload.USUAL_SKEW,
                USUAL_GETS,
                VALUE_BYTES,
                Math.max(1, keys / KEYS_AN_OBJECT),
                PROCESSES,
                1);
        out.printf(
                "%nleases: %,d keys, Zipfian, values of %,d bytes, in %,d bytes on %d servers; %d processes, one request "
                        + "at a time; %,d to warm up, %,d to count, and then %.1f s for rates%n",
                keys, VALUE_BYTES, usual.bytes(), SERVERS, PROCESSES, usual.requests(), usual.requests(), turns / 10.0);
        try (LeaseServerPair servers = new LeaseServerPair(LeaseServerPair.regionBytes(usual.bytes()))) {
            policies(servers, usual);
            terms(servers, usual);
            queues(servers, usual);
        }
    }

    /** Returns the plots of what was measured. */
    public List<Plot> plots() {
        return List.copyOf(plots);
    }

    private static LeaseSide whole() {
        return LeaseSide.leased(WHOLE, TERM, LONGEST, LeaseSide.MOST_QUEUES);
    }

    /**
     * The policies of the slides, but for random replacement. Those by message are this library's queues, of which the
     * server sees every get: an object sinks by the time, by n terms in queue n, since no longest term bounds that if
     * there are no leases.
     */
    private static List<LeaseSide> exactAndLeased() {
        return List.of(
                LeaseSide.byMessage(LRU, TERM, 1),
                LeaseSide.byMessage(MULTI_QUEUE, TERM, LeaseSide.MOST_QUEUES),
                LeaseSide.leased(ONE_QUEUE, TERM, LONGEST, 1),
                whole());
    }

    private void policies(LeaseServerPair servers, LeaseWorkload usual) {
        printHeader("policies");
        // Servers compile their code in these plays, which do not count.
        for (LeaseSide side : exactAndLeased()) {
            LeasePlay.of(servers, side, usual, 0, TENTH_NANOS, false, false);
        }
        Map<String, List<Double>> hits = new LinkedHashMap<>();
        for (int gets : GETS) {
            LeaseWorkload workload = usual.gets(gets);
            List<LeaseSide> sides = new ArrayList<>(exactAndLeased());
            sides.add(whole().withoutReports(NO_REPORTS));
            sides.add(whole().withWrittenReports(WRITTEN_REPORTS));
            List<LeaseFigures> figures = play(servers, sides, workload, gets == USUAL_GETS);
            // Random replacement needs no leases, so it has the objects of the side without leases.
            double held = figures.getFirst().median("held");
            double[] random = randomHits(workload, (int) held, Rotation.turns(sides.size(), plays));
            putRandom("policies", workload, held, random);
            hits.computeIfAbsent(RANDOM, added -> new ArrayList<>()).add(median(random));
            for (int side = 0; side < sides.size(); side++) {
                put("policies", sides.get(side), workload, figures.get(side));
                hits.computeIfAbsent(sides.get(side).policy(), added -> new ArrayList<>())
                        .add(figures.get(side).median("hit_pct"));
            }
            if (gets == USUAL_GETS) {
                latency(sides, workload, figures);
            }
        }
        Plot plot = Plot.bars("kv-leases-hits", "Hits of leased maps", "gets [%]", "hits [%]");
        List<String> shares = Arrays.stream(GETS).mapToObj(Integer::toString).toList();
        hits.forEach((policy, values) -> plot.series(policy, shares, values));
        plots.add(plot);
    }

    /** Puts the latency of each kind of request of each side. */
    private void latency(List<LeaseSide> sides, LeaseWorkload workload, List<LeaseFigures> figures) {
        out.printf("%n%-14s%-14s%10s%12s%12s%12s%n", "latency", "kind", "share %", "p50 ns", "p99", "p99.9");
        Plot plot = Plot.lines("kv-leases-latency", "Latency by kind, 95% gets", "ns", "requests of the kind [%]")
                .logarithmicX();
        for (int side = 0; side < sides.size(); side++) {
            Map<String, Histogram> kinds = figures.get(side).latency();
            long all =
                    kinds.values().stream().mapToLong(Histogram::getTotalCount).sum();
            for (String kind : LeaseWorker.KINDS) {
                Histogram of = kinds.get(kind);
                if (of != null) {
                    putLatency(sides.get(side), workload, kind, of, all);
                    if (PLOTTED.contains(sides.get(side).policy())) {
                        plot.series(
                                sides.get(side).policy() + ": " + kind,
                                Arrays.stream(QUANTILES)
                                        .map(percent -> (double) Math.max(1, of.getValueAtPercentile(percent)))
                                        .toArray(),
                                QUANTILES);
                    }
                }
            }
        }
        plots.add(plot);
    }

    private void putLatency(LeaseSide side, LeaseWorkload workload, String kind, Histogram latency, long all) {
        double share = 100.0 * latency.getTotalCount() / Math.max(1, all);
        out.printf(
                "%-14s%-14s%10.2f%,12d%,12d%,12d%n",
                side.policy(),
                kind,
                share,
                latency.getValueAtPercentile(50),
                latency.getValueAtPercentile(99),
                latency.getValueAtPercentile(99.9));
        BenchReport.Row row = report.row().put("part", "leases").put("case", "latency");
        side.put(row);
        workload.put(row);
        row.put("kind", kind)
                .put("share_pct", share)
                .put("p10_ns", (double) latency.getValueAtPercentile(10))
                .put("p50_ns", (double) latency.getValueAtPercentile(50))
                .put("p90_ns", (double) latency.getValueAtPercentile(90))
                .put("p99_ns", (double) latency.getValueAtPercentile(99))
                .put("p999_ns", (double) latency.getValueAtPercentile(99.9));
    }

    /**
     * Terms of one length for all objects that were used twice, beside terms by popularity. An object that is not used
     * sinks to the next queue after the term of its queue, so other terms evict other objects, too: the plot has the
     * share of one READ over the hits.
     */
    private void terms(LeaseServerPair servers, LeaseWorkload workload) {
        printHeader("terms");
        List<LeaseSide> sides = new ArrayList<>();
        sides.add(LeaseSide.leased("none", 0, 0, LeaseSide.MOST_QUEUES));
        for (int term : FIXED) {
            sides.add(LeaseSide.leased("fixed", term, term, LeaseSide.MOST_QUEUES));
        }
        for (int step : STEPS) {
            sides.add(LeaseSide.leased("popularity", step, TERMS * step, LeaseSide.MOST_QUEUES));
        }
        List<LeaseFigures> figures = playAndPut("terms", servers, sides, workload);
        Plot plot =
                Plot.lines("kv-leases-terms", "Gets that ask no server, 95% gets", "hits [%]", "one READ [% of hits]");
        for (String policy : List.of("fixed", "popularity")) {
            int[] some = IntStream.range(0, sides.size())
                    .filter(side -> sides.get(side).policy().equals(policy))
                    .boxed()
                    .sorted(Comparator.comparingDouble(side -> figures.get(side).median("hit_pct")))
                    .mapToInt(Integer::intValue)
                    .toArray();
            plot.series(
                    policy,
                    Arrays.stream(some)
                            .mapToDouble(side -> figures.get(side).median("hit_pct"))
                            .toArray(),
                    Arrays.stream(some)
                            .mapToDouble(side -> figures.get(side).median("one_sided_pct"))
                            .toArray());
        }
        plots.add(plot);
    }

    /** The term of queue 1, and the number of queues. */
    private void queues(LeaseServerPair servers, LeaseWorkload workload) {
        printHeader("queues");
        List<LeaseSide> sides = new ArrayList<>();
        for (int step : STEPS) {
            for (int queues : QUEUES) {
                sides.add(LeaseSide.leased(WHOLE, step, TERMS * step, queues));
            }
        }
        playAndPut("queues", servers, sides, workload);
    }

    /**
     * Plays the beginning of a trace on maps with room for a tenth of its keys.
     *
     * @param name of the trace
     * @param all its keys
     */
    public void trace(String name, int[] all) {
        int[] played = Arrays.copyOf(all, Math.min(MOST_REQUESTS, all.length));
        long distinct = IntStream.of(played).distinct().count();
        long share = Math.max(1, distinct * PERCENT_OF_KEYS / 100 / SERVERS);
        // A shard has entries for an eighth more objects than its share, and one.
        long objects = SERVERS * Math.max(1, (share - 1) * 8 / 9);
        LeaseWorkload workload = new LeaseWorkload(distinct, 0, 100, 0, distinct, PROCESSES, 1);
        printHeader(name);
        List<LeaseSide> sides = exactAndLeased();
        List<LeaseFigures> figures = new ArrayList<>();
        sides.forEach(side -> figures.add(new LeaseFigures()));
        try (LeaseServerPair servers = new LeaseServerPair(LeaseServerPair.regionBytes(workload.bytes()))) {
            rotate(sides.size(), Math.min(plays, MOST_TRACE_PLAYS), (side, play) -> figures.get(side)
                    .add(LeasePlay.of(servers, sides.get(side), workload, objects, played)));
        }
        double held = figures.getFirst().median("held");
        RandomReplacement model = new RandomReplacement((int) Math.max(1, held), 1);
        long hits = IntStream.of(played).filter(model::use).count();
        putRandom(name, workload, held, new double[] {100.0 * hits / played.length});
        for (int side = 0; side < sides.size(); side++) {
            put(name, sides.get(side), workload, figures.get(side));
        }
    }

    private List<LeaseFigures> playAndPut(
            String named, LeaseServerPair servers, List<LeaseSide> sides, LeaseWorkload workload) {
        List<LeaseFigures> figures = play(servers, sides, workload, false);
        for (int side = 0; side < sides.size(); side++) {
            put(named, sides.get(side), workload, figures.get(side));
        }
        return figures;
    }

    private List<LeaseFigures> play(
            LeaseServerPair servers, List<LeaseSide> sides, LeaseWorkload workload, boolean timed) {
        List<LeaseFigures> figures = new ArrayList<>();
        sides.forEach(side -> figures.add(new LeaseFigures()));
        rotate(sides.size(), plays, (side, play) -> figures.get(side)
                .add(LeasePlay.of(servers, sides.get(side), workload, play + 1L, turns * TENTH_NANOS, false, timed)));
        return figures;
    }

    /** Plays a side. */
    @FunctionalInterface
    private interface SidePlay {
        void play(int side, int play);
    }

    private static void rotate(int sides, int least, SidePlay each) {
        int counted = Rotation.turns(sides, least);
        Rotation rotation = new Rotation(sides, counted);
        for (int play = 0; play < counted; play++) {
            for (int side : rotation.order(play)) {
                each.play(side, play);
            }
        }
    }

    /** Returns the hits of random replacement with the same requests, in percent, play by play. */
    private static double[] randomHits(LeaseWorkload workload, int objects, int plays) {
        double[] hits = new double[plays];
        for (int play = 0; play < plays; play++) {
            hits[play] = RandomReplacement.hitPercent(workload, Math.max(1, objects), play + 1L);
        }
        return hits;
    }

    private static Samples samples(double[] values) {
        Samples samples = new Samples();
        Arrays.stream(values).forEach(samples::add);
        return samples;
    }

    private static double median(double[] values) {
        return samples(values).median();
    }

    /** A model has hits alone: no map evicts at random. */
    private void putRandom(String named, LeaseWorkload workload, double held, double[] hits) {
        Samples samples = samples(hits);
        out.printf("%-14s%58.2f   a model%n", RANDOM, samples.median());
        BenchReport.Row row = row(named)
                .put("policy", RANDOM)
                .put("modelled", true)
                .put("term", 0L)
                .put("reports", false);
        workload.put(row);
        row.put("held", held)
                .put("hit_pct", samples.median())
                .put("hit_pct_p25", samples.lowerQuartile())
                .put("hit_pct_p75", samples.upperQuartile())
                .put("plays", (long) hits.length);
    }

    private BenchReport.Row row(String named) {
        return report.row().put("part", "leases").put("case", named);
    }

    private void printHeader(String named) {
        out.printf(
                "%n%-14s%10s%10s%8s%8s%22s%12s%10s%10s%10s%12s%14s%14s%n",
                named,
                "term ms",
                "longest",
                "queues",
                "gets %",
                "hits %",
                "one READ %",
                "calls",
                "READs",
                "renewals",
                "leased KiB",
                "requests/s",
                "server CPU ns");
    }

    private void put(String named, LeaseSide side, LeaseWorkload workload, LeaseFigures figures) {
        out.printf(
                "%-14s%,10d%,10d%8d%8d%22.2f%12.2f%10.3f%10.3f%10.3f%,12.0f%,14.0f%,14.0f%n",
                side.policy(),
                side.term(),
                side.longest(),
                side.queues(),
                workload.getPercent(),
                figures.median("hit_pct"),
                figures.median("one_sided_pct"),
                figures.median("calls"),
                figures.median("reads"),
                figures.median("renewals"),
                figures.median("leased_bytes") / 1024,
                figures.median("ops_per_s"),
                figures.median("server_cpu_ns"));
        BenchReport.Row row = row(named);
        side.put(row);
        workload.put(row);
        figures.put(row);
    }
}
