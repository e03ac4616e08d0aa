package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CallCompletion.RangeCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.CallResult.RangeResult;
import io.farheap.migration.MigrationOptions;
import io.farheap.procedure.CallStatus;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Effort;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Ranges of calls that add to words, sum them up and hash them, compared with plain Java on an array, while regions
 * move, servers leave and join, and the cache is reconfigured and resized. No piece is left out, and none runs twice.
 */
@Timeout(300)
class RangeMigrationTest {

    private static final long REGION = Cluster.REGION_BYTES;
    private static final int REGIONS = 4;
    private static final int SERVERS = 3;
    private static final int CHANGES = Effort.either(12, 60);
    private static final int ARGUMENTS = 1024;

    private final Cluster cluster = new Cluster().serving(ServedCode.JAVA);
    private final long seed = System.nanoTime();
    private final AtomicBoolean stop = new AtomicBoolean();
    private volatile long ranges;

    /** A session, and the words that the cache should have. */
    private final class Model implements Runnable {

        private final Cache cache;
        private final Procedure sum;
        private final Procedure add;
        private final Procedure hash;
        private final SplittableRandom random = new SplittableRandom(seed);
        private final long[] words = new long[(int) (REGIONS * REGION / 8)];

        Model(Cache cache) {
            this.cache = cache;
            sum = cache.procedures().register(TestProcedures.SumOfPiece.class, Procedures.READS);
            add = cache.procedures().register(TestProcedures.AddToPiece.class, Procedures.WRITES);
            hash = cache.procedures().register(TestProcedures.HashOfPiece.class, Procedures.READS);
        }

        @Override
        public void run() {
            try (Caller caller = new Caller(cache)) {
                while (!stop.get()) {
                    int first = random.nextInt(words.length);
                    int count = random.nextInt(1, words.length - first + 1);
                    long piece = 8L * random.nextInt(Math.max(1, count / 300), count + 1);
                    switch (random.nextInt(4)) {
                        case 0, 1 -> add(caller, first, count, piece);
                        case 2 -> sum(caller, first, count, piece);
                        default -> hash(caller, first, Math.min(count, 4096), piece);
                    }
                    ranges++;
                }
                long[] found = new long[words.length];
                caller.session.readBlocking(0, MemorySegment.ofArray(found));
                assertEquals(-1, Arrays.mismatch(words, found), "the first word that differs, seed " + seed);
            }
        }

        private void assertDone(RangeResult ended) {
            assertTrue(ended.done(), () -> ended.describe() + ", seed " + seed);
        }

        private void add(Caller caller, int first, int count, long piece) {
            long added = random.nextLong();
            caller.buffer.segment().set(JAVA_LONG, ARGUMENTS, added);
            assertDone(caller.session.callRangeBlocking(
                    add, 8L * first, 8L * count, piece, caller.buffer, ARGUMENTS, 8, 64, 8, CallResult.SUM));
            assertEquals(count, caller.result(), () -> "words, seed " + seed);
            for (int i = first; i < first + count; i++) {
                words[i] += added;
            }
        }

        private void sum(Caller caller, int first, int count, long piece) {
            long[] sums = new long[2];
            RangeResult[] ended = new RangeResult[1];
            RangeCompletion each = new RangeCompletion() {

                @Override
                public void completed(long token, int status, int code, int resultBytes) {
                    ended[0] = new RangeResult(status, code, resultBytes, CallResult.NOWHERE, CallResult.NOWHERE, 0);
                }

                @Override
                public void pieceCompleted(long token, long at, long bytes, int code, int resultBytes) {
                    sums[0] += caller.result();
                    sums[1] += bytes;
                }
            };
            while (!caller.session.callRange(sum, 8L * first, 8L * count, piece, caller.buffer, 0, 0, 64, 8, each, 0)) {
                caller.session.awaitProgress();
            }
            caller.session.drain();
            assertDone(ended[0]);
            assertEquals(8L * count, sums[1], () -> "bytes, seed " + seed);
            assertEquals(Arrays.stream(words, first, first + count).sum(), sums[0], () -> "seed " + seed);
        }

        private void hash(Caller caller, int first, int count, long piece) {
            assertDone(caller.session.callRangeBlocking(
                    hash, 8L * first, 8L * count, piece, caller.buffer, 0, 0, 64, 16, CallRangeTest.HASHES));
            long expected = 0;
            for (int i = first; i < first + count; i++) {
                for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
                    expected = 31 * expected + (byte) (words[i] >> shift);
                }
            }
            assertEquals(expected, caller.result(), () -> "seed " + seed);
        }
    }

    @Test
    void noPieceIsLeftOutOrRunsTwice() throws InterruptedException {
        System.out.println("seed " + seed);
        try (cluster) {
            for (int i = 0; i < SERVERS; i++) {
                cluster.add(2 * REGIONS);
            }
            try (Cache cache = Cache.builder()
                    .capacity(REGIONS * REGION)
                    .servers(cluster.addresses())
                    .name("ranges")
                    .create()) {
                Model model = new Model(cache);
                AtomicReference<Throwable> failed = new AtomicReference<>();
                Thread thread = Thread.ofPlatform().start(() -> {
                    try {
                        model.run();
                    } catch (Throwable e) {
                        failed.set(e);
                        stop.set(true);
                    }
                });
                try {
                    change(cache);
                } finally {
                    stop.set(true);
                    thread.join();
                }
                if (failed.get() != null) {
                    throw new AssertionError("seed " + seed, failed.get());
                }
                assertEquals(0, cache.callCounts().ended(CallStatus.LOST));
            }
        }
    }

    private void change(Cache cache) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(seed + 1);
        CacheConfiguration[] how = {Configurations.DIRECT, Configurations.BATCHED, Configurations.HANDED_OVER_BATCHED};
        for (int i = 0; i < CHANGES && !stop.get(); i++) {
            switch (i % 6) {
                case 3 -> Configurations.change(cache, how[random.nextInt(how.length)]);
                case 4 -> cache.reshape((REGIONS + 1 + random.nextInt(2)) * REGION);
                case 5 -> {
                    String leaving = cluster.address(random.nextInt(SERVERS));
                    cache.retire(leaving, moved -> {});
                    awaitRange();
                    cache.addServer(leaving);
                }
                default ->
                    cache.migrate(
                            List.of(random.nextInt(REGIONS)),
                            cluster.address(random.nextInt(SERVERS)),
                            MigrationOptions.DEFAULT);
            }
            awaitRange();
        }
    }

    /** Waits until another range has ended. */
    private void awaitRange() throws InterruptedException {
        long before = ranges;
        while (ranges == before && !stop.get()) {
            Thread.sleep(1);
        }
    }
}
