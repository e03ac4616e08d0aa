package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.batch.PathChoice;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.PauseScope;
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
 * Sessions on several threads read and write random ranges while regions move at random moments, with all migration
 * options, and while the cache is reconfigured. Every aligned 8-byte word must be linearizable (DESIGN.md, invariant
 * 2), and every session's own order must hold (invariant 1). {@code -Dfarheap.seed=S} runs one seed;
 * {@code -Dfarheap.histories=N} runs the seeds that make N histories, and prints the progress.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("io.farheap.cache.Configurations#begunWith")
class MigrationHistoryTest {

    @Parameter
    private CacheConfiguration configuration;

    private static final int REGIONS = 4;
    private static final int SESSIONS = 3;
    private static final long R = Cluster.REGION_BYTES;
    /** The histories of each seed: the three tests with each configuration. */
    private static final int HISTORIES_OF_A_SEED =
            3 * (int) Configurations.begunWith().count();

    private static final HistoryProgress PROGRESS = HistoryProgress.where("farheap.histories", HISTORIES_OF_A_SEED);
    private static final int OPERATIONS = PROGRESS != null ? 4_000 : Effort.count(4_000);

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
    void everyWordIsLinearizable(long seed) throws InterruptedException {
        run(seed, random -> {}, false);
    }

    /** Late operations keep requests on their way, and copies of chunks under way, for longer. */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    @Needs(Need.SOFTVERBS)
    void everyWordIsLinearizableWhereSomeOperationsAreLate(long seed) throws InterruptedException {
        try {
            run(
                    seed,
                    random -> SoftverbsFaults.delayOperations(
                            1.0 / (1 << random.nextInt(8)), 1 + random.nextLong(1_000_000)),
                    false);
        } finally {
            SoftverbsFaults.delayOperations(0);
        }
    }

    /**
     * The connections of sessions, of pulls, and of the marks that lead pulls fail. A region may be in several places
     * for a while.
     */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    @Needs(Need.SOFTVERBS)
    void everyWordIsLinearizableWhereConnectionsFail(long seed) throws InterruptedException {
        try {
            run(
                    seed,
                    random -> SoftverbsFaults.failQueuePairsAfter(random.nextInt(3) == 0 ? 1 + random.nextInt(200) : 0),
                    true);
        } finally {
            SoftverbsFaults.failQueuePairsAfter(0);
        }
    }

    private void run(long seed, Consumer<SplittableRandom> beforeEach, boolean failures) throws InterruptedException {
        String wrong = "it did not end";
        SplittableRandom paths = new SplittableRandom(~seed);
        int small = PathChoice.smallBytes;
        int window = PathChoice.windowRecords;
        try {
            // These values make all but the smallest records change between batches and the one-sided path, often or
            // now and then.
            PathChoice.smallBytes = 8 << paths.nextInt(5);
            PathChoice.windowRecords = 1 << paths.nextInt(10);
            history(seed, beforeEach, failures);
            wrong = null;
        } catch (AssertionError | RuntimeException e) {
            wrong = e.toString();
            throw e;
        } finally {
            PathChoice.smallBytes = small;
            PathChoice.windowRecords = window;
            if (PROGRESS != null) {
                PROGRESS.ended(configuration + ", seed " + seed, wrong);
            }
        }
    }

    /** @param beforeEach called before each migration */
    private void history(long seed, Consumer<SplittableRandom> beforeEach, boolean failures)
            throws InterruptedException {
        SplittableRandom random = new SplittableRandom(seed);
        // The windows are at the ends of the cache, across regions, and across and within chunks.
        Histories histories = new Histories(
                0,
                R - Histories.WINDOW_BYTES / 2,
                R + 512 - 64,
                R + 16 * 1024 - 8,
                2 * R + 4096,
                3 * R - 64,
                REGIONS * R - Histories.WINDOW_BYTES);
        List<CacheConfiguration> ways = Configurations.all().toList();
        List<String> problems = new ArrayList<>();
        AtomicInteger migrations = new AtomicInteger();
        int failed = 0;
        try (Cluster cluster = new Cluster(2 * REGIONS, 2 * REGIONS, 2 * REGIONS);
                Cache cache = Cache.builder()
                        .capacity(REGIONS * R)
                        .servers(cluster.addresses())
                        .requests(64)
                        .configuration(configuration)
                        .doorbellBatch(random.nextInt(2) == 0 ? 1 : 5)
                        .create()) {
            List<HistoryClient> clients = new ArrayList<>();
            List<Thread> threads = new ArrayList<>();
            for (int i = 1; i <= SESSIONS; i++) {
                HistoryClient client = new HistoryClient(
                        i, cache, histories, random.nextLong(), OPERATIONS, () -> migrations.get() > 0, failures);
                clients.add(client);
                threads.add(
                        i == SESSIONS
                                ? Thread.ofVirtual().unstarted(client)
                                : Thread.ofPlatform().unstarted(client));
            }
            threads.forEach(Thread::start);
            while (threads.stream().anyMatch(Thread::isAlive)) {
                beforeEach.accept(random);
                try {
                    if (random.nextInt(8) == 0) {
                        Configurations.change(cache, ways.get(random.nextInt(ways.size())));
                    }
                    cache.migrate(
                            List.of(random.nextInt(REGIONS)), cluster.address(random.nextInt(3)), options(random));
                    migrations.incrementAndGet();
                } catch (CacheException e) {
                    failed++;
                    if (!failures) {
                        problems.add(e.toString());
                    }
                }
            }
            for (Thread thread : threads) {
                thread.join();
            }
            clients.forEach(client -> problems.addAll(client.problems()));
        }
        problems.addAll(histories.violations());
        assertEquals(
                List.of(),
                problems,
                "seed " + seed + ", " + migrations + " migrations, " + failed + " failed; repeat with -Dfarheap.seed="
                        + seed);
        assertTrue(migrations.get() > 0);
    }
}
