package io.farheap.cli.soak;

import io.farheap.cache.CacheException;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;

/** Episode after episode, each with a cache and disturbances of its own, until the time is over or something is wrong. */
public final class Soak implements AutoCloseable {

    private static final int SERVERS = 3;
    private static final long REGION_BYTES = 256 << 10;
    private static final int MAX_REGIONS = 24;
    private static final long SHORTEST_NANOS = 3_000_000_000L;
    private static final long LONGEST_NANOS = 12_000_000_000L;

    private final SoakServer.Starter starter;
    private final SplittableRandom random;
    private final PrintStream out;
    private final List<SoakServer> servers = new ArrayList<>();
    private final Faults faults = new Faults();
    private final Problems problems = new Problems();

    public Soak(SoakServer.Starter starter, long seed, PrintStream out) {
        this.starter = starter;
        this.random = new SplittableRandom(seed);
        this.out = out;
    }

    /** @return what is wrong; empty where every byte was right */
    public Collection<String> run(long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        long operations = 0;
        int episodes = 0;
        do {
            startServers();
            Episode episode = new Episode(random.split(), servers, REGION_BYTES, MAX_REGIONS, faults, problems);
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
            operations += result.operations();
            out.printf("    %,d operations, %,d regions moved, %,d clients replaced, %,d bytes lost with a server; %s%n", result.operations(),
                result.regionsMoved(), result.recoveries(), result.bytesLost(), problems.any() ? "NOT as it must be" : "every other byte is right");
            for (SoakServer server : List.copyOf(servers)) {
                if (episode.killed().contains(server.address())) {
                    server.close();
                    servers.remove(server);
                }
            }
        } while (!problems.any() && System.nanoTime() - end < 0);
        out.printf("%d episodes, %,d operations%n", episodes, operations);
        return problems.all();
    }

    private void startServers() {
        while (servers.size() < SERVERS) {
            servers.add(starter.start((MAX_REGIONS + 2) * REGION_BYTES, REGION_BYTES));
        }
    }

    @Override
    public void close() {
        servers.forEach(SoakServer::close);
    }
}
