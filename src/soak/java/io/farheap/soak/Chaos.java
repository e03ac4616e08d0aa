package io.farheap.soak;

import io.farheap.time.TimeLimit;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Episode after episode, each with a coded cache alone, until the time is over or something is wrong. */
final class Chaos implements AutoCloseable {

    private static final long REGION_BYTES = 256 << 10;
    /** Of a server: slabs of the cache and of a client, void ones that are still to go back, and some to spare. */
    private static final int REGIONS = 24;
    /** Servers beyond k + r: places for what is regenerated. */
    private static final int SPARE = 1;

    private static final long MARGIN_NANOS = TimeLimit.of(30_000_000_000L);
    private static final long LOOK_MILLIS = 20;

    private final long seed;
    private final long leaseNanos;
    private final PrintStream out;
    private final List<ChaosServer> servers = new ArrayList<>();
    /** Those of them that the episode has had. */
    private final Set<ChaosServer> used = new HashSet<>();

    private final SoftverbsFaultSettings faults = new SoftverbsFaultSettings();
    private final Problems problems = new Problems();
    private final WaitTimes waits;
    /**
     * What this process held before the first episode, by sort: no cache has been open. Its first connection makes the
     * JDK open a socket for good.
     */
    private final Map<String, Long> before = new TreeMap<>();

    Chaos(long seed, long leaseNanos, PrintStream out) {
        this.seed = seed;
        this.leaseNanos = leaseNanos;
        this.out = out;
        this.waits = new WaitTimes(leaseNanos + Soak.BEYOND_LEASE_NANOS + MARGIN_NANOS, problems);
    }

    /** @return what is wrong; empty where every byte was right */
    Collection<String> run(long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        long operations = 0;
        long lost = 0;
        int episodes = 0;
        do {
            // Each can be had alone, by its own seed.
            long own = seed + episodes;
            SplittableRandom random = new SplittableRandom(own);
            ChaosPlan plan = ChaosPlan.draw(random, faults.possible(), faults.orderIsFree());
            episodes++;
            long start = System.nanoTime();
            out.printf("episode %d (seed %d): %s%n", episodes, own, plan);
            try {
                List<ChaosServer> had = some(plan, random);
                if (before.isEmpty()) {
                    FreeRegionCount.awaitFree(addresses(had));
                    before.putAll(HeldResources.settled(this::held));
                }
                ChaosEpisode.Result result = new ChaosEpisode(
                                plan, random, REGION_BYTES, leaseNanos, had, this::another, faults, waits, problems)
                        .run();
                List<String> living = addresses(
                        servers.stream().filter(server -> !server.dead()).toList());
                FreeRegionCount.awaitAllFree(living, living.size() * REGIONS, waits, problems);
                dropUnfit();
                lookForLeft();
                operations += result.operations();
                lost += result.lost();
                out.printf(
                        "    %.0f s: %,d operations, %,d times requests were lost or shown corrupt, %,d bytes with them, "
                                + "%,d pages disagreed, %,d slabs regenerated, %,d evicted; %s%n",
                        (System.nanoTime() - start) / 1e9,
                        result.operations(),
                        result.ended(),
                        result.lost(),
                        result.disagreed(),
                        result.regenerated(),
                        result.evicted(),
                        problems.any() ? "NOT as it must be" : "every other byte is right");
            } catch (Episode.StuckException e) {
                break;
            } catch (RuntimeException e) {
                problems.add("the episode", e);
            }
        } while (!problems.any() && System.nanoTime() - end < 0);
        out.printf(
                "%d episodes, %,d operations, %,d bytes lost that no mode promises; "
                        + "longest wait for a request %.1f s%n",
                episodes, operations, lost, waits.longestRequestNanos() / 1e9);
        return problems.all();
    }

    /** One that the episode has not had; it may not listen yet. */
    private ChaosServer another() {
        for (ChaosServer server : servers) {
            if (used.add(server)) {
                return server;
            }
        }
        ChaosServer server = new ChaosServer(REGIONS * REGION_BYTES, REGION_BYTES, leaseNanos);
        servers.add(server);
        used.add(server);
        return server;
    }

    /** As many as the code needs, and some to spare. */
    private List<ChaosServer> some(ChaosPlan plan, SplittableRandom random) {
        used.clear();
        Collections.shuffle(servers, new Random(random.nextLong()));
        return Stream.generate(this::another)
                .limit(plan.code().splits() + SPARE)
                .toList();
    }

    private static List<String> addresses(List<ChaosServer> servers) {
        return servers.stream().map(ChaosServer::address).toList();
    }

    /** What is dead, or whose memory has rotted where nobody had it; and so many that not all run for nothing. */
    private void dropUnfit() {
        for (ChaosServer server : List.copyOf(servers)) {
            if (server.dead() || server.rotten() || servers.size() > ChaosPlan.MOST_SPLITS + SPARE) {
                servers.remove(server);
                server.close();
            }
        }
    }

    /** Descriptors, mappings, threads and processes that an episode leaves. */
    private void lookForLeft() throws InterruptedException {
        long end = System.nanoTime() + Worker.PATIENCE_NANOS;
        Map<String, Long> now = held();
        while (!HeldResources.noMore(now, before) && !problems.any()) {
            if (System.nanoTime() - end > 0) {
                Map<String, Long> more = new TreeMap<>(now);
                more.entrySet().removeIf(entry -> entry.getValue() <= before.getOrDefault(entry.getKey(), 0L));
                problems.add(
                        "an episode leaves more than there was: now there is " + more + ", and there was " + before);
            }
            Thread.sleep(LOOK_MILLIS);
            now = held();
        }
    }

    /** Names have numbers of what comes and goes: sorts are compared. Pipes are those to the servers. */
    private Map<String, Long> held() {
        Map<String, Long> all = new TreeMap<>();
        for (Map<String, Long> some :
                List.of(HeldResources.descriptors(), HeldResources.sharedMappings(), HeldResources.threads())) {
            some.forEach((name, count) -> all.merge(name.replaceAll("\\d+", "#"), count, Long::sum));
        }
        all.remove("pipe:");
        // What listens to jstack, once somebody has called it.
        if (Files.exists(Path.of("/tmp/.java_pid" + ProcessHandle.current().pid()))) {
            all.merge("socket:", -1L, Long::sum);
        }
        long children = ProcessHandle.current().children().count();
        all.put("processes beside the servers", Math.max(0, children - servers.size()));
        return all;
    }

    @Override
    public void close() {
        servers.forEach(ChaosServer::close);
    }
}
