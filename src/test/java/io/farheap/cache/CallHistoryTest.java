package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.PauseScope;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sessions call procedures, also for the pieces of ranges, and read and write meanwhile, many requests at a time. At
 * random moments regions move, with all migration options, between servers that run procedures and one that does not,
 * and the cache is reconfigured. Words are linearizable, each session's own order holds, each addition finds another
 * value, and logs have each record once: nothing is lost, and nothing is done twice. Seeds are used as in
 * {@code MigrationHistoryTest}; {@code ./farheap test --calls N [--weak]} runs many.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("io.farheap.cache.Configurations#begunWith")
class CallHistoryTest {

    @Parameter
    private CacheConfiguration configuration;

    private static final int SESSIONS = 3;
    /** The histories of each seed: both tests with each configuration. */
    private static final int HISTORIES_OF_A_SEED =
            2 * (int) Configurations.begunWith().count();

    private static final HistoryProgress PROGRESS = HistoryProgress.where("farheap.histories", HISTORIES_OF_A_SEED);
    private static final int OPERATIONS = PROGRESS != null ? 600 : Effort.count(600);

    static LongStream seeds() {
        Long one = Long.getLong("farheap.seed");
        if (one != null) {
            return LongStream.of(one);
        }
        long first = System.nanoTime();
        long count = PROGRESS != null ? PROGRESS.seeds() : Effort.seeds(5);
        return LongStream.range(first, first + count);
    }

    private static MigrationOptions options(SplittableRandom random) {
        PauseScope pause = PauseScope.values()[Math.min(random.nextInt(6), PauseScope.CHUNK.ordinal())];
        int chunk = 512 << random.nextInt(6);
        return new MigrationOptions(pause, random.nextInt(4) != 0, chunk, chunk * (1L + random.nextInt(8)));
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void nothingIsLostOrDoneTwice(long seed) throws InterruptedException {
        run(seed, random -> {});
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    @Needs(Need.SOFTVERBS)
    void nothingIsLostOrDoneTwiceWhereSomeOperationsAreLate(long seed) throws InterruptedException {
        try {
            run(
                    seed,
                    random -> SoftverbsFaults.delayOperations(
                            1.0 / (1 << random.nextInt(8)), 1 + random.nextLong(500_000)));
        } finally {
            SoftverbsFaults.delayOperations(0);
        }
    }

    private void run(long seed, Consumer<SplittableRandom> beforeEach) throws InterruptedException {
        String wrong = "it did not end";
        try {
            history(seed, beforeEach);
            wrong = null;
        } catch (AssertionError | RuntimeException e) {
            wrong = e.toString();
            throw e;
        } finally {
            if (PROGRESS != null) {
                PROGRESS.ended(configuration + ", seed " + seed, wrong);
            }
        }
    }

    /** @param beforeEach called before each migration */
    private void history(long seed, Consumer<SplittableRandom> beforeEach) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(seed);
        List<CacheConfiguration> ways = Configurations.all().toList();
        List<String> problems = new ArrayList<>();
        AtomicInteger migrations = new AtomicInteger();
        int regions = CallHistory.REGIONS;
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA)) {
            cluster.add(2 * regions);
            cluster.add(2 * regions);
            cluster.serving(ServedCode.OFF).add(2 * regions);
            try (Cache cache = Cache.builder()
                    .capacity(regions * Cluster.REGION_BYTES)
                    .servers(cluster.addresses())
                    .requests(64)
                    .configuration(configuration)
                    .doorbellBatch(random.nextInt(2) == 0 ? 1 : 5)
                    .create()) {
                CallHistory history = new CallHistory(cache);
                List<CallHistoryClient> clients = new ArrayList<>();
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < SESSIONS; i++) {
                    CallHistoryClient client = new CallHistoryClient(
                            i, cache, history, random.split(), OPERATIONS, () -> migrations.get() > 0);
                    clients.add(client);
                    threads.add(Thread.ofPlatform().start(client));
                }
                while (threads.stream().anyMatch(Thread::isAlive)) {
                    beforeEach.accept(random);
                    try {
                        if (random.nextInt(8) == 0) {
                            Configurations.change(cache, ways.get(random.nextInt(ways.size())));
                        }
                        cache.migrate(
                                List.of(random.nextInt(regions)), cluster.address(random.nextInt(3)), options(random));
                        migrations.incrementAndGet();
                    } catch (CacheException e) {
                        problems.add(e.toString());
                    }
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                clients.forEach(client -> problems.addAll(client.problems()));
                problems.addAll(history.violations(cache));
            }
        }
        assertEquals(
                List.of(),
                problems,
                "seed " + seed + ", " + migrations + " migrations; repeat with -Dfarheap.seed=" + seed);
        assertTrue(migrations.get() > 0);
    }
}
