package io.farheap.soak;

import io.farheap.cache.contract.CacheException;
import io.farheap.time.TimeLimit;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Episode after episode, each with a cache and disturbances of its own, until the time is over or something is wrong.
 */
public final class Soak implements AutoCloseable {

    private static final int SERVERS = 3;
    private static final long REGION_BYTES = 256 << 10;
    private static final int MAX_REGIONS = 24;
    /** Of one server, for what client processes, visitors and migrations have beside the soak's own cache. */
    private static final int OTHER_REGIONS = 40 + 2 * MapPart.REGIONS + CodedPart.REGIONS + CallPart.REGIONS;

    private static final int SERVER_REGIONS = MAX_REGIONS + OTHER_REGIONS;
    /**
     * Nobody may wait longer than a lease and this; what exceeds it by the margin is a problem, since a machine may be
     * busy.
     */
    static final long BEYOND_LEASE_NANOS = 5_000_000_000L;

    private static final long MARGIN_NANOS = TimeLimit.of(30_000_000_000L);
    private static final long SHORTEST_NANOS = 3_000_000_000L;
    private static final long LONGEST_NANOS = 12_000_000_000L;

    private final SoakHost host;
    private final SplittableRandom random;
    private final PrintStream out;
    private final List<SoakServer> servers = new ArrayList<>();
    private final SoftverbsFaultSettings faults = new SoftverbsFaultSettings();
    private final Problems problems = new Problems();
    private final WaitTimes waits;

    public Soak(SoakHost host, long seed, PrintStream out) {
        this.host = host;
        this.waits = new WaitTimes(host.leaseNanos() + BEYOND_LEASE_NANOS + MARGIN_NANOS, problems);
        this.random = new SplittableRandom(seed);
        this.out = out;
    }

    /** @return what is wrong; empty where every byte was right */
    public Collection<String> run(long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        long operations = 0;
        int episodes = 0;
        long held = 0;
        long freeing = 0;
        long shortStops = 0;
        do {
            startServers();
            Episode episode = new Episode(
                    random.split(), host, servers, REGION_BYTES, MAX_REGIONS, faults, waits, problems, out::println);
            long wanted = random.nextLong(SHORTEST_NANOS, LONGEST_NANOS);
            long left = end - System.nanoTime();
            out.printf("episode %d: %s%n", ++episodes, episode);
            EpisodeResult result;
            try {
                result = episode.run(Math.max(Math.min(wanted, left), SHORTEST_NANOS));
            } catch (Episode.StuckException e) {
                break;
            } catch (CacheException e) {
                problems.add("the cache", e);
                break;
            }
            operations += result.operations()
                    + result.mapOperations()
                    + result.codedOperations()
                    + result.calls()
                    + result.neighboursOperations();
            held = Math.max(held, result.heldNanos());
            shortStops += result.shortStops();
            for (SoakServer server : List.copyOf(servers)) {
                if (episode.killed().contains(server.address())) {
                    server.close();
                    servers.remove(server);
                }
            }
            List<String> addresses = servers.stream().map(SoakServer::address).toList();
            int all = servers.size() * SERVER_REGIONS;
            freeing = Math.max(freeing, FreeRegionCount.awaitAllFree(addresses, all, waits, problems));
            out.printf(
                    "    %,d operations, %,d on a map of each engine, %,d on a coded cache, %,d calls of procedures and %,d of other clients, "
                            + "%,d regions moved, %,d slabs regenerated, %,d clients replaced, %,d bytes lost with a server; %s%n",
                    result.operations(),
                    result.mapOperations(),
                    result.codedOperations(),
                    result.calls(),
                    result.neighboursOperations(),
                    result.regionsMoved(),
                    result.slabsRegenerated(),
                    result.recoveries(),
                    result.bytesLost(),
                    problems.any() ? "NOT as it must be" : "every other byte is right");
        } while (!problems.any() && System.nanoTime() - end < 0);
        out.printf("%d episodes, %,d operations, %,d short stops%n", episodes, operations, shortStops);
        out.printf(
                "with leases of %.1f s: longest wait for a request %.1f s, for a call %.1f s;%n"
                        + "    regions of a client that was stopped or killed were given to others after %.1f s at most,%n"
                        + "    and all regions were free %.1f s after an episode at most%n",
                host.leaseNanos() / 1e9,
                waits.longestRequestNanos() / 1e9,
                waits.longestCallNanos() / 1e9,
                held / 1e9,
                freeing / 1e9);
        return problems.all();
    }

    private void startServers() {
        while (servers.size() < SERVERS) {
            servers.add(host.startServer(SERVER_REGIONS * REGION_BYTES, REGION_BYTES));
        }
    }

    @Override
    public void close() {
        servers.forEach(SoakServer::close);
    }
}
