package io.farheap.soak;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheBuilder;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.kv.FarMapBuilder;
import io.farheap.latency.LatencyTracking;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * One cache's life: it is created, used by a client of each kind while its regions move and faults come and go, read
 * from end to end, moved as a whole, read again, and deleted.
 */
final class Episode {

    /** A thread does not end; the problems say where it is. */
    static final class StuckException extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** Takes a client's regions when its lease has ended. */
    interface Claimer {
        RegionClaim claim(TenantProcess from);
    }

    private static final int TICK_MILLIS = 20;
    private static final int MAX_NEIGHBOURS = 2;
    private static final int MIN_NEIGHBOUR_REGIONS = 8;
    private static final int MAX_NEIGHBOUR_REGIONS = 12;

    private final SplittableRandom random;
    private final SoakHost host;
    private final List<SoakServer> servers;
    private final long regionBytes;
    private final int maxRegions;
    private final SoftverbsFaultSettings faults;
    private final Problems problems;

    private final CacheConfiguration configuration;
    private final boolean weakOrder;
    private final boolean stragglers;
    private final boolean queuePairErrors;
    private final Outages outages;
    private final SplittableRandom codedRandom;
    private final SplittableRandom callRandom;
    private final WaitTimes waits;

    /** @param maxRegions that any one of the servers has room for */
    Episode(
            SplittableRandom random,
            SoakHost host,
            List<SoakServer> servers,
            long regionBytes,
            int maxRegions,
            SoftverbsFaultSettings faults,
            WaitTimes waits,
            Problems problems,
            Consumer<String> log) {
        this.random = random;
        this.host = host;
        this.servers = servers;
        this.regionBytes = regionBytes;
        this.maxRegions = maxRegions;
        this.faults = faults;
        this.waits = waits;
        this.problems = problems;
        this.configuration = RandomConfigurations.next(random);
        this.weakOrder = faults.orderIsFree() && random.nextBoolean();
        this.stragglers = faults.possible() && random.nextBoolean();
        this.queuePairErrors = faults.possible() && random.nextBoolean();
        this.outages = new Outages(random.split(), host.leaseNanos(), log);
        this.codedRandom = random.split();
        this.callRandom = random.split();
    }

    /** How its requests travel and what disturbs them, in words. */
    @Override
    public String toString() {
        List<String> all = new ArrayList<>();
        if (weakOrder) {
            all.add("order=weak");
        }
        if (stragglers) {
            all.add("stragglers");
        }
        if (queuePairErrors) {
            all.add("queue pair errors");
        }
        if (outages.any()) {
            all.add(outages.toString());
        }
        return configuration + ", " + (all.isEmpty() ? "no faults" : String.join(", ", all));
    }

    /** Servers that did not survive it. */
    Set<String> killed() {
        return outages.dead();
    }

    EpisodeResult run(long nanos) throws InterruptedException, StuckException {
        List<TenantProcess> neighbours = new ArrayList<>();
        try (outages) {
            return run(nanos, neighbours);
        } finally {
            neighbours.forEach(TenantProcess::close);
            faults.none();
        }
    }

    private TenantProcess neighbour() {
        List<String> addresses =
                new ArrayList<>(servers.stream().map(SoakServer::address).toList());
        for (int leave = random.nextInt(addresses.size()); leave > 0; leave--) {
            addresses.remove(random.nextInt(addresses.size()));
        }
        int regions = random.nextInt(MIN_NEIGHBOUR_REGIONS, MAX_NEIGHBOUR_REGIONS + 1);
        return new TenantProcess(host, random.nextLong(), regions, regionBytes, addresses, problems);
    }

    private EpisodeResult run(long nanos, List<TenantProcess> neighbours) throws InterruptedException, StuckException {
        CacheBuilder building = builder();
        // One split an episode, so that a seed of before still has the same faults.
        SplittableRandom mapRandom = random.split();
        try (Cache cache = Retry.until(System.nanoTime() + Worker.PATIENCE_NANOS, building::create);
                MapPart disaggregated = map(FarMapBuilder.DISAGGREGATED, mapRandom);
                MapPart leased = map(FarMapBuilder.LEASED, mapRandom.split());
                CodedPart coded = coded();
                CallPart called = called()) {
            for (int count = 1 + random.nextInt(MAX_NEIGHBOURS); count > 0; count--) {
                TenantProcess neighbour = neighbour();
                neighbours.add(neighbour);
                // One after the other: starting takes all of a small machine.
                neighbour.awaitHolding();
            }
            WorkerLayout layout = new WorkerLayout(cache.capacity(), 4, random.split());
            Migrator migrator = new Migrator(cache, random.split(), queuePairErrors || outages.any(), problems);
            TransientClient visitor = new TransientClient(
                    cache.servers(),
                    regionBytes,
                    random.split(),
                    server -> queuePairErrors || outages.disturbed(server),
                    waits,
                    problems);
            Predicate<CachePart> mayBeLost =
                    part -> part.touches(regionBytes, region -> mayBeLost(cache, migrator, region));
            CacheClient.Opener blocking = finished -> new BlockingClient(cache, finished);
            List<Worker> workers = List.of(
                    worker(
                            "asynchronous session",
                            cache,
                            finished -> new SessionClient(cache, finished),
                            layout,
                            0,
                            mayBeLost),
                    worker("blocking session", cache, blocking, layout, 1, mayBeLost),
                    worker("blocking session of a virtual thread", cache, blocking, layout, 2, mayBeLost),
                    worker("futures", cache, finished -> new FutureClient(cache, finished), layout, 3, mayBeLost));
            List<Worker> all = new ArrayList<>(workers);
            all.addAll(coded.workers());
            List<Thread> threads = new ArrayList<>();
            for (Worker worker : all) {
                threads.add(
                        worker.name().contains("virtual")
                                ? Thread.ofVirtual().name(worker.name()).start(worker)
                                : Thread.ofPlatform()
                                        .daemon()
                                        .name(worker.name())
                                        .start(worker));
            }
            List<MapUser> mapUsers = new ArrayList<>(disaggregated.users());
            mapUsers.addAll(leased.users());
            for (MapUser user : mapUsers) {
                threads.add(Thread.ofPlatform().daemon().name(user.name()).start(user));
            }
            for (CallUser user : called.users()) {
                threads.add(Thread.ofPlatform().daemon().name(user.name()).start(user));
            }
            Thread moving = Thread.ofPlatform().daemon().name("migrator").start(migrator);
            Thread visiting = Thread.ofPlatform().daemon().name("visitor").start(visitor);
            disturb(System.nanoTime() + nanos, nanos, all, threads, neighbours);
            visitor.stop();
            migrator.stop();
            join(visiting, "the visitor");
            join(moving, "the migrator");
            all.forEach(Worker::stop);
            mapUsers.forEach(MapUser::stop);
            called.users().forEach(CallUser::stop);
            for (Thread thread : threads) {
                join(thread, thread.getName());
            }
            disaggregated.check();
            leased.check();
            coded.check();
            called.check();
            long neighboursOperations = 0;
            for (TenantProcess neighbour : neighbours) {
                SoakTenant.Result result = neighbour.end(outages.gone(), waits);
                neighboursOperations += result == null ? 0 : result.operations();
            }
            checkAll(cache, layout, mayBeLost);
            if (outages.gone().isEmpty() && !problems.any() && cache.servers().size() > 1) {
                cache.retire(cache.servers().getFirst(), one -> {});
                checkAll(cache, layout, mayBeLost);
            }
            return new EpisodeResult(
                    workers.stream().mapToLong(Worker::operations).sum(),
                    mapUsers.stream().mapToLong(MapUser::operations).sum(),
                    coded.workers().stream().mapToLong(Worker::operations).sum(),
                    called.users().stream().mapToLong(CallUser::operations).sum(),
                    coded.regenerated(),
                    neighboursOperations,
                    migrator.moved(),
                    workers.stream().mapToLong(Worker::recoveries).sum(),
                    layout.all().stream()
                            .filter(CachePart::lost)
                            .mapToLong(CachePart::bytes)
                            .sum(),
                    outages.shortOnes(),
                    outages.longestHeldNanos());
        }
    }

    private MapPart map(String engine, SplittableRandom own) {
        List<String> addresses = servers.stream().map(SoakServer::address).toList();
        return new MapPart(
                engine,
                addresses,
                regionBytes,
                own,
                () -> queuePairErrors || addresses.stream().anyMatch(outages::disturbed),
                () -> addresses.stream().anyMatch(outages.gone()::contains),
                waits,
                problems);
    }

    private CallPart called() {
        List<String> addresses = servers.stream().map(SoakServer::address).toList();
        return new CallPart(
                addresses,
                regionBytes,
                callRandom,
                this::lost,
                () -> queuePairErrors || addresses.stream().anyMatch(outages::disturbed),
                () -> addresses.stream().anyMatch(outages.gone()::contains),
                waits,
                problems);
    }

    /** Whatever a code of one loses nothing by may void a slab for a while, in which another server goes. */
    private CodedPart coded() {
        boolean disturbed = queuePairErrors || stragglers || outages.anyShort();
        return new CodedPart(
                servers.stream().map(SoakServer::address).toList(),
                regionBytes,
                codedRandom,
                outages.serverGoes(),
                this::lost,
                () -> disturbed && !outages.gone().isEmpty(),
                waits,
                problems);
    }

    private CacheBuilder builder() {
        long capacity = regionBytes * (2 + random.nextInt(maxRegions - 1)) - random.nextInt((int) regionBytes / 2);
        return Cache.builder()
                .capacity(capacity)
                .servers(servers.stream().map(SoakServer::address).toList())
                .name("soak")
                .configuration(configuration)
                .requests(32 << random.nextInt(5))
                .doorbellBatch(1 << random.nextInt(4))
                .onLost(this::lost)
                .trackLatency(LatencyTracking.values()[random.nextInt(LatencyTracking.values().length)]);
    }

    private void lost(String server, String cause, int regions) {
        if (!outages.gone().contains(server)) {
            problems.add("memory server " + server + " is lost with " + regions
                    + " regions, and nobody killed it, or stopped it for long: " + cause);
        }
    }

    private Worker worker(
            String name,
            Cache cache,
            CacheClient.Opener opener,
            WorkerLayout layout,
            int number,
            Predicate<CachePart> mayBeLost) {
        RandomRequests requests = new RandomRequests(layout.share(number), layout.words(), random.split());
        return new Worker(name, cache, opener, requests, mayBeLost, random.split(), waits, problems);
    }

    private boolean mayBeLost(Cache cache, Migrator migrator, int region) {
        Set<String> gone = outages.gone();
        return !gone.isEmpty()
                && (gone.contains(cache.serverOf(region)) || migrator.failed().contains(region));
    }

    private void disturb(
            long end, long nanos, List<Worker> workers, List<Thread> threads, List<TenantProcess> neighbours)
            throws InterruptedException {
        faults.set("seed=" + random.nextLong(1L << 32) + (weakOrder ? " order=weak" : ""));
        boolean erring = false;
        Claimer claimer = from -> new RegionClaim(
                from, regionBytes, host.leaseNanos() + Soak.BEYOND_LEASE_NANOS, waits.mostNanos(), problems);
        while ((System.nanoTime() - end < 0 || !outages.over()) && !problems.any()) {
            Thread.sleep(TICK_MILLIS);
            long left = end - System.nanoTime();
            outages.tick(left < nanos / 2, left < 0, servers, neighbours, claimer);
            if (stragglers && random.nextInt(10) == 0) {
                faults.set("straggler=" + random.nextDouble() * 0.05 + ":" + (1_000L << random.nextInt(12)));
            }
            if (queuePairErrors && (erring || random.nextInt(30) == 0)) {
                erring = !erring;
                faults.set("qp_error_after=" + (erring ? 1 + random.nextInt(2_000) : 0));
            }
            checkProgress(workers, threads);
        }
        outages.close();
        faults.none();
    }

    private void checkProgress(List<Worker> workers, List<Thread> threads) {
        for (int i = 0; i < workers.size(); i++) {
            if (workers.get(i).stalls() && threads.get(i).isAlive()) {
                stalled(workers.get(i).name(), threads.get(i));
            }
        }
    }

    /** @throws StuckException where it does not end: whoever asks again would wait again */
    private void join(Thread thread, String name) throws InterruptedException, StuckException {
        if (!thread.join(Duration.ofNanos(Worker.PATIENCE_NANOS))) {
            stalled(name, thread);
            throw new StuckException();
        }
    }

    private void stalled(String name, Thread thread) {
        problems.add(name + " has not come forward for " + Worker.PATIENCE_NANOS / 1_000_000_000L + " s; it is at "
                + Arrays.toString(thread.getStackTrace()));
    }

    private void checkAll(Cache cache, WorkerLayout layout, Predicate<CachePart> mayBeLost) {
        worker("the check of everything", cache, finished -> new BlockingClient(cache, finished), layout, 0, mayBeLost)
                .check(layout.all());
    }
}
