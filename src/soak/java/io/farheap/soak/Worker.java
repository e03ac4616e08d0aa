package io.farheap.soak;

import io.farheap.cache.Cache;
import io.farheap.cache.contract.Status;
import io.farheap.time.TimeLimit;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/** Issues random requests through one client, several at a time, and has what they bring checked. */
final class Worker implements Runnable {

    static final long PATIENCE_NANOS = TimeLimit.of(60_000_000_000L);

    private final String name;
    private final Cache cache;
    private final CacheClient.Opener opener;
    private final RandomRequests requests;
    private final Predicate<CachePart> mayBeLost;
    private final IntPredicate mayEnd;
    private final SplittableRandom random;
    private final WaitTimes waits;
    private final Problems problems;
    private final AtomicLong operations = new AtomicLong();
    private final AtomicLong recoveries = new AtomicLong();
    private volatile long progressAt = System.nanoTime();
    private volatile boolean stop;

    // Of its session, which its own thread opens first of all.
    @SuppressWarnings("NullAway.Init")
    private InFlightRequests inFlight;

    @SuppressWarnings("NullAway.Init")
    private WorkerRecovery recovery;

    /** How many requests it wants under way. */
    private int target = 1;

    /** @param mayBeLost whether a part of the cache may be lost for good */
    Worker(
            String name,
            Cache cache,
            CacheClient.Opener opener,
            RandomRequests requests,
            Predicate<CachePart> mayBeLost,
            SplittableRandom random,
            WaitTimes waits,
            Problems problems) {
        this(name, cache, opener, requests, mayBeLost, Worker::mayEndPlain, random, waits, problems);
    }

    /** Whether a request of a cache that is not coded may end so, as servers end and connections fail. */
    private static boolean mayEndPlain(int status) {
        return status == Status.LOST || status == Status.UNKNOWN || status == Status.UNREACHABLE;
    }

    /** @param mayEnd whether a request may end with this status now, which is not OK */
    Worker(
            String name,
            Cache cache,
            CacheClient.Opener opener,
            RandomRequests requests,
            Predicate<CachePart> mayBeLost,
            IntPredicate mayEnd,
            SplittableRandom random,
            WaitTimes waits,
            Problems problems) {
        this.name = name;
        this.cache = cache;
        this.opener = opener;
        this.requests = requests;
        this.mayBeLost = mayBeLost;
        this.mayEnd = mayEnd;
        this.random = random;
        this.waits = waits;
        this.problems = problems;
    }

    @Override
    public void run() {
        work(() -> {
            while (!stop) {
                step();
            }
            inFlight.drain();
            recovery.run();
        });
    }

    /** Reads these parts and checks them, on this thread. */
    void check(List<CachePart> parts) {
        work(() -> {
            parts.forEach(recovery::add);
            recovery.run();
        });
    }

    private void work(Runnable body) {
        try (InFlightRequests opened = new InFlightRequests(cache, opener, this::finished)) {
            inFlight = opened;
            recovery = new WorkerRecovery(opened, mayBeLost, random, this::problem);
            body.run();
        } catch (Throwable e) {
            problems.add(name, e);
        }
    }

    /** It finishes what it has begun, and ends. */
    void stop() {
        stop = true;
    }

    String name() {
        return name;
    }

    long operations() {
        return operations.get();
    }

    /** How often it opened another client because a request was lost. */
    long recoveries() {
        return recoveries.get();
    }

    /** Whether it has not come forward for long. */
    boolean stalls() {
        return System.nanoTime() - progressAt > PATIENCE_NANOS;
    }

    private void step() {
        if (recovery.isNeeded()) {
            inFlight.drain();
            recoveries.incrementAndGet();
            long start = System.nanoTime();
            inFlight.reopen(start + PATIENCE_NANOS);
            waits.call(name, System.nanoTime() - start);
            recovery.run();
            return;
        }
        if (random.nextInt(64) == 0) {
            target = 1 + random.nextInt(InFlightRequests.MOST);
        }
        if (inFlight.pending() < target && issue() && random.nextInt(4) != 0) {
            return;
        }
        inFlight.client().progress();
    }

    private boolean issue() {
        SoakRequest request = inFlight.free(random);
        requests.choose(request, inFlight.client());
        if (inFlight.issue(request)) {
            return true;
        }
        request.part.refused(request);
        return false;
    }

    private void finished(SoakRequest request) {
        progressAt = System.nanoTime();
        waits.request(name, progressAt - request.issuedAt);
        operations.incrementAndGet();
        if (request.status != Status.OK) {
            if (!mayEnd.test(request.status)) {
                problem("a " + request + " ended with " + Status.describe(request.status));
            }
            recovery.add(request.part);
        }
        String wrong = request.part.finished(request, request.status == Status.OK);
        if (wrong != null) {
            problem(wrong);
        }
    }

    private void problem(String what) {
        problems.add(name + ": " + what);
    }
}
