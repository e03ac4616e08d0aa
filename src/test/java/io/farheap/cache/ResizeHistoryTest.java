package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sessions read and write words of their own while the cache grows, shrinks and moves at random. A word has the value
 * that was written to it last, or 0 if the cache has ended before the word since. It must be 0 if the cache has shrunk
 * below the word, and has grown again, between the write and the read.
 */
@Needs(Need.SOFTVERBS)
class ResizeHistoryTest {

    private static final long REGION = Cluster.REGION_BYTES;
    private static final int MOST_REGIONS = 12;
    private static final int WRITERS = 3;
    private static final int WORDS = 200;
    private static final int RESIZES = Effort.count(150);

    /** A change that made the cache smaller; its times are of a clock that counts events. */
    private record Shrink(long capacity, long began, long ended) {}

    private final AtomicLong clock = new AtomicLong();
    private final List<Shrink> shrinks = new CopyOnWriteArrayList<>();
    /** No request below this address may be refused if {@link #changes} stays the same. */
    private volatile long sure;

    private final AtomicLong changes = new AtomicLong();
    private volatile boolean done;

    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#one")
    @Timeout(300)
    void whatIsReadIsWhatWasWrittenOrNothing(CacheConfiguration how) throws Exception {
        long seed = System.nanoTime();
        System.out.println("ResizeHistoryTest: seed " + seed);
        try (Cluster cluster = new Cluster(MOST_REGIONS, MOST_REGIONS);
                Cache cache = Cache.builder()
                        .capacity(4 * REGION)
                        .servers(cluster.addresses())
                        .configuration(how)
                        .create();
                ExecutorService threads = Executors.newCachedThreadPool()) {
            sure = cache.capacity();
            List<Future<long[]>> writers = new ArrayList<>();
            for (int writer = 0; writer < WRITERS; writer++) {
                int number = writer;
                writers.add(threads.submit(() -> run(cache, number, new Random(seed + number))));
            }
            try {
                resize(cache, cluster, new Random(seed - 1));
            } finally {
                done = true;
            }
            long[] total = new long[3];
            for (Future<long[]> writer : writers) {
                long[] counts = writer.get(120, TimeUnit.SECONDS);
                for (int i = 0; i < counts.length; i++) {
                    total[i] += counts[i];
                }
            }
            System.out.println("ResizeHistoryTest: " + total[0] + " values, " + total[1] + " zeros, " + total[2]
                    + " refusals in " + shrinks.size() + " shrinks");
            assertTrue(total[0] > 0 && total[1] > 0 && total[2] > 0, "each was met");
            cache.reshape(1);
            assertEquals(2 * MOST_REGIONS - 1, cluster.freeRegions(0) + cluster.freeRegions(1));
        }
    }

    private void resize(Cache cache, Cluster cluster, Random random) {
        for (int i = 0; i < RESIZES; i++) {
            if (random.nextInt(4) == 0) {
                cache.migrate(random.nextInt(cache.regions()), cluster.address(random.nextInt(2)));
                continue;
            }
            long before = cache.capacity();
            long bytes = Long.BYTES * (1 + random.nextLong(MOST_REGIONS * REGION / Long.BYTES));
            sure = Math.min(before, bytes);
            changes.incrementAndGet();
            long began = clock.incrementAndGet();
            cache.reshape(bytes);
            if (bytes < before) {
                shrinks.add(new Shrink(bytes, began, clock.incrementAndGet()));
            }
            sure = bytes;
            changes.incrementAndGet();
        }
    }

    /** @return how many values and zeros were read, and how many requests were refused */
    private long[] run(Cache cache, int writer, Random random) {
        long[] counts = new long[3];
        long[] addresses = new long[WORDS];
        long[] values = new long[WORDS];
        long[] issued = new long[WORDS];
        long[] ended = new long[WORDS];
        for (int i = 0; i < WORDS; i++) {
            long word = random.nextLong(MOST_REGIONS * REGION / Long.BYTES / WRITERS) * WRITERS + writer;
            addresses[i] = Long.BYTES * word;
            for (int j = 0; j < i; j++) {
                if (addresses[j] == addresses[i]) {
                    i--;
                    break;
                }
            }
        }
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(Long.BYTES)) {
            while (!done) {
                int i = random.nextInt(WORDS);
                boolean write = random.nextInt(3) == 0;
                long version = changes.get();
                long least = sure;
                long began = clock.incrementAndGet();
                try {
                    if (write) {
                        long value = random.nextLong() | 1;
                        buffer.segment().set(JAVA_LONG, 0, value);
                        session.writeBlocking(addresses[i], buffer, 0, Long.BYTES);
                        values[i] = value;
                        issued[i] = began;
                        ended[i] = clock.incrementAndGet();
                    } else {
                        session.readBlocking(addresses[i], buffer, 0, Long.BYTES);
                        check(buffer.segment().get(JAVA_LONG, 0), addresses[i], values[i], issued[i], ended[i], began);
                        counts[buffer.segment().get(JAVA_LONG, 0) == 0 ? 1 : 0]++;
                    }
                } catch (IndexOutOfBoundsException e) {
                    counts[2]++;
                    assertTrue(
                            changes.get() != version || addresses[i] + Long.BYTES > least,
                            "refused at " + addresses[i] + ", the cache has " + least);
                }
            }
        }
        return counts;
    }

    private void check(long read, long address, long value, long issued, long ended, long began) {
        long now = clock.incrementAndGet();
        boolean may = value == 0;
        boolean must = value == 0;
        // A change that has begun, and is not in the list yet, may have cut the word off, too.
        may |= changes.get() % 2 == 1;
        for (Shrink shrink : shrinks) {
            if (shrink.capacity() < address + Long.BYTES) {
                may |= shrink.ended() > issued && shrink.began() < now;
                must |= shrink.began() > ended && shrink.ended() < began;
            }
        }
        String what = "at " + address + " read " + read + ", written " + value;
        assertTrue(read == value && !must || read == 0 && (may || must), what + (must ? ", it must be 0" : ""));
    }
}
