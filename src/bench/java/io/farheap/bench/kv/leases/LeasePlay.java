package io.farheap.bench.kv.leases;

import io.farheap.kv.FarMap;
import io.farheap.kv.contract.MapCounts;
import io.farheap.lifetime.CloseStack;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;

/**
 * One play of a side: a map is made, used until it has warmed up, counted, measured, and dropped. No other map is
 * there, so what the servers count is of this one.
 *
 * @param figures by their names in a report
 * @param latency of requests by their kinds, in ns; empty if it was not measured
 */
record LeasePlay(Map<String, Double> figures, Map<String, Histogram> latency) {

    private static final int ALL_PERCENT = 100;
    private static final String EVICTED = "maps.leased.evicted";

    /**
     * Plays a workload. A fixed number of requests warms the map up, and as many are counted: each side has the same
     * ones, however slow it is. Then rates and processor times are measured for some time.
     *
     * @param nanos for rates, as long again for servers without requests, and for latencies
     * @param idles whether the processor time of servers without requests is measured, too
     * @param timed whether the latency of each kind of request is
     */
    static LeasePlay of(
            LeaseServerPair servers,
            LeaseSide side,
            LeaseWorkload workload,
            long seed,
            long nanos,
            boolean idles,
            boolean timed) {
        try (OpenPlay play = new OpenPlay(servers, side, workload, workload.bytes(), workload.objects(), seed)) {
            if (workload.isFilled()) {
                play.each(worker -> worker.fill(play.workers.indexOf(worker), play.workers.size()));
            }
            long share = workload.requests() / workload.threads();
            Map<String, Double> figures = new LinkedHashMap<>();
            long evicted = servers.count(EVICTED);
            play.each(worker -> worker.make(share));
            figures.put("warm_requests", play.sum(LeaseWorker::requests));
            figures.put("warm_evicted", (double) (servers.count(EVICTED) - evicted));
            play.count(worker -> worker.make(share), figures);
            play.rate(worker -> worker.run(nanos), figures);
            if (idles) {
                figures.put("server_idle_ns_per_s", play.idleNanos(nanos));
            }
            Map<String, Histogram> latency = new LinkedHashMap<>();
            if (timed) {
                play.workers.getFirst().time(nanos, latency);
            }
            return new LeasePlay(figures, latency);
        }
    }

    /**
     * Plays a trace on a map with room for some objects.
     *
     * @param objects how many entries its table has, about; there is more memory than these need
     */
    static LeasePlay of(LeaseServerPair servers, LeaseSide side, LeaseWorkload workload, long objects, int[] keys) {
        try (OpenPlay play = new OpenPlay(servers, side, workload, workload.bytes(), objects, 1)) {
            Map<String, Double> figures = new LinkedHashMap<>();
            long before = servers.cpuNanos();
            play.count(worker -> worker.play(keys), figures);
            play.putRates(servers.cpuNanos() - before, figures);
            return new LeasePlay(figures, new LinkedHashMap<>());
        }
    }

    /** A map that is open, and what uses it. */
    private static final class OpenPlay implements AutoCloseable {

        private final CloseStack resources = new CloseStack();
        private final LeaseServerPair servers;
        private final FarMap map;
        private final List<LeaseClient> clients = new ArrayList<>();
        private final List<LeaseWorker> workers = new ArrayList<>();
        private final ExecutorService executor;

        OpenPlay(LeaseServerPair servers, LeaseSide side, LeaseWorkload workload, long bytes, long objects, long seed) {
            this.servers = servers;
            try {
                map = side.create(servers, bytes, objects);
                resources.add(map::drop);
                boolean sleeps = workload.threads() >= Runtime.getRuntime().availableProcessors();
                for (int process = 0; process < workload.processes(); process++) {
                    FarMap own = process == 0 ? map : resources.add(side.open(servers));
                    clients.add(resources.add(new LeaseClient(own, workload.valueBytes(), sleeps)));
                }
                for (int thread = 0; thread < workload.threads(); thread++) {
                    List<LeaseClient> some = new ArrayList<>();
                    for (int i = thread; i < clients.size(); i += workload.threads()) {
                        some.add(clients.get(i));
                    }
                    workers.add(new LeaseWorker(some, workload, seed * workload.threads() + thread, System::nanoTime));
                }
                executor = resources.add(Executors.newFixedThreadPool(workload.threads()));
            } catch (Throwable e) {
                try (resources) {
                    throw e;
                }
            }
        }

        /** Lets each worker do something on a thread of its own, and waits. */
        void each(Consumer<LeaseWorker> work) {
            List<Future<?>> running = new ArrayList<>();
            workers.forEach(worker -> running.add(executor.submit(() -> work.accept(worker))));
            try {
                for (Future<?> one : running) {
                    one.get();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            } catch (ExecutionException e) {
                throw new IllegalStateException("a thread of the benchmark failed: " + e.getCause(), e);
            }
        }

        /** Puts the counts of some work, for each of its requests. */
        void count(Consumer<LeaseWorker> work, Map<String, Double> figures) {
            PlayCounts before = counts();
            each(work);
            PlayCounts during = counts().since(before);
            double requests = Math.max(1, sum(LeaseWorker::requests));
            during.put(figures, requests);
            figures.put("requests", requests);
            figures.put("sets", sum(LeaseWorker::sets) / requests);
            figures.put("refills", sum(LeaseWorker::refills) / requests);
            figures.put("leased_bytes", (double) servers.count("maps.blocks.marked.bytes"));
            figures.put("held", (double) map.stats().objects());
        }

        /** Puts the rate and the processor times of some work. */
        void rate(Consumer<LeaseWorker> work, Map<String, Double> figures) {
            long before = servers.cpuNanos();
            each(work);
            putRates(servers.cpuNanos() - before, figures);
        }

        /** Puts the rate and the processor times of the work that was done last. */
        void putRates(long serverNanos, Map<String, Double> figures) {
            double requests = Math.max(1, sum(LeaseWorker::requests));
            figures.put(
                    "ops_per_s", workers.stream().mapToDouble(LeaseWorker::rate).sum());
            figures.put("cpu_ns", sum(LeaseWorker::cpuNanos) / requests);
            figures.put("server_cpu_ns", serverNanos / requests);
        }

        /** Returns the processor time of the servers in a second in which nothing is asked of them, in ns. */
        double idleNanos(long nanos) {
            long before = servers.cpuNanos();
            long begun = System.nanoTime();
            try {
                TimeUnit.NANOSECONDS.sleep(nanos);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
            return (servers.cpuNanos() - before) * 1e9 / Math.max(1, System.nanoTime() - begun);
        }

        private double sum(ToLongFunction<LeaseWorker> of) {
            return (double) workers.stream().mapToLong(of).sum();
        }

        private PlayCounts counts() {
            PlayCounts sum = PlayCounts.ofServers(servers);
            for (LeaseClient client : clients) {
                MapCounts counts = client.counts();
                sum = sum.plus(counts, client.withoutRoom(), client.givenUp());
            }
            return sum;
        }

        @Override
        public void close() {
            resources.close();
        }
    }

    /** Counts of all processes and servers, up to a moment or between two. */
    private record PlayCounts(
            long hits,
            long misses,
            long pointerHits,
            long stalePointers,
            long calls,
            long renewals,
            long reads,
            long writes,
            long swaps,
            long adds,
            long withoutRoom,
            long leases,
            long givenUp,
            long evicted,
            long reclaimedLate,
            long reported,
            long capped) {

        static PlayCounts ofServers(LeaseServerPair servers) {
            return new PlayCounts(
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    servers.count("maps.leases.given"),
                    0,
                    servers.count(EVICTED),
                    servers.count("maps.blocks.reclaimed.late"),
                    servers.count("maps.reads.reported"),
                    servers.count("maps.reads.capped"));
        }

        PlayCounts plus(MapCounts more, long moreWithoutRoom, long moreGivenUp) {
            return new PlayCounts(
                    hits + more.hits(),
                    misses + more.misses(),
                    pointerHits + more.pointerHits(),
                    stalePointers + more.stalePointers(),
                    calls + more.calls(),
                    renewals + more.renewals(),
                    reads + more.posted().reads(),
                    writes + more.posted().writes(),
                    swaps + more.posted().swaps(),
                    adds + more.posted().adds(),
                    withoutRoom + moreWithoutRoom,
                    leases,
                    givenUp + moreGivenUp,
                    evicted,
                    reclaimedLate,
                    reported,
                    capped);
        }

        PlayCounts since(PlayCounts before) {
            return new PlayCounts(
                    hits - before.hits,
                    misses - before.misses,
                    pointerHits - before.pointerHits,
                    stalePointers - before.stalePointers,
                    calls - before.calls,
                    renewals - before.renewals,
                    reads - before.reads,
                    writes - before.writes,
                    swaps - before.swaps,
                    adds - before.adds,
                    withoutRoom - before.withoutRoom,
                    leases - before.leases,
                    givenUp - before.givenUp,
                    evicted - before.evicted,
                    reclaimedLate - before.reclaimedLate,
                    reported - before.reported,
                    capped - before.capped);
        }

        /** Puts the figures of these counts, most of them for each of so many requests. */
        void put(Map<String, Double> figures, double requests) {
            double gets = Math.max(1, hits + misses);
            figures.put("hit_pct", ALL_PERCENT * hits / gets);
            figures.put("one_sided_pct", ALL_PERCENT * pointerHits / (double) Math.max(1, hits));
            figures.put("stale_pct", ALL_PERCENT * stalePointers / gets);
            figures.put("calls", calls / requests);
            figures.put("renewals", renewals / requests);
            figures.put("reads", reads / requests);
            figures.put("writes", writes / requests);
            figures.put("cas", swaps / requests);
            figures.put("faa", adds / requests);
            figures.put("leases", leases / requests);
            figures.put("evicted", evicted / requests);
            figures.put("reclaimed_late", reclaimedLate / requests);
            figures.put("reported", reported / requests);
            figures.put("capped", capped / requests);
            figures.put("no_room", withoutRoom / requests);
            figures.put("given_up", givenUp / requests);
        }
    }
}
