package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.farheap.kv.contract.MapException;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Memory goes from sizes that many objects had to sizes that many objects have now. */
class EmptyingTest {

    private static final long MIB = 1 << 20;

    private static byte[] key(long number) {
        return ByteBuffer.allocate(8).putLong(number).array();
    }

    /** @return a value that has the number of its key in its first and its last word */
    private static byte[] value(long number, int bytes) {
        return ByteBuffer.allocate(bytes)
                .putLong(0, number)
                .putLong(bytes - 8, number)
                .array();
    }

    /** @return whether there was room */
    private static boolean set(MapSession session, long number, int bytes) {
        try {
            session.set(key(number), value(number, bytes));
            return true;
        } catch (MapException e) {
            assertTrue(String.valueOf(e.getMessage()).startsWith("there is no room"), e::toString);
            return false;
        }
    }

    private static int found(MapSession session, long from, long to) {
        int found = 0;
        for (long i = from; i < to; i++) {
            byte[] value = session.get(key(i));
            if (value != null) {
                assertEquals(i, ByteBuffer.wrap(value).getLong(0));
                assertEquals(i, ByteBuffer.wrap(value).getLong(value.length - 8));
                found++;
            }
        }
        return found;
    }

    /**
     * Waits until no segment is being emptied, or about to be.
     *
     * @param sessions may hold blocks of segments that are being emptied, and give them back when they are polled
     */
    static void awaitRest(TestSpace space, List<MapSession> sessions) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        while (space.map.emptying() > 0) {
            assertTrue(System.nanoTime() - deadline < 0, "segments are being emptied for ever");
            sessions.forEach(EmptyingTest::poll);
            LockSupport.parkNanos(100_000);
        }
    }

    /** Lets a session see changes of the map, such as segments that are being emptied. */
    static void poll(MapSession session) {
        session.poll((tag, status, memory, at, bytes) -> {});
    }

    private static double liveShare(FarMap map) {
        MapStats stats = map.stats();
        return (double) stats.blockBytes() / stats.segmentBytes();
    }

    static Stream<Arguments> sizes() {
        return Effort.variants(
                2, arguments(100, 5000, 400, 0.8), arguments(5000, 100, 20000, 0.7), arguments(100, 40000, 60, 0.5));
    }

    /**
     * If all objects become larger, or smaller, the new ones find room, and have most of the memory at the end.
     *
     * @param sets how many sets in a row have to find room
     * @param least the share of the memory above which live objects have to be then
     */
    @ParameterizedTest
    @MethodSource("sizes")
    void aMapThatIsFullOfOneSizeIsFullOfAnother(int before, int after, int sets, double least) {
        try (TestSpace space = new TestSpace(2, 1, 2 * MIB, 10_000);
                MapSession session = space.map.openSession()) {
            int filling = (int) (4 * MIB / Math.max(128, before)) * 3 / 2;
            for (long i = 0; i < filling; i++) {
                set(session, i, before);
            }
            long next = 1_000_000;
            long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
            for (int inARow = 0; inARow < sets; next++) {
                inARow = set(session, next, after) ? inARow + 1 : 0;
                assertTrue(System.nanoTime() - deadline < 0, "some find no room for ever");
            }
            double share = liveShare(space.map);
            assertTrue(share > least, share + " of the memory is in live objects");
            assertTrue(found(session, next - 20, next) > 0);
            assertTrue(space.map.stats().segmentsEmptied() > 0, "nothing was emptied");
            Audit.of(space, List.of(session));
        }
    }

    /**
     * If no segment were emptied, live objects would have 0.52 to 0.58 of the memory in the first phase, however long
     * it takes, so its bound shows the difference. The interleaving of the threads decides how soon the share is
     * reached, and how large it is after the second phase: 0.84 to 0.94, and 0.76 to 0.81 if no segment were emptied.
     * The target of 0.9 is for a larger map, in which sessions hold a smaller part of the memory: {@code ./farheap
     * bench kv --part elasticity} measures it.
     */
    @Test
    void withMixedSizesAndSeveralSessionsMostOfTheMemoryIsInLiveObjects() throws Exception {
        long seed = System.nanoTime();
        try (TestSpace space = new TestSpace(1, 2, 8 * MIB, 20_000)) {
            mixedUntil(space, 0.88, 50, 2000, 6000, seed);
            if (!Effort.isFull()) {
                // The share of the first phase shows the difference, so a short run ends here.
                assertTrue(space.map.stats().segmentsEmptied() > 0);
                return;
            }
            mixedUntil(space, 0.75, 1000, 8000, 3000, seed + 100);
            assertTrue(space.map.stats().segmentsEmptied() > 0);
            Audit.of(space, List.of());
        }
    }

    /** @param least the share of the memory above which live objects have to be */
    private static void mixedUntil(TestSpace space, double least, int from, int to, int sets, long seed)
            throws Exception {
        mixed(space, from, to, sets, seed);
        double share = liveShare(space.map);
        for (int round = 1; round < 30 && share <= least; round++) {
            mixed(space, from, to, sets / 3, seed + 10 * round);
            share = liveShare(space.map);
        }
        assertTrue(share > least, share + " of the memory is in live objects, seed " + seed);
    }

    private static void mixed(TestSpace space, int least, int most, int sets, long seed) throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            SplittableRandom random = new SplittableRandom(seed + i);
            threads.add(Thread.ofPlatform().start(() -> {
                try (MapSession session = space.map.openSession()) {
                    for (int n = 0; n < sets; n++) {
                        long number = random.nextLong(80_000);
                        set(session, number, random.nextInt(least, most));
                        found(session, number, number + 1);
                    }
                } catch (Throwable e) {
                    failure.set(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(null, failure.get(), () -> "seed " + seed);
    }
}
