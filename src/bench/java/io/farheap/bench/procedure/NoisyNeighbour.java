package io.farheap.bench.procedure;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.Procedure;
import io.farheap.cache.Procedures;
import io.farheap.cache.contract.CallCompletion;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Another client of the same server, which keeps calls under way that end only when they are out of fuel. */
final class NoisyNeighbour implements AutoCloseable {

    private static final int UNDER_WAY = 64;

    private final Cache cache;
    private final Procedure endless;
    private final Thread thread;
    private volatile boolean calling;
    private volatile boolean ended;
    private final AtomicInteger underWay = new AtomicInteger();

    NoisyNeighbour(Cache cache) {
        this.cache = cache;
        this.endless = cache.procedures().register(EndlessProcedure.class, Procedures.READS | Procedures.UNORDERED);
        this.thread = Thread.ofPlatform().daemon().name("neighbour").start(this::run);
    }

    private void run() {
        CallCompletion done = (token, status, code, bytes) -> underWay.decrementAndGet();
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(4096)) {
            while (!ended) {
                while (calling
                        && underWay.get() < UNDER_WAY
                        && session.call(endless, 0, buffer, 0, 0, 64, 8, done, 0)) {
                    underWay.incrementAndGet();
                }
                // The client then sleeps: it is to use the server's thread, not the client's core.
                session.flush();
                session.poll();
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    void begin() {
        calling = true;
    }

    /** Issues no more calls; those that are under way continue. */
    void pause() {
        calling = false;
        while (underWay.get() > 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Override
    public void close() {
        calling = false;
        ended = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
