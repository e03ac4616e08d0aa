package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Cache;
import io.farheap.cache.Cluster;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreStatus;
import io.farheap.testing.Effort;
import io.farheap.tier.FarDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;

/**
 * Several sessions add to counters in a store over far memory, and read them, while the cache's regions move between
 * servers. A read finds no less than the reads and additions that ended before it began, and no more than the additions
 * that began before it ended. At the end each counter has every addition once.
 */
class FarHistoryTest {

    private static final int SESSIONS = 3;
    private static final int KEYS = 3_000;
    private static final int ADDITIONS = Math.max(2_000, Effort.count(8_000));
    private static final int PENDING = 16;
    /** The keys of a request for many. */
    private static final int MANY = 100;

    private static final int REGIONS = Effort.either(12, 32);
    private static final int SEGMENT = (int) Cluster.REGION_BYTES;
    /** How often all regions move: to the other server, and back. */
    private static final int MOVES = 2;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final AtomicIntegerArray begun = new AtomicIntegerArray(KEYS);
    private final AtomicIntegerArray ended = new AtomicIntegerArray(KEYS);
    /** The largest value of each counter that a read has found. */
    private final AtomicLongArray seen = new AtomicLongArray(KEYS);

    private final AtomicInteger moves = new AtomicInteger();
    private final AtomicInteger going = new AtomicInteger(SESSIONS);

    /** A session and its operations, of one thread. */
    private final class User implements AutoCloseable {

        private final StoreSession session;
        private final SplittableRandom random;
        private final Arena arena = Arena.ofShared();
        // The places of single operations come first, then those of a request for many.
        private final MemorySegment into = arena.allocate((PENDING + MANY) * 8, 8);
        private final long[] least = new long[PENDING + MANY];
        private final int[] key = new int[PENDING + MANY];
        private final long[] keys = new long[MANY];
        private int left;
        private final List<Integer> free = new ArrayList<>();
        private final StoreCompletion read = (place, status, bytes) -> {
            found((int) place, status);
            free.add((int) place);
        };
        private final StoreCompletion oneOfMany = (place, status, bytes) -> {
            found((int) place, status);
            left--;
        };
        private final StoreCompletion added = (place, status, bytes) -> {
            assertEquals(StoreStatus.DONE, status);
            ended.incrementAndGet(key[(int) place]);
            free.add((int) place);
        };

        User(FarStore store, int number) {
            session = store.openSession();
            random = new SplittableRandom(seed + number);
            for (int place = 0; place < PENDING; place++) {
                free.add(place);
            }
        }

        /** Makes {@link #ADDITIONS} additions, and reads until all regions have moved {@link #MOVES} times. */
        void run() {
            for (int additions = 0; additions < ADDITIONS || moves.get() < MOVES; ) {
                if (left == 0 && random.nextInt(32) == 0) {
                    readMany();
                }
                if (free.isEmpty()) {
                    Calls.goOn(session);
                    continue;
                }
                int place = free.removeLast();
                key[place] = anyKey();
                if (additions < ADDITIONS && random.nextBoolean()) {
                    add(place);
                    additions++;
                } else {
                    read(place);
                }
                if (random.nextInt(8) == 0) {
                    session.poll();
                }
            }
            session.drain();
        }

        private int anyKey() {
            return random.nextInt(4) == 0 ? random.nextInt(4) : random.nextInt(KEYS);
        }

        private void readMany() {
            left = MANY;
            for (int i = 0; i < MANY; i++) {
                key[PENDING + i] = anyKey();
                keys[i] = key[PENDING + i];
            }
            int taken = 0;
            while (taken < MANY) {
                for (int i = taken; i < MANY; i++) {
                    least[PENDING + i] = known(key[PENDING + i]);
                }
                taken += session.readAll(keys, taken, MANY - taken, into, PENDING * 8, 8, oneOfMany, PENDING);
                if (taken < MANY) {
                    Calls.goOn(session);
                }
            }
        }

        private long known(int counter) {
            return Math.max(ended.get(counter), seen.get(counter));
        }

        private void add(int place) {
            begun.incrementAndGet(key[place]);
            int status;
            while ((status = session.update(key[place], Values.ADD, 1, added, place)) == StoreStatus.FULL) {
                Calls.goOn(session);
            }
            if (status != StoreStatus.PENDING) {
                added.completed(place, status, 8);
            }
        }

        private void read(int place) {
            least[place] = known(key[place]);
            int status;
            while ((status = session.read(key[place], into, place * 8L, 8, read, place)) == StoreStatus.FULL) {
                Calls.goOn(session);
            }
            if (status != StoreStatus.PENDING) {
                read.completed(place, status, 8);
            }
        }

        /** Checks each counter when no session adds to it any more. */
        void check() {
            for (int counter = 0; counter < KEYS; counter++) {
                assertEquals(begun.get(counter), ended.get(counter), "seed " + seed + ", counter " + counter);
                int place = free.removeLast();
                key[place] = counter;
                read(place);
                session.drain();
            }
        }

        private void found(int place, int status) {
            assertTrue(status == StoreStatus.DONE || status == StoreStatus.NOT_FOUND, StoreStatus.describe(status));
            long value = status == StoreStatus.DONE ? into.get(JAVA_LONG_UNALIGNED, place * 8L) : 0;
            long most = begun.get(key[place]);
            assertTrue(
                    value >= least[place] && value <= most,
                    () -> "seed " + seed + ": counter " + key[place] + " is " + value + ", and was " + least[place]
                            + " to " + most);
            seen.accumulateAndGet(key[place], value, Math::max);
        }

        @Override
        public void close() {
            session.close();
            arena.close();
        }
    }

    @Test
    void countersAddUpWhileRegionsMove() throws Exception {
        System.out.println("seed " + seed);
        try (Cluster cluster = new Cluster(REGIONS, REGIONS);
                Cache cache = Cache.builder()
                        .capacity(REGIONS * Cluster.REGION_BYTES)
                        .servers(cluster.address(0))
                        .create();
                FarDevice device = new FarDevice(cache, SEGMENT, 32);
                FarStore store = FarStore.builder()
                        .device(device)
                        .pageBytes(4096)
                        .memory(8 * 4096)
                        .expectedKeys(KEYS)
                        .pending(PENDING)
                        .open();
                ExecutorService threads = Executors.newFixedThreadPool(SESSIONS + 1)) {
            cache.addServer(cluster.address(1));
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < SESSIONS; i++) {
                int number = i;
                all.add(threads.submit(() -> {
                    try (User user = new User(store, number)) {
                        user.run();
                    } finally {
                        going.decrementAndGet();
                    }
                    return null;
                }));
            }
            all.add(threads.submit(() -> {
                move(cache, cluster);
                return null;
            }));
            for (Future<?> each : all) {
                each.get();
            }
            assertTrue(store.logBytes() > 2 * 8 * 4096, "all of it stayed in memory");
            try (User user = new User(store, SESSIONS)) {
                user.check();
            }
        }
    }

    /** Moves regions until all sessions have ended. */
    private void move(Cache cache, Cluster cluster) {
        for (int to = 1; going.get() > 0; to = 1 - to) {
            for (int region = 0; region < REGIONS && going.get() > 0; region++) {
                cache.migrate(region, cluster.address(to));
            }
            moves.incrementAndGet();
        }
    }
}
