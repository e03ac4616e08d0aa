package io.farheap.kv;

import io.farheap.lifetime.Closing;
import io.farheap.remote.RemoteMemory;
import io.farheap.thread.AtOnce;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Moves and evicts what a map has on one server, which is to leave it: each of a few threads what a part of the table
 * names there. One thread.
 */
final class ServerObjects implements AutoCloseable {

    private static final int MOST_THREADS = 4;
    /** Of the time, for moving: an eviction takes a small part of what a move does. */
    private static final double MOVING = 0.75;

    private static final long TELL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final RemoteMemory remote;
    private final SpaceMemory space;
    private final int server;
    private final Supplier<Session> sessions;
    /** Those that were opened. */
    private final List<Session> opened = new CopyOnWriteArrayList<>();

    private final DrainTotals totals = new DrainTotals();
    private final LongAdder left = new LongAdder();
    /** Has an end when nothing is stored on the server any more. */
    private final CompletableFuture<Void> refused = new CompletableFuture<>();

    /**
     * @param sessions opens one, which is closed with this: only when the server has left, as all blocks that were
     *     taken over there would go back else
     */
    ServerObjects(RemoteMemory remote, SpaceMemory space, int server, Supplier<Session> sessions) {
        this.remote = remote;
        this.space = space;
        this.server = server;
        this.sessions = sessions;
    }

    /**
     * Moves what is worth it, the latest used first, in three quarters of a time, and evicts the rest. Once.
     *
     * @param lost whether the server is, so that nothing can be moved
     * @param refuse returns when nothing is stored on the server any more; what can be done before is
     * @param withinNanos for all of it
     * @param progress told now and then, on this thread
     * @return how many objects may be there still
     * @throws MapException where another server is lost
     */
    long empty(boolean lost, Runnable refuse, long withinNanos, Consumer<MapDrain> progress) {
        long movingUntil = System.nanoTime() + (long) (MOVING * withinNanos);
        int threads = threads();
        AtomicInteger running = new AtomicInteger(threads);
        Thread caller = Thread.currentThread();
        AtOnce.run(
                1 + threads,
                task -> Thread.ofPlatform().name("farheap-map-drain").start(task),
                part -> {
                    try {
                        if (part == 0) {
                            refuse(refuse);
                            tell(running, progress);
                        } else {
                            empty(part - 1, threads, lost, movingUntil);
                        }
                    } catch (Throwable e) {
                        totals.failed = true;
                        throw e;
                    } finally {
                        if (part > 0 && running.decrementAndGet() == 0) {
                            LockSupport.unpark(caller);
                        }
                    }
                });
        return left.sum();
    }

    /** Each with a chunk of the table at least; more than there are processors would only take turns. */
    private int threads() {
        int processors = Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors());
        return Math.min(processors, new TableChunks(space.shape()).count());
    }

    private void refuse(Runnable refuse) {
        try {
            refuse.run();
            refused.complete(null);
        } catch (Throwable e) {
            refused.completeExceptionally(e);
            throw e;
        }
    }

    private void tell(AtomicInteger running, Consumer<MapDrain> progress) {
        boolean interrupted = false;
        while (running.get() > 0) {
            LockSupport.parkNanos(TELL_NANOS);
            // Else it would not rest any more.
            interrupted |= Thread.interrupted();
            progress.accept(done());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void empty(int part, int parts, boolean lost, long movingUntil) {
        Session session = sessions.get();
        opened.add(session);
        try (ServerScan scan = new ServerScan(remote, space, server, lost, part, parts)) {
            // Of a lost server nothing is worth moving.
            long since = lost ? Long.MAX_VALUE : scan.usedSince();
            refused.join();
            left.add(new DrainPart(session, scan, lost, totals).empty(since, movingUntil));
        }
    }

    MapDrain done() {
        return totals.now();
    }

    @Override
    public void close() {
        Closing.all(opened);
    }
}
