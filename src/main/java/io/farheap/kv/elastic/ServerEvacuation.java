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
 * Moves and evicts a map's objects on one server, which is about to leave it. A few threads do so, each for a part of
 * the table. Used by one thread.
 */
final class ServerEvacuation implements AutoCloseable {

    private static final int MOST_THREADS = 4;
    /** The share of the time for moving; an eviction takes a small part of the time of a move. */
    private static final double MOVING = 0.75;

    private static final long TELL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final RemoteMemory remote;
    private final SpaceMemory space;
    private final int server;
    private final Supplier<MapRequests> sessions;
    /** The sessions that were opened. */
    private final List<MapRequests> opened = new CopyOnWriteArrayList<>();

    private final DrainTotals totals = new DrainTotals();
    private final LongAdder left = new LongAdder();
    /**
     * Whether the caller was interrupted meanwhile. Its flag is set again when this is closed, so that the calls until
     * then can wait for their answers.
     */
    private boolean interrupted;

    /** Completes when no request stores an object on the server any more; those stored before are still there. */
    private final CompletableFuture<Void> refused = new CompletableFuture<>();

    /**
     * @param sessions opens a session. Sessions are closed with this object, and only when the server has left:
     *     otherwise the blocks that they have taken over would go back to it
     */
    ServerEvacuation(RemoteMemory remote, SpaceMemory space, int server, Supplier<MapRequests> sessions) {
        this.remote = remote;
        this.space = space;
        this.server = server;
        this.sessions = sessions;
    }

    /**
     * Moves the objects that are worth it, the latest used first, in three quarters of the time, and evicts the rest.
     * Once.
     *
     * @param lost whether the server is lost, so that nothing can be moved
     * @param refuse returns when no request stores an object on the server any more; the table is sampled meanwhile
     * @param withinNanos the time, which begins after that
     * @param progress is called now and then, on this thread, with the totals so far
     * @return how many objects may still be there
     * @throws MapException if another server is lost
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

    /** Each thread has at least a chunk of the table; threads beyond the number of processors would only take turns. */
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

    /** Reports progress until the threads end; at least once, however fast they are. */
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
            // Nothing on a lost server can be moved.
            long since = lost ? Long.MAX_VALUE : scan.usedSince();
            refused.join();
            left.add(new EvacuationWorker(session, scan, lost, totals).empty(since, System.nanoTime() + movingNanos));
        } finally {
            // Another thread closes the session.
            session.release();
        }
    }

    /** The totals so far. */
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
