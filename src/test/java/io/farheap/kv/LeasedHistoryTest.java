package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.farheap.kv.format.TestKeys;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sessions of several processes use few keys of a leased map, and each key's history is linearizable, whatever leases,
 * clocks and connections do. A miss counts as in {@link MapHistoryTest}, also of an object whose life has ended: once a
 * process has learned that, no other one reads it.
 */
class LeasedHistoryTest {

    private static final int PROCESSES = 3;
    private static final int REQUESTS = Math.max(1_500, Effort.count(10_000));
    private static final long STOPPED = 1;
    /** A clock drifts by one ns in so many. */
    private static final long PER_DRIFT = 2_000;
    private static final int MOST_LIFE_MILLIS = 20;

    /** The clocks by which processes count their leases: right ones. */
    private static final IntFunction<LongSupplier> RIGHT = process -> System::nanoTime;
    /** One that stands still, one that runs at half the speed, and one that jumps by up to 50 ms either way. */
    private static final IntFunction<LongSupplier> WRONG = process -> switch (process) {
        case 0 -> () -> STOPPED;
        case 1 -> () -> System.nanoTime() / 2;
        default -> () -> System.nanoTime() + ThreadLocalRandom.current().nextLong(-50_000_000, 50_000_000);
    };
    /** Wrong by as much as clocks may be, one too slow and the others too fast. */
    private static final IntFunction<LongSupplier> DRIFTING = process -> () -> {
        long now = System.nanoTime();
        return process == 0 ? now - now / PER_DRIFT : now + now / PER_DRIFT;
    };

    static Stream<Arguments> maps() {
        return Effort.variants(
                2,
                // Much room: most gets are READs.
                arguments(8, 50, 2048),
                // Terms that end during requests, and blocks of many sizes in few segments.
                arguments(64, 1, 256),
                arguments(400, 5, 256),
                arguments(8, 1, 256),
                arguments(64, 0, 256));
    }

    /**
     * @param termMillis of queue 1
     * @param room the size of each of the two servers' regions, in KiB
     */
    @ParameterizedTest
    @MethodSource("maps")
    void eachKeyIsLinearizable(int keys, int termMillis, int room) throws Exception {
        run(keys, termMillis, room, RIGHT, MapHistoryTest.Beside.NOTHING);
    }

    /**
     * A process whose clock is worse than is assumed reads blocks whose leases are over: the blocks themselves say what
     * they are.
     */
    @ParameterizedTest
    @MethodSource("maps")
    void noClockMakesAnAnswerWrong(int keys, int termMillis, int room) throws Exception {
        run(keys, termMillis, room, WRONG, MapHistoryTest.Beside.NOTHING);
    }

    @Tag("full")
    @ParameterizedTest
    @MethodSource("maps")
    void clocksThatDriftMakeNoAnswerWrong(int keys, int termMillis, int room) throws Exception {
        run(keys, termMillis, room, DRIFTING, MapHistoryTest.Beside.NOTHING);
    }

    static Stream<Arguments> failingMaps() {
        return Effort.variants(1, arguments(8, 50, 2048), arguments(64, 1, 256));
    }

    @Needs(Need.SOFTVERBS)
    @ParameterizedTest
    @MethodSource("failingMaps")
    void eachKeyIsLinearizableWhileQueuePairsFail(int keys, int termMillis, int room) throws Exception {
        try {
            run(keys, termMillis, room, RIGHT, MapHistoryTest.Beside.FAILURES);
        } finally {
            Softverbs.set("qp_error_after=0");
        }
    }

    private static void run(
            int keys, int termMillis, int room, IntFunction<LongSupplier> clocks, MapHistoryTest.Beside beside)
            throws Exception {
        long seed = System.nanoTime();
        Duration term = Duration.ofMillis(termMillis);
        List<FarMap> maps = new ArrayList<>();
        try (TestServers servers = new TestServers("history");
                ExecutorService executor = Executors.newFixedThreadPool(PROCESSES)) {
            try {
                String[] addresses = servers.startAll(2, 1, (long) room << 10);
                maps.add(servers.named(addresses)
                        .engine(FarMapBuilder.LEASED)
                        .memory(2L * room << 10)
                        .objects(1000)
                        .leaseTerms(term, term.multipliedBy(4))
                        .leaseClock(clocks.apply(0))
                        .create());
                while (maps.size() < PROCESSES) {
                    maps.add(servers.named(addresses)
                            .leaseClock(clocks.apply(maps.size()))
                            .open());
                }
                List<MapSession> sessions =
                        maps.stream().map(FarMap::openSession).toList();
                if (beside == MapHistoryTest.Beside.FAILURES) {
                    Softverbs.set("qp_error_after=60");
                }
                // Each connection is made again all the time, with a back-off.
                int requests = beside == MapHistoryTest.Beside.FAILURES ? REQUESTS / 15 : REQUESTS;
                List<Future<List<MapHistoryTest.Event>>> running = new ArrayList<>();
                for (int i = 0; i < PROCESSES; i++) {
                    MapHistoryTest.Client client = new MapHistoryTest.Client(
                            sessions.get(i), TestKeys.of(keys, false), i, new SplittableRandom(seed + i), beside);
                    running.add(executor.submit(
                            () -> client.patient().mortal(MOST_LIFE_MILLIS).run(requests)));
                }
                List<MapHistoryTest.Event> events = new ArrayList<>();
                for (Future<List<MapHistoryTest.Event>> each : running) {
                    events.addAll(each.get());
                }
                if (beside == MapHistoryTest.Beside.FAILURES) {
                    Softverbs.set("qp_error_after=0");
                }
                MapHistoryTest.check(keys, events, seed);
                if (termMillis > 0) {
                    long reads = sessions.stream()
                            .mapToLong(each -> each.posted().reads())
                            .sum();
                    assertTrue(reads > 0, reads + " READs, seed " + seed);
                }
                assertTrue(maps.getFirst().stats().objects() <= keys, "seed " + seed);
                sessions.forEach(MapSession::close);
            } finally {
                maps.forEach(FarMap::close);
            }
        }
    }
}
