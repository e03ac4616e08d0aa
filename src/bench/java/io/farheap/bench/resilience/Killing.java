package io.farheap.bench.resilience;

import io.farheap.resilience.Health;
import io.farheap.thread.Joining;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Kills servers, and looks when all that they had is elsewhere. A thread of its own, until it is done. */
final class Killing implements AutoCloseable {

    private static final long PATIENCE_NANOS = 60_000_000_000L * Integer.getInteger("farheap.slowness", 1);
    private static final long LOOK_MILLIS = 1;

    private final Cluster cluster;
    private final FarSide side;
    private final int count;
    private final long leastNanos;
    private final Thread thread;
    private volatile boolean done;
    private volatile double wholeMillis = Double.NaN;
    private volatile @Nullable Throwable failure;

    /**
     * @param count of servers, the first of the cluster, which are killed at once
     * @param leastNanos for which the load is to go on, also where it is whole before, or never
     */
    Killing(Cluster cluster, FarSide side, int count, long leastNanos) {
        this.cluster = cluster;
        this.side = side;
        this.count = count;
        this.leastNanos = leastNanos;
        this.thread = Thread.ofPlatform().name("kill").unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    private void run() {
        try {
            Set<String> dead = IntStream.range(0, count)
                    .mapToObj(i -> cluster.server(i).address())
                    .collect(Collectors.toSet());
            List<Long> pids = IntStream.range(0, count)
                    .mapToObj(i -> cluster.server(i).pid())
                    .toList();
            long killed = System.nanoTime();
            pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
            wholeMillis = awaitWhole(dead, killed);
            while (System.nanoTime() - killed < leastNanos) {
                Thread.sleep(LOOK_MILLIS);
            }
        } catch (InterruptedException e) {
            // It is closed.
        } catch (Throwable e) {
            failure = e;
        } finally {
            done = true;
        }
    }

    private double awaitWhole(Set<String> dead, long killed) throws InterruptedException {
        while (System.nanoTime() - killed < PATIENCE_NANOS) {
            Health health = side.health();
            if (health == null || health.mayLose() < 0) {
                return Double.NaN;
            }
            boolean left = health.servers().stream()
                    .noneMatch(server -> server.slabs() > 0 && dead.contains(server.address()));
            if (left && health.whole()) {
                return (System.nanoTime() - killed) / 1e6;
            }
            Thread.sleep(LOOK_MILLIS);
        }
        return Double.NaN;
    }

    boolean done() {
        return done;
    }

    /** From the kill until nothing was missing any more; NaN where that was not seen. */
    double wholeMillis() {
        Throwable cause = failure;
        if (cause != null) {
            throw new IllegalStateException("the thread that kills servers failed: " + cause, cause);
        }
        return wholeMillis;
    }

    @Override
    public void close() {
        thread.interrupt();
        Joining.join(thread);
    }
}
