package io.farheap.bench.resilience;

import io.farheap.resilience.contract.Health;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Kills servers, and observes when all of their data is on other servers. */
final class KillOutage extends Outage {

    private final ServerCluster cluster;
    private final int count;
    private final long leastNanos;

    /**
     * @param count of servers, the first of the cluster, which are killed at once
     * @param leastNanos for which the load continues, even if the memory is whole before, or never
     */
    KillOutage(ServerCluster cluster, FarSide side, int count, long leastNanos) {
        super("kill", side);
        this.cluster = cluster;
        this.count = count;
        this.leastNanos = leastNanos;
    }

    @Override
    double take() throws InterruptedException {
        Set<String> dead = IntStream.range(0, count)
                .mapToObj(i -> cluster.server(i).address())
                .collect(Collectors.toSet());
        List<Long> pids =
                IntStream.range(0, count).mapToObj(i -> cluster.server(i).pid()).toList();
        long killed = System.nanoTime();
        pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
        double wholeMillis = awaitWhole(dead, killed);
        while (System.nanoTime() - killed < leastNanos) {
            pause();
        }
        return wholeMillis;
    }

    private double awaitWhole(Set<String> dead, long killed) throws InterruptedException {
        while (System.nanoTime() - killed < PATIENCE_NANOS) {
            Health health = health();
            if (health == null || health.mayLose() < 0) {
                return Double.NaN;
            }
            boolean left = health.servers().stream()
                    .noneMatch(server -> server.slabs() > 0 && dead.contains(server.address()));
            if (left && health.whole()) {
                return (System.nanoTime() - killed) / 1e6;
            }
            pause();
        }
        return Double.NaN;
    }
}
