package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.Validity;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.kv.policy.Policies;
import io.farheap.kv.replacement.Replacements;
import io.farheap.remote.contract.VerbCounts;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Measures hits and operations of traces: each request is a get, and a set if it misses (Ditto, figures 16 to 18 and
 * 23, table 3). Several maps are played on at a time, on a core each: neither hits nor operations depend on time. A map
 * samples at random, so each point is played several times: its hits are the median of the plays.
 */
final class TracesPart {

    private static final int MOST_AT_ONCE = 2;
    private static final int[] CLIENTS = {1, 8, 64};
    /** The size at which all policies are played by default. */
    private static final int PERCENT_OF_ALL = 10;

    private static final int PENALTY_CLIENTS = 16;
    private static final long SECOND_NANOS = 1_000_000_000;
    private static final List<String> PENALTY_POLICIES =
            List.of(Replacements.ADAPTIVE, Replacements.PAPER, "lru", "lfu");

    /** One map to play on. */
    private record Game(long objects, String policy, int clients) {}

    private record PlayedTrace(Game game, long hits, VerbCounts posted) {}

    /** All plays of one trace. */
    private static final class TracePlays {

        private final Path file;
        /** By the number of the game: its plays. */
        private final List<List<PlayedTrace>> games = new ArrayList<>();

        private int requests;

        TracePlays(Path file) {
            this.file = file;
        }
    }

    private final BenchReport report;
    private final PrintStream out;
    private final List<Long> objects;
    private final List<Integer> percents;
    private final List<String> policies;
    private final List<Integer> clients;
    private final int seconds;
    private final PlayLimit limit;
    private final @Nullable HitComparison comparison;
    private final int atOnce = Math.min(MOST_AT_ONCE, Runtime.getRuntime().availableProcessors());

    /**
     * @param objects that maps hold; if empty, {@code percents} of each trace's distinct keys, rounded
     * @param policies if empty, {@code adaptive} and {@code paper}; if {@code clients} is empty as well, also all other
     *     policies at a tenth of the keys by one client, and then the rate if misses take long
     * @param clients to which requests are distributed in turn; if empty 1, or 1, 8 and 64 if there are no policies
     *     either
     * @param seconds for each of these rates; 0 leaves them out
     * @param limit of the plays of each point
     * @param reference hit ratios of other policies; null if there are none
     */
    TracesPart(
            BenchReport report,
            PrintStream out,
            List<Long> objects,
            List<Integer> percents,
            List<String> policies,
            List<Integer> clients,
            int seconds,
            PlayLimit limit,
            @Nullable PolicyReference reference) {
        this.report = report;
        this.out = out;
        this.objects = objects;
        this.percents = percents;
        this.policies = policies;
        this.clients = clients;
        this.seconds = seconds;
        this.limit = limit;
        comparison = reference == null ? null : new HitComparison(reference);
    }

    void run(List<Path> traces) throws IOException {
        out.printf(
                "%n%-16s%10s  %-12s%8s%12s%12s%8s   a request: %6s%8s%8s%8s   %s%n",
                "trace",
                "objects",
                "policy",
                "clients",
                "requests",
                "hits",
                "hit %",
                "READ",
                "WRITE",
                "CAS",
                "FAA",
                comparison == null ? "" : "best other");
        List<TracePlays> plays = traces.stream().map(TracePlays::new).toList();
        limit.playAll(plays, this::play, System::nanoTime);
        for (TracePlays trace : plays) {
            String name = TraceFile.name(trace.file);
            trace.games.forEach(ofGame -> print(name, trace.requests, ofGame));
            if (comparison != null) {
                comparison.printPoints(report, out);
            }
        }
        if (comparison != null) {
            comparison.printMeans(report, out);
        }
        if (all() && seconds > 0) {
            playSlowly(traces);
        }
    }

    /** Returns the names of the points that {@link #run} measures, for {@link WholeTable}. */
    Set<String> points(List<Path> traces) throws IOException {
        Set<String> points = new LinkedHashSet<>();
        for (Path trace : traces) {
            String name = TraceFile.name(trace);
            int[] keys = TraceFile.read(trace);
            games(keys)
                    .forEach(
                            game -> points.add(WholeTable.trace(name, game.objects, game.policy, game.clients, false)));
            if (all() && seconds > 0) {
                long size = sizeOfAll(IntStream.of(keys).distinct().count());
                PENALTY_POLICIES.forEach(
                        policy -> points.add(WholeTable.trace(name, size, policy, PENALTY_CLIENTS, true)));
            }
        }
        return points;
    }

    private boolean all() {
        return policies.isEmpty() && clients.isEmpty();
    }

    /** Measures the rate if misses cost time, which is the purpose of hit ratios. */
    private void playSlowly(List<Path> traces) throws IOException {
        out.printf(
                "%n%d clients, a miss takes %d us more, %d s each%n%-16s%10s  %-12s%14s%8s%n",
                PENALTY_CLIENTS,
                MissPenalty.MISS_NANOS / 1000,
                seconds,
                "trace",
                "objects",
                "policy",
                "requests/s",
                "hit %");
        for (Path trace : traces) {
            int[] keys = TraceFile.read(trace);
            long size = sizeOfAll(IntStream.of(keys).distinct().count());
            long bytes = BenchMaps.bytesOfSmall(size);
            try (ServerProcess server = BenchMaps.server(2 * bytes, bytes);
                    ModelLateness late = new ModelLateness(server.address())) {
                for (String policy : PENALTY_POLICIES) {
                    playSlowly(server, late, TraceFile.name(trace), keys, size, policy);
                }
            }
        }
    }

    private void playSlowly(
            ServerProcess server, ModelLateness late, String trace, int[] keys, long size, String policy) {
        FarMap map = BenchMaps.createSmall(server, "slow " + policy, size, PENALTY_CLIENTS, policy);
        MissPenalty.PlayResult played;
        Validity validity;
        try (MissPenalty clientsOfMap = new MissPenalty(map, PENALTY_CLIENTS, keys)) {
            late.restart();
            played = clientsOfMap.play(seconds * SECOND_NANOS);
            validity = late.validity();
        } finally {
            map.drop();
        }
        out.printf(
                "%-16s%,10d  %-12s%,14.0f%8.2f %s%n",
                trace, size, policy, validity.compared(played.perSecond()), played.hitPercent(), validity.remark(true));
        report.row()
                .put("part", "traces")
                .put("trace", trace)
                .put("objects", size)
                .put("policy", policy)
                .put("clients", (long) PENALTY_CLIENTS)
                .put("miss_ns", MissPenalty.MISS_NANOS)
                .put("requests", played.requests())
                .put("hits", played.hits())
                .put("hit_pct", played.hitPercent())
                .put("ops_per_s", validity.compared(played.perSecond()))
                .put("late_pct", validity.latePercent())
                .put("invalid", validity.invalid());
    }

    private long sizeOfAll(long distinct) {
        return objects.isEmpty() ? part(distinct, PERCENT_OF_ALL) : objects.getFirst();
    }

    private List<Game> games(int[] keys) {
        long distinct = IntStream.of(keys).distinct().count();
        List<Long> sizes = objects.isEmpty()
                ? percents.stream().map(percent -> part(distinct, percent)).toList()
                : objects;
        List<Game> games = new ArrayList<>();
        boolean all = all();
        List<Integer> counts = clients.isEmpty() ? List.of(1) : clients;
        if (all) {
            counts = IntStream.of(CLIENTS).boxed().toList();
        }
        List<String> named = policies.isEmpty() ? List.of(Replacements.ADAPTIVE, Replacements.PAPER) : policies;
        for (long size : sizes) {
            for (String policy : named) {
                counts.forEach(count -> games.add(new Game(size, policy, count)));
            }
        }
        if (all) {
            long size = sizeOfAll(distinct);
            Policies.names().forEach(policy -> games.add(new Game(size, policy, 1)));
        }
        return games;
    }

    private static long part(long distinct, int percent) {
        return Math.max(1, Math.round(distinct * percent / 100.0));
    }

    private void play(TracePlays into) throws IOException {
        int[] keys = TraceFile.read(into.file);
        into.requests = keys.length;
        String trace = TraceFile.name(into.file);
        List<Game> games = games(keys);
        long bytes = games.stream()
                .mapToLong(game -> BenchMaps.bytesOfSmall(game.objects))
                .max()
                .orElseThrow();
        // The memory of a closed map is still being zeroed when the next one is created.
        try (ServerProcess server = BenchMaps.server(2L * atOnce * bytes, bytes);
                ExecutorService executor = Executors.newFixedThreadPool(atOnce)) {
            List<Future<PlayedTrace>> playing = new ArrayList<>();
            for (int i = 0; i < games.size(); i++) {
                String name = "trace " + i;
                Game game = games.get(i);
                playing.add(executor.submit(() -> play(server, name, game, keys)));
            }
            try {
                for (int i = 0; i < games.size(); i++) {
                    if (i == into.games.size()) {
                        into.games.add(new ArrayList<>());
                    }
                    into.games.get(i).add(playing.get(i).get());
                }
            } finally {
                playing.forEach(future -> future.cancel(false));
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(trace + " could not be played: " + e.getCause(), e);
        }
    }

    private static PlayedTrace play(ServerProcess server, String name, Game game, int[] keys) {
        FarMap map = BenchMaps.createSmall(server, name, game.objects, game.clients, game.policy);
        try (MapTrace played = new MapTrace(map, game.clients)) {
            long hits = played.play(keys);
            return new PlayedTrace(game, hits, played.posted());
        } finally {
            map.drop();
        }
    }

    private void print(String trace, int requests, List<PlayedTrace> plays) {
        Game game = plays.getFirst().game;
        VerbCounts posted = MapTrace.none();
        Samples hits = new Samples();
        Samples percents = new Samples();
        for (PlayedTrace played : plays) {
            posted = MapTrace.sum(posted, played.posted);
            hits.add((double) played.hits);
            percents.add(100.0 * played.hits / Math.max(1, requests));
        }
        long all = (long) plays.size() * requests;
        double each = Math.max(1, all);
        double percent = percents.median();
        out.printf(
                "%-16s%,10d  %-12s%8d%,12d%,12d%8.2f   %16.3f%8.3f%8.3f%8.3f",
                trace,
                game.objects,
                game.policy,
                game.clients,
                requests,
                Math.round(hits.median()),
                percent,
                posted.reads() / each,
                posted.writes() / each,
                posted.swaps() / each,
                posted.adds() / each);
        BenchReport.Row row = report.row()
                .put("part", "traces")
                .put("trace", trace)
                .put("objects", game.objects)
                .put("policy", game.policy)
                .put("clients", (long) game.clients)
                .put("requests", (long) requests)
                .put("hits", Math.round(hits.median()))
                .put("hit_pct", percent);
        MapTrace.put(row, posted, all)
                .put("hit_pct_p25", percents.lowerQuartile())
                .put("hit_pct_p75", percents.upperQuartile())
                .put("hit_pct_least", percents.least())
                .put("hit_pct_most", percents.most())
                .put("plays", (long) plays.size());
        out.printf(
                "%s%n",
                comparison == null
                        ? ""
                        : "   " + comparison.add(row, trace, game.objects, game.policy, game.clients, percent));
    }
}
