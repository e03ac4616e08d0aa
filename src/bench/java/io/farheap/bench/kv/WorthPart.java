package io.farheap.bench.kv;

import io.farheap.bench.kv.worth.MapDesign;
import io.farheap.bench.kv.worth.MapDesign.Part;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.Validity;
import io.farheap.bench.ycsb.YcsbKeys;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.kv.replacement.FrequencyCounterCache;
import io.farheap.kv.replacement.Replacements;
import io.farheap.remote.contract.VerbCounts;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntFunction;

/**
 * Measures what each part of the design is worth (Ditto, figures 2, 14, 24 and 25), on reads of Zipfian keys (YCSB C).
 * One kind of map has room for all keys: LRU lists under locks, the table alone, and frequency-counter caches of
 * several sizes. The other kind has room for a tenth of them, and missing keys are inserted: the parts that evictions
 * and misses need are left out one by one and together. These maps are the benchmark's own, which differ in nothing
 * else; two of the library's are measured beside them.
 */
final class WorthPart {

    private static final int MOST_ROUNDS = 2;
    private static final int SHARDS = 32;
    /** Back-off of the paper's sharded list. */
    private static final long BACK_OFF_NANOS = 5_000;
    /** Keys for each object, in the map that misses. */
    private static final int KEYS_AN_OBJECT = 10;

    private static final String FITS = "fits";
    private static final String MISSES = "misses";
    private static final String NO_COUNTERS = "FC cache off";
    private static final String COUNTERS = "FC cache, all keys";
    private static final String WHOLE = "all parts";
    private static final String WHOLE_SMALL = "all parts, 8 bytes";
    private static final String WITHOUT_LAZY = "no lazy weights, FC";
    private static final String WITHOUT_HISTORY = "nor history in table";
    private static final String WITHOUT_TABLE = "nor metadata there";

    /**
     * @param load whether all keys have room, or a tenth of them
     * @param valueBytes of each pair: variants are comparable if these are equal
     */
    private record Variant(String load, String name, int valueBytes, IntFunction<WorthMap> map) {}

    /** The result of a variant with one number of sessions. */
    private record Measured(ClosedLoop.LoopResult ran, Validity validity) {

        Measured and(Measured other) {
            return new Measured(ran.and(other.ran), validity.worse(other.validity));
        }
    }

    private static final List<String> POLICIES = List.of(Replacements.PAPER, Replacements.ADAPTIVE);

    private final BenchReport report;
    private final PrintStream out;
    private final long keys;
    /** Objects for which the map that misses has room. */
    private final long held;

    private final int rounds;
    /** Windows in a round. */
    private final int windows;

    private final List<Integer> sessionCounts;
    /** By variant, the results for each number of sessions. */
    private final Map<Variant, List<Measured>> measured = new LinkedHashMap<>();

    private final List<Variant> variants = new ArrayList<>();

    @SuppressWarnings("NullAway.Init") // run() starts it.
    private ServerProcess server;

    @SuppressWarnings("NullAway.Init") // run() starts it.
    private ModelLateness late;

    /**
     * @param keys that are asked for
     * @param windows of 0.1 s for each figure
     * @param sessionCounts one after the other
     */
    WorthPart(BenchReport report, PrintStream out, long keys, int windows, List<Integer> sessionCounts) {
        this.report = report;
        this.out = out;
        this.keys = keys;
        held = Math.max(1, keys / KEYS_AN_OBJECT);
        rounds = Math.min(MOST_ROUNDS, windows);
        this.windows = Math.ceilDiv(windows, rounds);
        this.sessionCounts = sessionCounts;
        MapDesign whole = MapDesign.whole();
        fits("table alone", MapDesign.table());
        fits("LRU list", MapDesign.lists(1, 0));
        fits("LRU list, 5 us", MapDesign.lists(1, BACK_OFF_NANOS));
        fits(SHARDS + " LRU lists, 5 us", MapDesign.lists(SHARDS, BACK_OFF_NANOS));
        fits(NO_COUNTERS, whole.without(Part.COUNTERS));
        fits("FC cache, 1/100", whole.counters(keys * FrequencyCounterCache.ENTRY_BYTES / 100));
        fits("FC cache, 1/10", whole.counters(keys * FrequencyCounterCache.ENTRY_BYTES / 10));
        fits(COUNTERS, whole.counters(keys * FrequencyCounterCache.ENTRY_BYTES));
        for (String policy : POLICIES) {
            variants.add(new Variant(FITS, "library, " + policy, BenchMaps.VALUE_BYTES, sessions -> library(policy)));
        }
        misses(WHOLE, whole);
        misses("no metadata in table", whole.without(Part.METADATA_IN_TABLE));
        misses("no history in table", whole.without(Part.HISTORY_IN_TABLE));
        misses("no lazy weights", whole.without(Part.LAZY_WEIGHTS));
        misses("no FC cache", whole.without(Part.COUNTERS));
        MapDesign eager = whole.without(Part.LAZY_WEIGHTS, Part.COUNTERS);
        misses(WITHOUT_LAZY, eager);
        misses(WITHOUT_HISTORY, eager.without(Part.HISTORY_IN_TABLE));
        misses(WITHOUT_TABLE, eager.without(Part.HISTORY_IN_TABLE, Part.METADATA_IN_TABLE));
        misses(WHOLE_SMALL, whole, Long.BYTES);
        for (String policy : POLICIES) {
            variants.add(
                    new Variant(MISSES, "library, " + policy, Long.BYTES, sessions -> librarySmall(policy, sessions)));
        }
    }

    private void fits(String name, MapDesign design) {
        int bytes = BenchMaps.VALUE_BYTES;
        variants.add(new Variant(FITS, name, bytes, sessions -> WorthMap.own(server, design, keys, true, bytes)));
    }

    private void misses(String name, MapDesign design) {
        misses(name, design, BenchMaps.VALUE_BYTES);
    }

    private void misses(String name, MapDesign design, int bytes) {
        variants.add(new Variant(MISSES, name, bytes, sessions -> WorthMap.own(server, design, held, false, bytes)));
    }

    private WorthMap library(String policy) {
        long room = BenchMaps.room(keys);
        return WorthMap.library(
                BenchMaps.create(server, "worth", room, WorthMap.SPARSE * keys, policy), keys, BenchMaps.VALUE_BYTES);
    }

    /**
     * The library's maps hold an exact number of objects only if these are small, so one of the benchmark's own maps
     * with values as small stands beside them; blocks that sessions hold free are extra.
     */
    private WorthMap librarySmall(String policy, int sessions) {
        return WorthMap.library(BenchMaps.createSmall(server, "bench", held, sessions, policy), held, Long.BYTES);
    }

    void run() {
        out.printf(
                "%nworth: %,d keys, Zipfian, pairs of 256 bytes; medians of %d windows of 0.1 s, in turns; %d threads%n",
                keys, rounds * windows, ClosedLoop.threads(Integer.MAX_VALUE));
        out.printf(
                "fits: each key has room; misses: %,d keys have, and a missed key is inserted (library's maps have values "
                        + "of 8 bytes, as one of the others)%n",
                held);
        long room = BenchMaps.room(keys);
        // The memory of a closed map is still being zeroed when the next one is created.
        try (ServerProcess started = BenchMaps.server(4 * room, room);
                ModelLateness counted = new ModelLateness(started.address())) {
            server = started;
            late = counted;
            sessionCounts.forEach(this::measure);
        }
        gains();
    }

    private void measure(int sessions) {
        Map<Variant, Measured> sums = new LinkedHashMap<>();
        // In the order of the table, whichever runs first.
        Measured nothing = new Measured(ClosedLoop.LoopResult.nothing(), Validity.NO_MODEL);
        variants.forEach(variant -> sums.put(variant, nothing));
        Rotation rotation = new Rotation(variants.size(), rounds);
        for (int round = 0; round < rounds; round++) {
            for (int number : rotation.order(round)) {
                Variant variant = variants.get(number);
                sums.merge(variant, measure(variant, sessions), Measured::and);
            }
        }
        out.printf(
                "%n%-8s%-22s%9s%14s%26s%12s%14s   a request: %9s%6s%8s%8s%8s%8s%n",
                "keys",
                "variant",
                "sessions",
                "requests/s",
                "(least..most)",
                "p50 ns",
                "p99",
                "CPU ns",
                "READ",
                "WRITE",
                "CAS",
                "FAA",
                "hit %");
        sums.forEach((variant, one) -> {
            print(variant, sessions, one);
            measured.computeIfAbsent(variant, added -> new ArrayList<>()).add(one);
            BenchReport.Row row = report.row()
                    .put("part", "worth")
                    .put("load", variant.load)
                    .put("variant", variant.name)
                    .put("value_bytes", (long) variant.valueBytes)
                    .put("sessions", (long) sessions)
                    .put("threads", (long) ClosedLoop.threads(sessions));
            one.ran
                    .put(row, one.validity)
                    .put("late_pct", one.validity.latePercent())
                    .put("invalid", one.validity.invalid());
        });
    }

    private Measured measure(Variant variant, int sessions) {
        try (WorthMap map = variant.map.apply(sessions)) {
            late.restart();
            ClosedLoop.LoopResult ran = ClosedLoop.run(sessions, windows, thread -> {
                YcsbKeys drawn = new YcsbKeys(keys, thread);
                return () -> map.open(drawn);
            });
            Validity validity = late.validity();
            map.check();
            return new Measured(ran, validity);
        }
    }

    private void print(Variant variant, int sessions, Measured one) {
        ClosedLoop.LoopResult ran = one.ran;
        double each = Math.max(1, ran.requests());
        VerbCounts posted = ran.posted();
        out.printf(
                "%-8s%-22s%9d%,14.0f%26s%,12d%,14d   %,20.0f%8.3f%8.3f%8.3f%8.3f%8.2f %s%n",
                variant.load,
                variant.name,
                sessions,
                ran.rates().median(),
                String.format("(%,.0f..%,.0f)", ran.rates().least(), ran.rates().most()),
                ran.latency().getValueAtPercentile(50),
                ran.latency().getValueAtPercentile(99),
                ran.cpuNanosOfOne(),
                posted.reads() / each,
                posted.writes() / each,
                posted.swaps() / each,
                posted.adds() / each,
                ran.hitPercent(),
                one.validity.remark(true));
    }

    /** Adds one part after the other, as the paper does. */
    private void gains() {
        out.printf(
                "%nadded one after the other: gain in requests/s, and in requests per processor time; messages a request, and the gain if only "
                        + "messages bounded the rate, as at the paper's NIC (a projection)%n%-30s%9s%9s%9s%16s%12s%n",
                "part", "sessions", "rate", "CPU", "messages", "projected");
        for (int i = 0; i < sessionCounts.size(); i++) {
            gain("sample-friendly table", i, MISSES, WITHOUT_TABLE, WITHOUT_HISTORY);
            gain("embedded history", i, MISSES, WITHOUT_HISTORY, WITHOUT_LAZY);
            gain("lazy weights and FC cache", i, MISSES, WITHOUT_LAZY, WHOLE);
            gain("FC cache, if all keys fit", i, FITS, NO_COUNTERS, COUNTERS);
        }
    }

    private void gain(String part, int at, String load, String without, String with) {
        Measured before = ran(load, without).get(at);
        Measured after = ran(load, with).get(at);
        Validity validity = before.validity.worse(after.validity);
        out.printf(
                "%-30s%9d%+8.0f%%%+8.0f%%%16s%+11.0f%%%n",
                part,
                sessionCounts.get(at),
                validity.compared(percentMore(
                        after.ran.rates().median(), before.ran.rates().median())),
                validity.compared(percentMore(before.ran.cpuNanosOfOne(), after.ran.cpuNanosOfOne())),
                String.format("%.2f to %.2f", messages(before.ran), messages(after.ran)),
                percentMore(messages(before.ran), messages(after.ran)));
    }

    private List<Measured> ran(String load, String name) {
        return Objects.requireNonNull(measured.get(variant(load, name)));
    }

    private static double percentMore(double one, double other) {
        return 100 * (one / other - 1);
    }

    private static double messages(ClosedLoop.LoopResult ran) {
        return ran.posted().operations() / (double) Math.max(1, ran.requests());
    }

    private Variant variant(String load, String name) {
        return variants.stream()
                .filter(variant -> variant.load.equals(load) && variant.name.equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Returns plots over the number of sessions. */
    List<Plot> plots() {
        double[] sessions =
                sessionCounts.stream().mapToDouble(Integer::doubleValue).toArray();
        Map<String, Plot> plots = new LinkedHashMap<>();
        plots.put(FITS, plot("kv-worth-lists", "Reads a second, all keys have room"));
        plots.put(MISSES, plot("kv-worth-parts", "Reads a second, a tenth of the keys has room"));
        measured.forEach((variant, ran) -> Objects.requireNonNull(plots.get(variant.load))
                .series(
                        variant.name,
                        sessions,
                        ran.stream()
                                .mapToDouble(one ->
                                        one.validity.compared(one.ran.rates().median()))
                                .toArray()));
        return List.copyOf(plots.values());
    }

    private static Plot plot(String name, String title) {
        return Plot.lines(name, title, "sessions", "requests/s").logarithmicX();
    }
}
