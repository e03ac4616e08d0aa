package io.farheap.soak;

import io.farheap.cache.Cache;
import io.farheap.cache.LostServerListener;
import io.farheap.cache.contract.Status;
import io.farheap.resilience.contract.Resilience;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** A coded cache on all servers of an episode, and who uses it: what outlives one of them loses nothing with it. */
final class CodedPart implements AutoCloseable {

    /** Of each server. */
    static final int REGIONS = 6;

    private static final int MOST_RANGES = 3;
    /** On three servers, of which one may go. */
    private static final List<Resilience> CODES = List.of(
            Resilience.failureRecovery(2, 1),
            Resilience.failureRecovery(2, 1).strict(true),
            Resilience.failureRecovery(2, 1).additional(0),
            Resilience.corruptionDetection(2, 1),
            Resilience.copies(2),
            Resilience.copies(3));
    /** A busy machine is not to look like a server that is gone. */
    private static final Duration TIMEOUT = Duration.ofMillis(500);

    private final Resilience code;
    private final Cache cache;
    private final CodedLoad load;

    /**
     * @param serverGoes whether one is to go: then a strict write would wait for another that has room, for ever
     * @param mayBeLost whether more may be gone than the code outlives
     */
    CodedPart(
            List<String> servers,
            long regionBytes,
            SplittableRandom random,
            boolean serverGoes,
            LostServerListener listener,
            BooleanSupplier mayBeLost,
            WaitTimes waits,
            Problems problems) {
        Resilience drawn = CODES.get(random.nextInt(CODES.size())).timeout(TIMEOUT);
        code = drawn.strict(drawn.strict() && !serverGoes);
        int ranges = 1 + random.nextInt(MOST_RANGES);
        cache = Retry.until(System.nanoTime() + Worker.PATIENCE_NANOS, () -> Cache.builder()
                .capacity(ranges * regionBytes * code.dataSplits() - random.nextInt(10_000))
                .servers(servers)
                .name("soak-coded")
                .requests(32 << random.nextInt(5))
                .resilience(code)
                .onLost(listener)
                .create());
        load = new CodedLoad(
                cache,
                List.of(CodedLoad.ASYNCHRONOUS, CodedLoad.BLOCKING),
                part -> mayBeLost.getAsBoolean(),
                status -> status == Status.LOST,
                random,
                waits,
                problems);
    }

    List<Worker> workers() {
        return load.workers();
    }

    /** Nobody uses it any more: reads and checks all of it. */
    void check() {
        load.check();
    }

    long regenerated() {
        return cache.health().regenerated();
    }

    @Override
    public void close() {
        cache.close();
    }

    @Override
    public String toString() {
        return code.toString();
    }
}
