package io.farheap.bench.manager;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.manager.grpc.ManagerClient;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;

/** Threads that each ask a manager through gRPC for one cache after another, and wait for each answer. */
final class AllocationCallers implements AutoCloseable {

    private static final int SIGNIFICANT_DIGITS = 3;
    private static final int CALLERS_PER_CHANNEL = 16;

    private final CloseStack opened = new CloseStack();
    private final List<ManagerClient> clients = new ArrayList<>();
    private final ExecutorService threads;
    private final int callers;

    /** @param address of the manager */
    AllocationCallers(String address, int callers) {
        this.callers = callers;
        try {
            for (int i = 0; i < callers; i += CALLERS_PER_CHANNEL) {
                clients.add(opened.add(ManagerClient.connect(address)));
            }
            threads = opened.add(Executors.newFixedThreadPool(callers));
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    /**
     * The times of a number of calls.
     *
     * @param nanos each call
     */
    record CallRates(double perSecond, Histogram nanos) {}

    private interface Call {
        void call(ManagerClient manager, long cacheId);
    }

    /** Allocates each cache once. */
    CallRates allocate(long[] cacheIds) {
        return all(cacheIds, (manager, id) -> manager.allocate(SyntheticCluster.request(id)));
    }

    CallRates deallocate(long[] cacheIds) {
        return all(cacheIds, ManagerClient::deallocate);
    }

    private CallRates all(long[] cacheIds, Call call) {
        List<Future<Histogram>> futures = new ArrayList<>();
        long started = System.nanoTime();
        for (int caller = 0; caller < callers; caller++) {
            int first = caller;
            ManagerClient manager = clients.get(caller / CALLERS_PER_CHANNEL);
            futures.add(threads.submit(() -> some(manager, cacheIds, first, call)));
        }
        Histogram nanos = new Histogram(SIGNIFICANT_DIGITS);
        try {
            for (Future<Histogram> future : futures) {
                nanos.add(future.get());
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException failed ? failed : new IllegalStateException(e.getCause());
        }
        return new CallRates(cacheIds.length / ((System.nanoTime() - started) / 1e9), nanos);
    }

    private Histogram some(ManagerClient manager, long[] cacheIds, int first, Call call) {
        Histogram nanos = new Histogram(SIGNIFICANT_DIGITS);
        for (int i = first; i < cacheIds.length; i += callers) {
            long started = System.nanoTime();
            call.call(manager, cacheIds[i]);
            nanos.recordValue(System.nanoTime() - started);
        }
        return nanos;
    }

    /** Returns ids that, almost certainly, no other cache has. */
    static long[] newIds(SplittableRandom random, int count) {
        return random.longs(count).map(id -> id == 0 ? 1 : id).toArray();
    }

    @Override
    public void close() {
        opened.close();
    }
}
