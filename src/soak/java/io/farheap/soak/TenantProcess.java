package io.farheap.soak;

import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A {@link SoakTenant} as the soak sees it: what is done to it, and what it says. */
final class TenantProcess implements AutoCloseable {

    private static final long PATIENCE_NANOS = 3 * Worker.PATIENCE_NANOS;

    private final SoakClient process;
    private final int regions;
    private final List<String> servers;
    private final Problems problems;
    private final Queue<String> lost = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<Void> holding = new CompletableFuture<>();
    private final CompletableFuture<SoakTenant.Result> result = new CompletableFuture<>();
    private boolean stopped;
    private boolean lostAll;
    private volatile boolean killed;

    TenantProcess(SoakHost host, long seed, int regions, long regionBytes, List<String> servers, Problems problems) {
        this.regions = regions;
        this.servers = servers;
        this.problems = problems;
        this.process = host.startClient(SoakTenant.arguments(seed, regions, regionBytes, servers));
        Thread.ofPlatform().daemon().name("neighbour").start(this::listen);
    }

    private void listen() {
        try {
            for (String line = process.line(); line != null; line = process.line()) {
                heard(line);
            }
        } catch (IOException | RuntimeException e) {
            if (!killed) {
                problems.add("a client process", e);
            }
        }
        IllegalStateException ended = new IllegalStateException("it ended; what it said is above");
        holding.completeExceptionally(ended);
        result.completeExceptionally(ended);
    }

    private void heard(String line) {
        if (line.startsWith(SoakTenant.HOLDS)) {
            holding.complete(null);
        } else if (line.startsWith(SoakTenant.LOST)) {
            lost.add(line.substring(SoakTenant.LOST.length()));
        } else if (line.startsWith(SoakTenant.DONE)) {
            result.complete(SoakTenant.Result.of(line));
        } else if (line.startsWith(SoakTenant.WRONG)) {
            problems.add(line.substring(SoakTenant.WRONG.length()));
        }
    }

    int regions() {
        return regions;
    }

    List<String> servers() {
        return servers;
    }

    /** Returns when it has its regions. */
    void awaitHolding() throws InterruptedException {
        await(holding, "does not get its regions");
    }

    /** @param forLong for longer than its lease */
    void suspend(boolean forLong) {
        stopped = true;
        lostAll |= forLong;
        process.suspend();
    }

    void resume() {
        process.resume();
    }

    void kill() {
        killed = true;
        process.kill();
    }

    boolean killed() {
        return killed;
    }

    /**
     * Lets it check everything and end, and judges what it lost.
     *
     * @param gone servers that were killed, or stopped for longer than the lease
     * @return null where it was killed
     */
    SoakTenant.@Nullable Result end(Set<String> gone, WaitTimes waits) throws InterruptedException {
        if (killed) {
            return null;
        }
        try {
            process.tell(SoakTenant.END);
        } catch (IOException e) {
            // It has ended; why, it has said.
        }
        SoakTenant.Result done = await(result, "does not end");
        if (done == null || lostAll) {
            return done;
        }
        lost.stream()
                .filter(server -> gone.stream().noneMatch(server::startsWith))
                .forEach(server -> problems.add("a client process lost a server that nothing was done to: " + server));
        if (done.recoveries() > 0 && servers.stream().noneMatch(gone::contains)) {
            problems.add(done.recoveries() + " times a request of a client process was lost, whose servers were well: "
                    + servers);
        }
        if (!stopped) {
            waits.request("a client process", done.longestNanos());
        }
        return done;
    }

    private <T> @Nullable T await(CompletableFuture<T> what, String otherwise) throws InterruptedException {
        try {
            return what.get(PATIENCE_NANOS, TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            problems.add("a client process " + otherwise + ": " + e.getMessage());
        } catch (TimeoutException e) {
            problems.add("a client process " + otherwise + " within " + PATIENCE_NANOS / 1_000_000_000 + " s");
        }
        return null;
    }

    @Override
    public void close() {
        killed = true;
        process.kill();
        process.close();
    }
}
