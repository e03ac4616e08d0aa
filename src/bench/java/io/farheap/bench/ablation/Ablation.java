package io.farheap.bench.ablation;

import io.farheap.cache.Cache;
import io.farheap.thread.ThreadAffinity;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * One application thread that keeps a number of requests under way, at random addresses. Measures how long each takes,
 * from issue to callback, and how many there are a second. The calling thread is pinned if the step pins threads.
 */
public final class Ablation {

    /** @param latency of each operation in ns, the cost of reading the clock included */
    public record Result(Histogram latency, double operationsPerSecond) {}

    private static final int ADDRESSES = 1 << 20;
    /** Before each turn, since each has a cache and threads of its own. */
    static final long WARM_UP_NANOS = 200_000_000L;

    private static final long HIGHEST_NANOS = 10_000_000_000L;
    private static final int ROUNDS = 64;

    private final String server;
    private final List<Integer> cores;
    private final long span;
    private final int record;
    private final int outstanding;
    private final long[] addresses = new long[ADDRESSES];
    private int next;

    /**
     * @param server HOST:PORT, with room for {@code span} bytes
     * @param cores to which threads are pinned: the client thread to the first, as the library does, the application's
     *     thread to the second
     * @param span of bytes over which the records are spread
     * @param outstanding requests under way
     */
    public Ablation(String server, List<Integer> cores, long span, int record, int outstanding, long seed) {
        this.server = server;
        this.cores = cores;
        this.span = span;
        this.record = record;
        this.outstanding = outstanding;
        SplittableRandom random = new SplittableRandom(seed);
        long records = span / record;
        Arrays.setAll(addresses, i -> random.nextLong(records) * record);
    }

    /**
     * Measures on a new thread, for which it waits.
     *
     * @param nanos how long the measurement takes, after a warm-up of 0.2 s
     * @param warm runs between these on the new thread, while no request is under way
     */
    public Result measure(AblationStep step, boolean write, long nanos, Runnable warm) throws InterruptedException {
        try (Cache cache = Cache.builder()
                .capacity(span)
                .servers(server)
                .name("bench-ablation")
                .configuration(step.configuration())
                .create()) {
            Result[] result = new Result[1];
            Throwable[] failure = new Throwable[1];
            Thread application = Thread.ofPlatform().daemon().name("ablation").start(() -> {
                try {
                    result[0] = run(cache, step, write, nanos, warm);
                } catch (Throwable e) {
                    failure[0] = e;
                }
            });
            application.join();
            if (failure[0] != null) {
                throw new IllegalStateException("step \"" + step.name() + "\" failed", failure[0]);
            }
            return result[0];
        }
    }

    private Result run(Cache cache, AblationStep step, boolean write, long nanos, Runnable warm) {
        boolean pinned = step.configuration().pinned() && cores.size() > 1;
        RecordRequests records = new RecordRequests(cache, outstanding, record, write, !step.oneSided());
        try (RequestIssuer access = access(step, records, pinned ? cores.getFirst() : ThreadAffinity.ANY)) {
            // Not earlier: threads that this one starts would stay on its core.
            ThreadAffinity.pin(pinned ? cores.get(1) : ThreadAffinity.ANY);
            long[] issuedAt = new long[outstanding];
            Histogram latency = new Histogram(HIGHEST_NANOS, 3);
            beginAll(access, records, issuedAt);
            load(access, records, issuedAt, latency, WARM_UP_NANOS);
            finish(access);
            warm.run();
            latency.reset();
            beginAll(access, records, issuedAt);
            double rate = load(access, records, issuedAt, latency, nanos);
            finish(access);
            return new Result(latency, rate);
        }
    }

    private RequestIssuer access(AblationStep step, RecordRequests records, int core) {
        // One entry more, for the word that ends the hand-over.
        int capacity = 2 * Integer.highestOneBit(outstanding);
        return switch (step.by()) {
            case LIBRARY, ITSELF -> new DirectIssuer(records, outstanding);
            case HAND_OVER ->
                new HandoverIssuer(records, LongQueue.lockFree(capacity), LongQueue.lockFree(capacity), core);
            case LOCKED_HAND_OVER ->
                new HandoverIssuer(records, new LockedQueue(capacity), new LockedQueue(capacity), core);
        };
    }

    private double load(RequestIssuer access, RecordRequests records, long[] issuedAt, Histogram latency, long nanos) {
        SpinYieldBackoff patience = new SpinYieldBackoff();
        long start = System.nanoTime();
        long done = 0;
        long now = start;
        // On a busy machine a pinned thread may not run for longer than that.
        while (now - start < nanos || done == 0) {
            for (int i = 0; i < ROUNDS; i++) {
                long slot = access.poll();
                if (slot == LongQueue.NOTHING) {
                    patience.lose();
                    continue;
                }
                patience.renew();
                latency.recordValue(Math.min(System.nanoTime() - issuedAt[(int) slot], HIGHEST_NANOS));
                done++;
                begin(access, records, (int) slot, issuedAt);
            }
            now = System.nanoTime();
        }
        return done * 1e9 / (now - start);
    }

    private void beginAll(RequestIssuer access, RecordRequests records, long[] issuedAt) {
        for (int slot = 0; slot < outstanding; slot++) {
            begin(access, records, slot, issuedAt);
        }
    }

    private void begin(RequestIssuer access, RecordRequests records, int slot, long[] issuedAt) {
        records.address(slot, addresses[next++ & ADDRESSES - 1]);
        issuedAt[slot] = System.nanoTime();
        access.begin(slot);
    }

    private void finish(RequestIssuer access) {
        SpinYieldBackoff patience = new SpinYieldBackoff();
        for (int left = outstanding; left > 0; ) {
            if (access.poll() == LongQueue.NOTHING) {
                patience.lose();
            } else {
                left--;
            }
        }
    }
}
