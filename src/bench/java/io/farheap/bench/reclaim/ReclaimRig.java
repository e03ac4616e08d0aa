package io.farheap.bench.reclaim;

import io.farheap.bench.move.MoveCase;
import io.farheap.bench.move.MoveOptions;
import io.farheap.cache.Cache;
import io.farheap.cache.ReclaimListener;
import io.farheap.command.ManagerProcess;
import io.farheap.command.ServerProcess;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.manager.Allocation;
import io.farheap.manager.Reclaim;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.migration.MigrationResult;
import io.farheap.time.TimeLimit;
import io.farheap.verbs.Devices;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A cache for which a manager found servers: the regions that are to move are on a server of their own, which can be
 * asked to leave, the others on another one. All servers are processes. One thread, except for the cache's own.
 */
final class ReclaimRig implements AutoCloseable {

    private static final long PATIENCE_NANOS = TimeLimit.of(60_000_000_000L);

    /**
     * How long to wait for the cache's report on a server that was killed: as a rule there is none, since the server
     * was not asked to leave.
     */
    private static final long LAST_WORD_NANOS = TimeLimit.of(3_000_000_000L);

    private record Departure(MigrationResult moved, int stayed, long at) {}

    private final CloseStack opened = new CloseStack();
    private final ManagerProcess manager;
    private final ManagerClient asked;
    private final long regionBytes;
    private final MoveCase how;
    private final Duration notice;
    private final Cache cache;
    private final BlockingQueue<Departure> left = new LinkedBlockingQueue<>();
    private volatile long alerted;
    /** Null if no region is to move. */
    private @Nullable ServerProcess holder;

    private @Nullable ServerProcess spare;

    /** @param notice of its servers */
    ReclaimRig(ManagerProcess manager, ManagerClient asked, MoveOptions options, MoveCase how, Duration notice) {
        this.manager = manager;
        this.asked = asked;
        this.regionBytes = options.regionBytes();
        this.how = how;
        this.notice = notice;
        try {
            int stay = options.regions() - how.move();
            if (stay > 0) {
                opened.add(start(stay));
            }
            if (how.move() > 0) {
                holder = opened.add(start(how.move()));
            }
            cache = opened.add(Cache.builder()
                    .capacity(options.bytes())
                    .manager(manager.address())
                    .migration(how.options())
                    .onReclaimed(new Listener())
                    .name("farheap-bench")
                    .create());
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    private final class Listener implements ReclaimListener {

        @Override
        public void reclaiming(Reclaim alert) {
            if (alerted == 0) {
                alerted = System.nanoTime();
            }
        }

        @Override
        public void reclaimed(String server, MigrationResult moved, int stayed) {
            left.add(new Departure(moved, stayed, System.nanoTime()));
        }
    }

    Cache cache() {
        return cache;
    }

    /**
     * Starts a server with room for the regions that are to move, unless there is one, and returns when it has reported
     * to the manager.
     */
    void startSpare() {
        if (spare == null) {
            spare = opened.add(start(how.move()));
        }
    }

    private ServerProcess start(int regions) {
        ServerProcess server = ServerProcess.start(
                Devices.library(),
                "",
                regions * regionBytes,
                regionBytes,
                Map.of(),
                "--manager",
                manager.address(),
                "--notice",
                notice.toMillis() + "ms");
        try {
            awaitFree(server, regions);
            return server;
        } catch (Throwable e) {
            Closeables.after(e, server);
            throw e;
        }
    }

    /** Waits until the manager knows so many free regions of a server. */
    private void awaitFree(ServerProcess server, int regions) {
        await(
                "memory server " + server.address() + " has not reported as many free regions as " + regions,
                () -> asked.servers().stream()
                        .anyMatch(report ->
                                report.address().equals(server.address()) && report.freeRegions() == regions));
    }

    /** Moves regions as {@code bench migration} does: from the server that is to leave to the spare one, or back. */
    MigrationResult move(boolean back) {
        ServerProcess from = Objects.requireNonNull(back ? spare : holder);
        ServerProcess to = Objects.requireNonNull(back ? holder : spare);
        List<Integer> regions = IntStream.range(0, cache.regions())
                .filter(region -> cache.serverOf(region).equals(from.address()))
                .boxed()
                .toList();
        return cache.migrate(regions, to.address(), how.options());
    }

    /** Returns the servers that take part in a turn and outlive it: none before {@link #startSpare}. */
    String[] survivors() {
        ServerProcess heir = spare;
        return heir == null ? new String[0] : new String[] {heir.address()};
    }

    /** Removes the spare server from the cache, as before a {@link #move} there and back. */
    void leaveSpare() {
        ServerProcess left = Objects.requireNonNull(spare);
        cache.retire(left.address(), moved -> {});
        awaitFree(left, how.move());
    }

    /**
     * Sends SIGTERM to the server that has the regions, and SIGKILL at the end of its notice if it has not ended by
     * then. Then the spare server takes its place.
     *
     * @param whenLeft runs when the cache has left, or at the end of the notice
     */
    ReclaimTimes reclaim(Runnable whenLeft) {
        ServerProcess leaver = Objects.requireNonNull(holder);
        ServerProcess heir = Objects.requireNonNull(spare);
        alerted = 0;
        left.clear();
        long signalled = System.nanoTime();
        long deadline = signalled + notice.toNanos();
        leaver.leave();
        BooleanSupplier ended = () -> leaver.await(0);
        BooleanSupplier known = () -> cache.servers().contains(heir.address());
        long connected = look(deadline, () -> known.getAsBoolean() || !left.isEmpty());
        // The last report counts: after a move that failed the manager may find another target.
        Departure last = null;
        while (System.nanoTime() - deadline < 0 && (last == null || last.stayed() > 0)) {
            last = next(deadline);
        }
        whenLeft.run();
        long endedAt = look(deadline, ended);
        boolean killed = endedAt == 0;
        if (killed) {
            leaver.kill();
        }
        if (last == null) {
            last = next(System.nanoTime() + LAST_WORD_NANOS);
        }
        holder = heir;
        spare = null;
        return new ReclaimTimes(
                signalled,
                alerted,
                connected,
                last == null ? 0 : last.at(),
                endedAt,
                last == null ? MigrationResult.NONE : last.moved(),
                last == null ? how.move() : last.stayed(),
                killed);
    }

    private Departure next(long deadline) {
        try {
            return left.poll(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Waits until the manager knows where the cache is, so that it could plan the next move. */
    void awaitTold() {
        String at = Objects.requireNonNull(holder).address();
        await("the cache has not reported to the manager that it is on memory server " + at, () -> {
            Allocation now = asked.describe(cache.id()).allocation();
            return now.reserved().isEmpty()
                    && now.shares().stream().anyMatch(share -> share.address().equals(at));
        });
    }

    private static void await(String problem, BooleanSupplier condition) {
        if (look(System.nanoTime() + PATIENCE_NANOS, condition) == 0) {
            throw new IllegalStateException(problem);
        }
    }

    /** @return when the condition became true, to a ms; 0 if it did not by the deadline */
    private static long look(long deadline, BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                return 0;
            }
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted", e);
            }
        }
        return System.nanoTime();
    }

    /** Also called if a server is gone with the cache's regions. */
    @Override
    public void close() {
        // The cache before its servers, which would wait for it to leave.
        Closeables.all(cache, opened);
    }
}
