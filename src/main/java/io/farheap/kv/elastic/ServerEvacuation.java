package io.farheap.kv.elastic;

import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.kv.space.TableChunks;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import io.farheap.thread.ParallelCalls;
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
final class ServerEvacuation implements AutoCloseable {

    private static final int MOST_THREADS = 4;
    /** Of the time, for moving: an eviction takes a small part of what a move does. */
    private static final double MOVING = 0.75;

    private static final long TELL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final RemoteMemory remote;
    private final SpaceMemory space;
    private final int server;
    private final Supplier<MapRequests> sessions;
    /** Those that were opened. */
    private final List<MapRequests> opened = new CopyOnWriteArrayList<>();

    private final DrainTotals totals = new DrainTotals();
    private final LongAdder left = new LongAdder();
    /** Whether the caller was, meanwhile: what is to be said of a server that is empty cannot wait for less. */
    private boolean interrupted;

    /** Has an end when nothing is stored on the server any more. */
    private final CompletableFuture<Void> refused = new CompletableFuture<>();

    /**
     * @param sessions opens one, which is closed with this: only when the server has left, as all blocks that were
     *     taken over there would go back else
     */
    ServerEvacuation(RemoteMemory remote, SpaceMemory space, int server, Supplier<MapRequests> sessions) {
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
     * @param withinNanos for that, from when the server has refused
     * @param progress told now and then, on this thread
     * @return how many objects may be there still
     * @throws MapException where another server is lost
     */
    long empty(boolean lost, Runnable refuse, long withinNanos, Consumer<MapDrain> progress) {
        long movingNanos = (long) (MOVING * withinNanos);
        int threads = threads();
        AtomicInteger running = new AtomicInteger(threads);
        Thread caller = Thread.currentThread();
        ParallelCalls.run(1 + threads, this::start, part -> {
            try {
                if (part == 0) {
                    refuse(refuse);
                    tell(running, progress);
                } else {
                    empty(part - 1, threads, lost, movingNanos);
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

    /** At least once, however fast the others are. */
    private void tell(AtomicInteger running, Consumer<MapDrain> progress) {
        do {
            LockSupport.parkNanos(TELL_NANOS);
            interrupted |= Thread.interrupted();
            progress.accept(done());
        } while (running.get() > 0 && !totals.failed);
        interrupted |= Thread.interrupted();
    }

    private void start(Runnable task) {
        try {
            Thread.ofPlatform().daemon().name("farheap-map-drain").start(task);
        } catch (Throwable e) {
            totals.failed = true;
            throw e;
        }
    }

    private void empty(int part, int parts, boolean lost, long movingNanos) {
        MapRequests session = sessions.get();
        opened.add(session);
        try (ServerScan scan = new ServerScan(remote, space, server, lost, part, parts)) {
            // Of a lost server nothing is worth moving.
            long since = lost ? Long.MAX_VALUE : scan.usedSince();
            refused.join();
            left.add(new EvacuationWorker(session, scan, lost, totals).empty(since, System.nanoTime() + movingNanos));
        } finally {
            // Another thread closes it.
            session.release();
        }
    }

    /** How far it is. */
    MapDrain done() {
        return totals.now();
    }

    @Override
    public void close() {
        try {
            Closeables.all(opened);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
