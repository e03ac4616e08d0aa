package io.farheap.bench.ycsb;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;

/** Runs a turn: threads carry out operations on a contestant for a time. */
final class TurnRunner {

    /** In one of this many groups one operation is timed: reading the clock takes as long as a fast operation. */
    private static final int TIMED_EVERY = 2;

    /** Before a turn's time: one over this part of it. A thread with many operations under way begins with none. */
    private static final int RAMP_PART = 10;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** The result of one thread. */
    private record ThreadTurn(TurnWindow.Share share, ClientCounts tally, long allocatedBytes) {}

    private TurnRunner() {}

    /**
     * @param streams one for each thread
     * @throws IllegalStateException if a value was wrong, an operation failed, or a thread failed
     */
    static ContestTurn run(Contestant contestant, YcsbWorkload workload, List<KeyStream> streams, long nanos) {
        try (ExecutorService executor = Executors.newFixedThreadPool(streams.size())) {
            // All threads begin when all have opened their clients.
            AtomicReference<TurnWindow> window = new AtomicReference<>();
            CyclicBarrier ready = new CyclicBarrier(streams.size(), () -> {
                long begin = System.nanoTime() + nanos / RAMP_PART;
                window.set(new TurnWindow(begin, begin + nanos));
            });
            List<Future<ThreadTurn>> running = new ArrayList<>();
            for (KeyStream stream : streams) {
                running.add(executor.submit(() -> run(contestant, workload, stream, window, ready)));
            }
            List<TurnWindow.Share> shares = new ArrayList<>();
            ClientCounts tally = new ClientCounts();
            long allocated = 0;
            for (Future<ThreadTurn> future : running) {
                ThreadTurn ran = future.get();
                shares.add(ran.share());
                tally.add(ran.tally());
                allocated += ran.allocatedBytes();
            }
            if (tally.wrong > 0) {
                throw new IllegalStateException(
                        tally.wrong + " of " + tally.ended + " operations failed, or read a value never stored");
            }
            return new ContestTurn(Objects.requireNonNull(window.get()).perSecond(shares), tally, allocated);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a thread of the benchmark failed: " + e.getCause(), e);
        }
    }

    @SuppressWarnings("try")
    private static ThreadTurn run(
            Contestant contestant,
            YcsbWorkload workload,
            KeyStream stream,
            AtomicReference<TurnWindow> window,
            CyclicBarrier ready)
            throws Exception {
        ClientCounts tally = new ClientCounts();
        try (ContestantClient client = contestant.open(tally)) {
            await(ready);
            return run(client, tally, workload, stream, Objects.requireNonNull(window.get()));
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

    private static ThreadTurn run(
            ContestantClient client, ClientCounts tally, YcsbWorkload workload, KeyStream stream, TurnWindow window)
            throws Exception {
        OperationGroup group = new OperationGroup();
        stream.shuffle();
        long groups = 0;
        long allocated = THREADS.getCurrentThreadAllocatedBytes();
        TurnWindow.Share share = window.new Share(System.nanoTime());
        do {
            stream.fill(group, workload);
            if (groups++ % TIMED_EVERY == 0) {
                group.time();
            } else {
                group.timeNone();
            }
            client.run(group);
        } while (share.continues(System.nanoTime(), tally.ended));
        allocated = THREADS.getCurrentThreadAllocatedBytes() - allocated;
        client.drain();
        return new ThreadTurn(share, tally, allocated);
    }
}
