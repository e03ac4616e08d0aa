package io.farheap.bench.ycsb;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs a turn: threads carry out operations on a contestant for a time. */
final class TurnRunner {

    /** In one of this many groups one operation is timed: reading the clock takes as long as a fast operation. */
    private static final int TIMED_EVERY = 2;

    /** Before a turn's time: one over this part of it. A thread with many operations under way begins with none. */
    private static final int RAMP_PART = 10;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private TurnRunner() {}

    /**
     * @param streams one for each thread
     * @throws IllegalStateException if a value was wrong, an operation failed, or a thread failed
     */
    static ContestTurn run(Contestant contestant, YcsbWorkload workload, List<KeyStream> streams, long nanos) {
        try (ExecutorService executor = Executors.newFixedThreadPool(streams.size())) {
            // All threads begin when all have opened their clients.
            CyclicBarrier ready = new CyclicBarrier(streams.size());
            List<Future<ContestTurn>> running = new ArrayList<>();
            for (KeyStream stream : streams) {
                running.add(executor.submit(() -> run(contestant, workload, stream, nanos, ready)));
            }
            double rate = 0;
            ClientCounts tally = new ClientCounts();
            long allocated = 0;
            for (Future<ContestTurn> future : running) {
                ContestTurn turn = future.get();
                rate += turn.opsPerSecond();
                tally.add(turn.tally());
                allocated += turn.allocatedBytes();
            }
            if (tally.wrong > 0) {
                throw new IllegalStateException(
                        tally.wrong + " of " + tally.ended + " operations failed, or read a value never stored");
            }
            return new ContestTurn(rate, tally, allocated);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a thread of the benchmark failed: " + e.getCause(), e);
        }
    }

    @SuppressWarnings("try")
    private static ContestTurn run(
            Contestant contestant, YcsbWorkload workload, KeyStream stream, long nanos, CyclicBarrier ready)
            throws Exception {
        ClientCounts tally = new ClientCounts();
        try (ContestantClient client = contestant.open(tally)) {
            await(ready);
            return run(client, tally, workload, stream, nanos);
        } catch (Throwable e) {
            // So that no other thread waits for this one.
            ready.reset();
            throw e;
        }
    }

    private static void await(CyclicBarrier ready) throws InterruptedException {
        try {
            ready.await();
        } catch (BrokenBarrierException e) {
            throw new IllegalStateException("another thread of the benchmark failed", e);
        }
    }

    private static ContestTurn run(
            ContestantClient client, ClientCounts tally, YcsbWorkload workload, KeyStream stream, long nanos)
            throws Exception {
        OperationGroup group = new OperationGroup();
        stream.shuffle();
        long groups = 0;
        long allocated = THREADS.getCurrentThreadAllocatedBytes();
        long ramp = System.nanoTime() + nanos / RAMP_PART;
        long begun = 0;
        long endedBefore = 0;
        long now = System.nanoTime();
        // A rate of 0, which a short turn on a busy machine may have, cannot be compared.
        while (begun == 0 || now - begun < nanos || tally.ended == endedBefore) {
            if (begun == 0 && now - ramp >= 0) {
                begun = now;
                endedBefore = tally.ended;
            }
            stream.fill(group, workload);
            if (groups++ % TIMED_EVERY == 0) {
                group.time();
            } else {
                group.timeNone();
            }
            client.run(group);
            now = System.nanoTime();
        }
        double rate = (tally.ended - endedBefore) * 1e9 / (now - begun);
        allocated = THREADS.getCurrentThreadAllocatedBytes() - allocated;
        client.drain();
        return new ContestTurn(rate, tally, allocated);
    }
}
