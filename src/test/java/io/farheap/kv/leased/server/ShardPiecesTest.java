package io.farheap.kv.leased.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.leased.format.LeaseClock;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedPieces;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Values of a shard that no block can hold. */
class ShardPiecesTest {

    private static final byte[] NOTHING = {};
    private static final long MEGABYTE = 1 << 20;
    private static final int LONG = 50_000;

    private final TestShard shard = new TestShard(MEGABYTE, 1000);
    private final Random random = new Random(3);

    private byte[] value(int bytes) {
        byte[] value = new byte[bytes];
        random.nextBytes(value);
        return value;
    }

    /** When all leases have ended and no object is there, no block is in use. */
    private static void assertAllIsFree(TestShard of, int keys) {
        for (int key = 0; key < keys; key++) {
            of.delete(key);
        }
        of.passMillis(60_000);
        for (int i = 0; i < 1000; i++) {
            of.get(9999);
        }
        assertEquals(0, of.shard.totals().objects());
        assertEquals(0, of.shard.totals().objectBytes());
        assertEquals(0, of.shard.totals().markedBytes());
        assertEquals(0, of.shard.totals().usedBytes());
    }

    @Test
    void valuesOfAnyLengthAreFoundAndReplaced() {
        int one = LeasedCalls.mostValueBytes(12);
        int piece = LeasedPieces.PIECE_BYTES;
        int[] lengths = {
            one - 1, one, one + 1, piece, piece + 1, 2 * piece - 1, 2 * piece, 17 * piece + 5, 100, 300_000, 0, LONG
        };
        for (int bytes : lengths) {
            byte[] value = value(bytes);
            assertEquals(KvStatus.DONE, shard.set(1, value));
            assertArrayEquals(value, shard.get(1));
            assertEquals(bytes > one, shard.answer.inPieces);
            assertTrue(shard.shard.totals().objectBytes() >= bytes);
            shard.passMillis(20_000);
        }
        assertEquals(1, shard.shard.totals().objects());
        assertAllIsFree(shard, 2);
    }

    /** The client changes the value while the server copies it, or its WRITE came late: the old value stays. */
    @Test
    void aTornValueIsNotStored() {
        byte[] before = value(LONG);
        shard.set(1, before);
        long used = shard.shard.totals().usedBytes();
        for (long at : new long[] {0, LeasedPieces.PIECE_BYTES, LONG - 1}) {
            shard.whenWritten = () -> shard.area.set(JAVA_BYTE, at, (byte) ~shard.area.get(JAVA_BYTE, at));
            assertEquals(LeasedCalls.TORN, shard.set(1, value(LONG)));
            assertEquals(LeasedCalls.TORN, shard.set(2, value(LONG)));
        }
        shard.whenWritten = () -> shard.area.fill((byte) 0);
        assertEquals(LeasedCalls.TORN, shard.set(1, value(LONG)));
        assertEquals(LeasedPieces.count(LONG), shard.liveBlocks(NOTHING), "a free block says live");
        shard.whenWritten = () -> {};
        assertArrayEquals(before, shard.get(1));
        assertNull(shard.get(2));
        assertEquals(used, shard.shard.totals().usedBytes());
        assertAllIsFree(shard, 2);
    }

    @Test
    void conditionsAndTimesToLiveHoldForThem() {
        byte[] first = value(LONG);
        byte[] second = value(70_000);
        byte[] key = TestShard.key(1);
        assertEquals(KvStatus.ABSENT, shard.call(LeasedCalls.REPLACE, key, first, 0, 0));
        assertEquals(KvStatus.DONE, shard.call(LeasedCalls.ADD, key, first, 0, 1000));
        long version = shard.answer.version;
        assertEquals(KvStatus.EXISTS, shard.call(LeasedCalls.ADD, key, second, 0, 0));
        assertEquals(KvStatus.CHANGED, shard.call(LeasedCalls.COMPARE_AND_SET, key, second, version + 1, 0));
        assertArrayEquals(first, shard.get(1));
        assertEquals(KvStatus.DONE, shard.call(LeasedCalls.COMPARE_AND_SET, key, second, version, 1000));
        assertNotEquals(version, shard.answer.version);
        assertEquals(KvStatus.NOT_A_NUMBER, shard.call(LeasedCalls.INCREMENT, key, NOTHING, 1, 0));
        assertArrayEquals(second, shard.get(1));
        shard.passMillis(1001);
        assertNull(shard.get(1));
        assertAllIsFree(shard, 2);
    }

    /** A shorter life needs another index, which has the same pieces. */
    @Test
    void aTouchKeepsThePieces() {
        byte[] value = value(LONG);
        shard.set(1, value);
        long version = shard.answer.version;
        assertArrayEquals(value, shard.get(1));
        assertTrue(shard.answer.termNanos > 0);
        int index = shard.answer.unit;
        int piece = shard.pieceUnit(2);
        assertEquals(KvStatus.DONE, shard.call(LeasedCalls.TOUCH, TestShard.key(1), NOTHING, 0, 100));
        assertEquals(LeasedBlock.DEAD, (int) (shard.mark(index) >>> 48));
        assertArrayEquals(value, shard.get(1));
        assertEquals(version, shard.answer.version);
        assertEquals(piece, shard.pieceUnit(2));
        assertEquals(1, shard.shard.totals().objects());
        shard.passMillis(101);
        assertNull(shard.get(1));
        assertEquals(LeasedBlock.DEAD, (int) (shard.mark(piece) >>> 48));
        assertAllIsFree(shard, 2);
    }

    /** What the object leases, its pieces are leased too. */
    @Test
    void piecesStayUntilTheLeaseHasEnded() {
        shard.set(1, value(LONG));
        shard.get(1);
        long term = shard.answer.termNanos;
        assertTrue(term > 0);
        int unit = shard.pieceUnit(1);
        byte[] before = shard.copy(unit + 1, 1000);
        shard.set(1, value(100));
        assertEquals(LeasedBlock.DEAD, (int) (shard.mark(unit) >>> 48));
        shard.nanos += LeaseClock.ofServer(term) - 1;
        for (int i = 0; i < 200; i++) {
            shard.set(1000 + i, value(16_000));
        }
        assertArrayEquals(before, shard.copy(unit + 1, 1000));
        shard.nanos += 1;
        for (int i = 0; i < 200; i++) {
            shard.set(1000 + i, value(16_000));
        }
        assertTrue(!Arrays.equals(before, shard.copy(unit + 1, 1000)));
    }

    /** No answer has such a value: what was got is kept for a moment, so that it can be read without a lease. */
    @Test
    void whatWasGotIsHeld() {
        TestShard without = new TestShard(MEGABYTE, 1000, 0, 0);
        without.set(1, value(LONG));
        assertNotNull(without.get(1));
        assertEquals(0, without.answer.termNanos);
        long incarnation = LeasedBlock.incarnation(without.mark(without.answer.unit));
        int unit = without.answer.unit;
        for (int i = 0; i < 30; i++) {
            without.set(1, value(LONG));
        }
        assertEquals(incarnation, LeasedBlock.incarnation(without.mark(unit)));
        without.passMillis(30);
        for (int i = 0; i < 30; i++) {
            without.set(1, value(LONG));
        }
        assertNotEquals(incarnation, LeasedBlock.incarnation(without.mark(unit)));
    }

    /** The lease of a key that is set again and again is shorter than reading the pieces takes: they are held, too. */
    @Test
    void whatHasAShortLeaseIsHeld() {
        for (boolean renewed : new boolean[] {false, true}) {
            long term = renewed ? 0 : TestShard.TERM;
            TestShard of = new TestShard(4 * MEGABYTE, 4000, term, term);
            for (int i = 0; i < 2; i++) {
                of.set(1, value(LONG));
                assertNotNull(of.get(1));
                of.passMillis(1);
            }
            of.set(1, value(LONG));
            assertNotNull(of.get(1));
            if (renewed) {
                of.passMillis(25);
                assertEquals(KvStatus.DONE, of.renew(1, of.answer.incarnation));
            }
            int pieces = LeasedPieces.count(LONG);
            int[] units = new int[pieces];
            long[] incarnations = new long[pieces];
            for (int i = 0; i < pieces; i++) {
                units[i] = of.pieceUnit(i);
                incarnations[i] = LeasedBlock.incarnation(of.mark(units[i]));
            }
            int index = of.answer.unit;
            long incarnation = of.answer.incarnation;
            if (!renewed) {
                assertTrue(of.answer.termNanos > 0 && of.answer.termNanos < 5_000_000, of.answer.termNanos + " ns");
                of.passMillis(10);
            }
            for (int i = 0; i < 30; i++) {
                of.set(1, value(LONG));
            }
            assertEquals(incarnation, LeasedBlock.incarnation(of.mark(index)));
            for (int i = 0; i < pieces; i++) {
                assertEquals(incarnations[i], LeasedBlock.incarnation(of.mark(units[i])), "piece " + i);
            }
        }
    }

    @Test
    void aValueThatTheShardCannotHaveEvictsNothing() {
        for (int key = 0; key < 300; key++) {
            shard.set(key, value(100));
        }
        assertEquals(KvStatus.NO_ROOM, shard.set(1000, value(2 << 20)));
        assertEquals(0, shard.shard.totals().evicted());
        assertEquals(300, shard.shard.totals().objects());
    }

    /** Twelve segments of the fourteen are the value's, and objects of others have them. */
    @Test
    void aTornValueEvictsNothing() {
        for (int key = 0; key < 60; key++) {
            shard.set(key, value(15_000));
        }
        long evicted = shard.shard.totals().evicted();
        long objects = shard.shard.totals().objects();
        for (int at : new int[] {0, 350_000, 699_999}) {
            shard.whenWritten = () -> flip(at);
            assertEquals(LeasedCalls.TORN, shard.set(1000, value(700_000)));
        }
        shard.whenWritten = () -> {};
        assertEquals(evicted, shard.shard.totals().evicted());
        assertEquals(objects, shard.shard.totals().objects());
        byte[] value = value(700_000);
        assertEquals(KvStatus.DONE, shard.set(1000, value));
        assertArrayEquals(value, shard.get(1000));
    }

    private void flip(long at) {
        shard.area.set(JAVA_BYTE, at, (byte) ~shard.area.get(JAVA_BYTE, at));
    }

    /** The shard has no room for both: the old one goes first, unless it is leased. */
    @Test
    void aValueOfMoreThanHalfTheShardIsReplaced() {
        for (int key = 100; key < 400; key++) {
            shard.set(key, value(100));
        }
        byte[] value = value(600_000);
        assertEquals(KvStatus.DONE, shard.set(1, value));
        assertEquals(KvStatus.DONE, shard.set(1, value));
        assertArrayEquals(value, shard.get(1));
        assertEquals(301, shard.shard.totals().objects());
        long evicted = shard.shard.totals().evicted();
        assertEquals(KvStatus.NO_ROOM, shard.set(1, value(600_000)));
        assertEquals(evicted, shard.shard.totals().evicted());
        assertArrayEquals(value, shard.get(1));
        shard.passMillis(60_000);
        byte[] key = TestShard.key(1);
        assertEquals(KvStatus.NO_ROOM, shard.call(LeasedCalls.REPLACE, key, value(600_000), 0, 0));
        assertArrayEquals(value, shard.get(1));
        shard.passMillis(60_000);
        byte[] next = value(610_000);
        assertEquals(KvStatus.DONE, shard.set(1, next));
        assertArrayEquals(next, shard.get(1));
        assertEquals(301, shard.shard.totals().objects());
        assertAllIsFree(shard, 400);
    }

    /** A value of nearly the shard's size is stored, or nothing is evicted for it. */
    @Test
    void aValueEvictsNothingIfItsIndexHasNoRoom() {
        int stored = 0;
        int refused = 0;
        for (int count = 46; count < 58; count++) {
            for (int rest : new int[] {1, 5_000, LeasedPieces.PIECE_BYTES}) {
                shard.set(5, value(100));
                long evicted = shard.shard.totals().evicted();
                boolean done = shard.set(1, value((count - 1) * LeasedPieces.PIECE_BYTES + rest)) == KvStatus.DONE;
                stored += done ? 1 : 0;
                refused += done ? 0 : 1;
                if (!done) {
                    assertEquals(evicted, shard.shard.totals().evicted(), count + " pieces, the last of " + rest);
                }
                shard.delete(1);
            }
        }
        assertTrue(stored > 10 && refused > 10, stored + " stored, " + refused + " refused");
    }

    /** That it finds no room says little of the objects, which are small. */
    @Test
    void aLargeValueThatFindsNoRoomEndsNoLeases() {
        for (int key = 0; key < 40; key++) {
            shard.set(key, value(15_000));
            shard.get(key);
            assertTrue(shard.answer.termNanos > 0);
        }
        assertEquals(KvStatus.NO_ROOM, shard.set(1000, value(600_000)));
        shard.get(3);
        assertTrue(shard.answer.termNanos > 0);
    }

    /** What counts is what was copied, and not what the area has before, in between or afterwards. */
    @Test
    void theCopiesDecide() {
        AtomicInteger steps = new AtomicInteger();
        shard.betweenSteps = () -> {
            if (steps.incrementAndGet() <= 2) {
                // It is copied in the second step, as no client has meant it.
                flip(5L * LeasedPieces.PIECE_BYTES);
            }
        };
        assertEquals(LeasedCalls.TORN, shard.set(1, value(200_000)));
        steps.set(0);
        shard.betweenSteps = () -> {
            if (steps.incrementAndGet() == 1) {
                flip(5);
            }
        };
        byte[] value = value(200_000);
        assertEquals(KvStatus.DONE, shard.set(1, value));
        assertArrayEquals(value, shard.get(1));
        assertEquals(4, steps.get(), "thirteen pieces, four at a time");
    }

    /** A long value is copied in steps; between them other calls make room, also by emptying segments. */
    @Test
    void otherCallsAreCarriedOutBetweenTheSteps() {
        AtomicInteger others = new AtomicInteger(100);
        int stored = 0;
        for (int round = 0; round < 40; round++) {
            byte[] last = value(300);
            shard.betweenSteps = () -> {
                for (int i = 0; i < 30; i++) {
                    shard.set(others.incrementAndGet(), value(random.nextInt(9000)));
                }
                if (shard.set(1, last) == KvStatus.DONE) {
                    assertArrayEquals(last, shard.get(1));
                }
            };
            byte[] value = value(200_000 + random.nextInt(100_000));
            int status = shard.set(1, value);
            shard.betweenSteps = () -> {};
            assertTrue(status == KvStatus.DONE || status == KvStatus.NO_ROOM, "status " + status);
            stored += status == KvStatus.DONE ? 1 : 0;
            if (status == KvStatus.DONE) {
                assertArrayEquals(value, shard.get(1));
            }
            shard.passMillis(20_000);
        }
        assertTrue(stored > 20, stored + " of 40 stored");
        assertTrue(shard.shard.totals().evicted() > 1000, shard.shard.totals()::toString);
        assertAllIsFree(shard, others.get() + 1);
    }

    /** The condition holds when the copying begins, and not when all is there: nothing is stored. */
    @Test
    void aConditionThatHoldsNoMoreStoresNothing() {
        shard.betweenSteps = () -> shard.set(1, value(10));
        assertEquals(KvStatus.EXISTS, shard.call(LeasedCalls.ADD, TestShard.key(1), value(LONG), 0, 0));
        shard.betweenSteps = () -> shard.delete(1);
        assertEquals(KvStatus.ABSENT, shard.call(LeasedCalls.REPLACE, TestShard.key(1), value(LONG), 0, 0));
        shard.betweenSteps = () -> {};
        assertEquals(0, shard.shard.totals().objects());
        assertAllIsFree(shard, 2);
    }

    /** A call of another key stops between the steps: the shard is put in order, which frees what was copied. */
    @Test
    void aShardThatIsPutInOrderForgetsWhatWasCopied() {
        byte[] before = value(LONG);
        shard.set(1, before);
        AtomicInteger countdown = new AtomicInteger();
        shard.shard.fail(() -> {
            if (countdown.decrementAndGet() == 0) {
                throw new Stop();
            }
        });
        shard.betweenSteps = () -> {
            countdown.set(1);
            assertThrows(Stop.class, () -> shard.set(2, value(10)));
        };
        assertEquals(LeasedCalls.TORN, shard.set(1, value(200_000)));
        shard.betweenSteps = () -> {};
        assertArrayEquals(before, shard.get(1));
        assertEquals(1, shard.shard.totals().rebuilt());
        assertAllIsFree(shard, 3);
    }

    /** Sizes change all the time: nothing is wrong, and nothing is lost. */
    @Test
    void aShardThatIsFullOfThemMakesRoomForMore() {
        TestShard four = new TestShard(4 * MEGABYTE, 4000);
        Map<Integer, byte[]> stored = new HashMap<>();
        int hits = 0;
        int noRoom = 0;
        for (int i = 0; i < 2000; i++) {
            int key = random.nextInt(100);
            byte[] value = value(random.nextInt(4) == 0 ? random.nextInt(500) : random.nextInt(200_000));
            if (four.set(key, value) == KvStatus.DONE) {
                stored.put(key, value);
            } else {
                noRoom++;
            }
            int looked = random.nextInt(100);
            byte[] found = four.get(looked);
            if (found != null) {
                hits++;
                assertArrayEquals(stored.get(looked), found);
            }
            four.passMillis(random.nextInt(200));
        }
        assertTrue(four.shard.totals().evicted() > 100, four.shard.totals()::toString);
        assertTrue(hits > 200 && noRoom < 1000, hits + " hits, " + noRoom + " without room");
        assertAllIsFree(four, 100);
    }

    private static final class Stop extends RuntimeException {

        private static final long serialVersionUID = 1;
    }

    @Test
    void eachPrefixOfACallIsAStateToContinueFrom() {
        Map<Integer, byte[]> expected = new HashMap<>();
        AtomicInteger countdown = new AtomicInteger();
        shard.shard.fail(() -> {
            if (countdown.decrementAndGet() == 0) {
                throw new Stop();
            }
        });
        int stopped = 0;
        for (int i = 0; i < 4000; i++) {
            int key = random.nextInt(12);
            byte[] value = value(random.nextInt(3) == 0 ? random.nextInt(100) : random.nextInt(60_000));
            int what = random.nextInt(6);
            byte[] before = expected.get(key);
            byte[] after = what == 0 ? null : what < 3 ? before : value;
            boolean torn = random.nextInt(4) == 0;
            shard.whenWritten = () -> {
                if (torn) {
                    flip(0);
                }
            };
            countdown.set(random.nextInt(3) == 0 ? 1 + random.nextInt(20) : 0);
            boolean ended = false;
            try {
                switch (what) {
                    case 0 -> shard.delete(key);
                    case 1 -> shard.get(key);
                    case 2 -> {
                        // A life that ends before the lease needs another index.
                        int life = random.nextBoolean() ? 100 : 100_000_000;
                        shard.call(LeasedCalls.TOUCH, TestShard.key(key), NOTHING, 0, life);
                    }
                    default -> {
                        if (shard.set(key, value) != KvStatus.DONE) {
                            after = before;
                        }
                    }
                }
                ended = true;
            } catch (Stop e) {
                stopped++;
                assertTrue(shard.liveBlocks(TestShard.key(key)) <= 1);
            }
            countdown.set(0);
            byte[] found = shard.get(key);
            if (found != null) {
                assertTrue(Arrays.equals(found, after) || !ended && Arrays.equals(found, before), "call " + i);
                expected.put(key, found);
            } else {
                // It was deleted or evicted, its time has ended, or its old block was marked when the call stopped.
                assertTrue(!ended || after != value, "call " + i);
                expected.remove(key);
            }
            shard.passMillis(random.nextInt(300));
        }
        assertTrue(stopped > 300, "only " + stopped + " calls stopped");
        assertEquals(stopped, shard.shard.totals().rebuilt());
        for (int key = 0; key < 12; key++) {
            byte[] found = shard.get(key);
            if (found != null) {
                assertArrayEquals(expected.get(key), found);
            }
        }
        assertAllIsFree(shard, 12);
    }
}
