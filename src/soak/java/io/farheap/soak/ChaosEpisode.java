package io.farheap.soak;

import io.farheap.cache.Cache;
import io.farheap.cache.contract.Status;
import io.farheap.resilience.contract.Health;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** One coded cache's life under what a {@link ChaosPlan} has in store for it. One thread, but for its load's. */
final class ChaosEpisode {

    /**
     * What an episode did.
     *
     * @param lost bytes that could not be read any more, which its mode permits
     * @param ended how often somebody looked what is there, as a request had not ended as OK
     * @param disagreed pages, or parts of them, that met splits that disagreed
     */
    record Result(long operations, long ended, long lost, long disagreed, long regenerated, long evicted) {}

    private static final long TICK_MILLIS = 20;
    private static final int MOST_DWELL_MILLIS = 1_500;
    /** Of a short stop: a lease is renewed each third of it. */
    private static final int SHORT_PART_OF_LEASE = 4;

    private static final int ROT_BYTES = 40;
    /** Part of one server's WRITEs and READs. */
    private static final double MOST_CORRUPT = 0.02;

    /** Of that, where nothing mends it: the load gives up what it is shown as corrupt. */
    private static final double PART_WHERE_SHOWN = 0.1;

    private final ChaosPlan plan;
    private final SplittableRandom random;
    /** Of what is drawn as often as time lets it: of another sequence, so that a seed's steps are its own. */
    private final SplittableRandom tickRandom;

    private final long regionBytes;
    private final long leaseNanos;
    private final List<ChaosServer> servers;
    private final Supplier<ChaosServer> another;
    private final SoftverbsFaultSettings faults;
    private final WaitTimes waits;
    private final Problems problems;
    /** That the cache has, and that were killed or stopped. */
    private final Set<String> touched = ConcurrentHashMap.newKeySet();

    private volatile boolean somethingWent;
    private final ChaosServer corrupt;
    private final List<Thread> threads = new ArrayList<>();

    /**
     * @param servers that the cache is to have; more are added as some go
     * @param another one more, which may not listen yet
     */
    ChaosEpisode(
            ChaosPlan plan,
            SplittableRandom random,
            long regionBytes,
            long leaseNanos,
            List<ChaosServer> servers,
            Supplier<ChaosServer> another,
            SoftverbsFaultSettings faults,
            WaitTimes waits,
            Problems problems) {
        this.plan = plan;
        this.random = random;
        this.tickRandom = random.split();
        this.regionBytes = regionBytes;
        this.leaseNanos = leaseNanos;
        this.servers = new ArrayList<>(servers);
        this.another = another;
        this.faults = faults;
        this.waits = waits;
        this.problems = problems;
        this.corrupt = servers.get(random.nextInt(servers.size()));
    }

    Result run() throws InterruptedException, Episode.StuckException {
        faults.set("seed=" + random.nextLong(1L << 32) + (plan.weakOrder() ? " order=weak" : ""));
        try (Cache cache = create()) {
            CodedLoad load = new CodedLoad(
                    cache,
                    List.of(CodedLoad.ASYNCHRONOUS, CodedLoad.BLOCKING, CodedLoad.FUTURES),
                    part -> plan.mayShow() || plan.mayLose() && somethingWent,
                    this::mayEnd,
                    random.split(),
                    waits,
                    problems);
            for (Worker worker : load.workers()) {
                threads.add(Thread.ofPlatform().daemon().name(worker.name()).start(worker));
            }
            try {
                disturb(cache, load);
            } finally {
                load.workers().forEach(Worker::stop);
            }
            for (Thread thread : threads) {
                if (!thread.join(Duration.ofNanos(Worker.PATIENCE_NANOS))) {
                    stalled(thread);
                    throw new Episode.StuckException();
                }
            }
            if (!problems.any()) {
                load.check();
            }
            Health health = cache.health();
            return new Result(
                    load.workers().stream().mapToLong(Worker::operations).sum(),
                    load.workers().stream().mapToLong(Worker::recoveries).sum(),
                    load.bytesLost(),
                    health.counts().disagreed(),
                    health.regenerated(),
                    health.evicted());
        } finally {
            servers.forEach(this::quiet);
            faults.none();
        }
    }

    private Cache create() {
        long capacity = capacity(plan.ranges()) - random.nextInt(1_000);
        int requests = 32 << random.nextInt(4);
        return Retry.until(System.nanoTime() + Worker.PATIENCE_NANOS, () -> Cache.builder()
                .capacity(capacity)
                .servers(addresses())
                .name("chaos")
                .requests(requests)
                .resilience(plan.code())
                .onLost(this::lost)
                .create());
    }

    /** Of so many ranges: whole pages of a slab. */
    private long capacity(int ranges) {
        long pages = regionBytes / plan.code().splitBytes();
        return ranges * pages * plan.code().pageBytes();
    }

    private List<String> addresses() {
        return servers.stream().map(ChaosServer::address).toList();
    }

    private void lost(String server, String cause, int slabs) {
        if (!touched.contains(server)) {
            problems.add("memory server " + server + " is lost with " + slabs
                    + " slabs, and nobody killed it, or stopped it: " + cause);
        }
    }

    private boolean mayEnd(int status) {
        return switch (status) {
            case Status.LOST -> plan.mayLose() && somethingWent;
            case Status.CORRUPT -> plan.mayShow();
            default -> false;
        };
    }

    private void disturb(Cache cache, CodedLoad load) throws InterruptedException, Episode.StuckException {
        if (plan.corruption() == ChaosPlan.Corruption.ON_THE_WAY) {
            corrupt.faults().corrupt(MOST_CORRUPT * part());
        }
        // One with few steps is no shorter than others.
        for (int step = plan.steps().size(); step <= ChaosPlan.MOST_STEPS; step++) {
            dwell(load);
        }
        for (ChaosPlan.Step step : plan.steps()) {
            awaitWhole(cache, load);
            if (problems.any()) {
                return;
            }
            take(step, cache, load);
            dwell(load);
        }
        awaitWhole(cache, load);
    }

    private void take(ChaosPlan.Step step, Cache cache, CodedLoad load)
            throws InterruptedException, Episode.StuckException {
        List<ChaosServer> victims = victims(step.servers());
        // A stop that a busy machine makes longer than a lease costs slabs, too.
        somethingWent |= step.fault().costsSlabs() || step.fault() == ChaosPlan.ChaosFault.CUT_CONTROL;
        switch (step.fault()) {
            case KILL -> {
                List<ChaosServer> join = ready(victims.size());
                victims.forEach(victim -> touched.add(victim.address()));
                victims.forEach(ChaosServer::kill);
                replace(victims, join, cache, load);
            }
            case STOP -> stop(victims, false, true, cache, load);
            case CUT_CONTROL -> stop(victims, false, false, cache, load);
            case CUT_BOTH -> stop(victims, true, random.nextBoolean(), cache, load);
            case CUT_DATA -> {
                victims.forEach(victim -> victim.faults().cut());
                dwell(load);
                victims.forEach(victim -> victim.faults().heal());
            }
            case PRESS -> press(victims.getFirst(), cache, load);
            case KILL_CLIENT ->
                ChaosClient.killed(
                        plan.code(),
                        capacity(1),
                        addresses(),
                        plan.mayShow(),
                        random.nextLong(),
                        random.nextInt(MOST_DWELL_MILLIS),
                        problems);
        }
    }

    private List<ChaosServer> victims(int count) {
        List<ChaosServer> left = new ArrayList<>(servers);
        List<ChaosServer> victims = new ArrayList<>();
        while (victims.size() < count && !left.isEmpty()) {
            ChaosServer victim = left.remove(random.nextInt(left.size()));
            // What is corrupt has its one fault: who loses it besides has more of it than the mode is asked to bear.
            if (plan.corruption() == ChaosPlan.Corruption.NONE || victim != corrupt) {
                victims.add(victim);
            }
        }
        return victims;
    }

    /** @param forLong until their leases are lost; a short stop that a busy machine makes a long one is one, too */
    private void stop(List<ChaosServer> victims, boolean cut, boolean forLong, Cache cache, CodedLoad load)
            throws InterruptedException, Episode.StuckException {
        // A write that waits for a new slab is not to wait until a process has started.
        List<ChaosServer> join = forLong ? ready(victims.size()) : List.of();
        victims.forEach(victim -> touched.add(victim.address()));
        if (cut) {
            victims.forEach(victim -> victim.faults().cut());
        }
        victims.forEach(ChaosServer::suspend);
        try {
            if (forLong) {
                await(
                        load,
                        () -> victims.stream().allMatch(victim -> isLost(cache, victim)),
                        "a stopped server is not lost");
                dwell(load);
            } else {
                tickUntil(System.nanoTime() + random.nextLong(leaseNanos / SHORT_PART_OF_LEASE), load);
            }
        } finally {
            victims.forEach(ChaosServer::resume);
            if (cut) {
                victims.forEach(victim -> victim.faults().heal());
            }
        }
        if (forLong) {
            replace(victims, join, cache, load);
            return;
        }
        dwell(load);
        List<ChaosServer> gone =
                victims.stream().filter(victim -> isLost(cache, victim)).toList();
        // The others stay touched: their leases may end a moment later.
        replace(gone, ready(gone.size()), cache, load);
    }

    /** So many that the cache has not, and that listen. */
    private List<ChaosServer> ready(int count) {
        List<ChaosServer> all = Stream.generate(another).limit(count).toList();
        all.forEach(ChaosServer::address);
        return all;
    }

    /** Others join for them, and the cache knows that they have gone. */
    private void replace(List<ChaosServer> gone, List<ChaosServer> join, Cache cache, CodedLoad load)
            throws InterruptedException, Episode.StuckException {
        for (ChaosServer server : gone) {
            quiet(server);
            servers.remove(server);
        }
        for (ChaosServer server : join) {
            Retry.until(System.nanoTime() + Worker.PATIENCE_NANOS, () -> {
                cache.addServer(server.address());
                return null;
            });
            servers.add(server);
        }
        await(
                load,
                () -> gone.stream().allMatch(server -> isLost(cache, server)),
                "a server that has gone is not lost");
    }

    private static boolean isLost(Cache cache, ChaosServer server) {
        return cache.health().servers().stream()
                .anyMatch(known -> known.address().equals(server.address()) && known.lost());
    }

    /** Until some slab has gone elsewhere; where none can be spared, or has a place, it is not had. */
    private void press(ChaosServer server, Cache cache, CodedLoad load)
            throws InterruptedException, Episode.StuckException {
        long before = cache.health().evicted();
        server.press(true);
        try {
            long end = System.nanoTime() + 2 * MOST_DWELL_MILLIS * 1_000_000L;
            while (cache.health().evicted() == before && System.nanoTime() - end < 0) {
                tick(load);
            }
            dwell(load);
        } finally {
            server.press(false);
        }
    }

    private void dwell(CodedLoad load) throws InterruptedException, Episode.StuckException {
        tickUntil(System.nanoTime() + random.nextInt(MOST_DWELL_MILLIS) * 1_000_000L, load);
    }

    private void tickUntil(long end, CodedLoad load) throws InterruptedException, Episode.StuckException {
        while (System.nanoTime() - end < 0 && !problems.any()) {
            tick(load);
        }
    }

    private void tick(CodedLoad load) throws InterruptedException, Episode.StuckException {
        Thread.sleep(TICK_MILLIS);
        for (int i = 0; i < threads.size(); i++) {
            if (load.workers().get(i).stalls() && threads.get(i).isAlive()) {
                stalled(threads.get(i));
                throw new Episode.StuckException();
            }
        }
        if (plan.stragglers() && tickRandom.nextInt(10) == 0) {
            ChaosServer slow = servers.get(tickRandom.nextInt(servers.size()));
            // A process that is stopped does not take it in.
            if (!touched.contains(slow.address())) {
                slow.faults().slow(tickRandom.nextDouble() * 0.1, 1_000L << tickRandom.nextInt(12));
            }
        }
        if (plan.corruption() == ChaosPlan.Corruption.ROT && tickRandom.nextInt(10) == 0) {
            corrupt.rot((int) (ROT_BYTES * part()), tickRandom.nextLong());
        } else if (plan.corruption() == ChaosPlan.Corruption.ON_THE_WAY && tickRandom.nextInt(20) == 0) {
            corrupt.faults().corrupt(tickRandom.nextInt(4) == 0 ? 0 : tickRandom.nextDouble() * MOST_CORRUPT * part());
        }
    }

    private double part() {
        return plan.mayShow() ? PART_WHERE_SHOWN : 1;
    }

    /**
     * Until all slabs are good, for once: those of a corrupt server go on being given up. What is lost is not waited
     * for.
     */
    private void awaitWhole(Cache cache, CodedLoad load) throws InterruptedException, Episode.StuckException {
        long[] seen = {-1, -1};
        long[] since = {System.nanoTime()};
        while (!problems.any()) {
            Health health = cache.health();
            boolean lost = health.mayLose() < 0 && plan.mayLose() && somethingWent;
            if (health.whole() || lost) {
                return;
            }
            long[] now = {health.regenerated(), health.goodSlabs()};
            if (!Arrays.equals(seen, now)) {
                seen = now;
                since[0] = System.nanoTime();
            }
            if (System.nanoTime() - since[0] > Worker.PATIENCE_NANOS) {
                problems.add("of %d slabs %d are good, and none has become so for %d s: %s"
                        .formatted(
                                health.slabs(),
                                health.goodSlabs(),
                                Worker.PATIENCE_NANOS / 1_000_000_000L,
                                health.latestTrouble()));
            }
            tick(load);
        }
    }

    private void await(CodedLoad load, BooleanSupplier what, String otherwise)
            throws InterruptedException, Episode.StuckException {
        long end = System.nanoTime() + leaseNanos + Worker.PATIENCE_NANOS;
        while (!what.getAsBoolean() && !problems.any()) {
            if (System.nanoTime() - end > 0) {
                problems.add(otherwise + " for " + (leaseNanos + Worker.PATIENCE_NANOS) / 1_000_000_000L + " s");
            }
            tick(load);
        }
    }

    private void stalled(Thread thread) {
        problems.add(thread.getName() + " has not come forward for " + Worker.PATIENCE_NANOS / 1_000_000_000L
                + " s; it is at " + Arrays.toString(thread.getStackTrace()));
    }

    /** Nothing is the matter with its device any more, as far as this process is concerned. */
    private void quiet(ChaosServer server) {
        if (faults.possible() && !server.dead()) {
            server.faults().close();
        }
    }
}
