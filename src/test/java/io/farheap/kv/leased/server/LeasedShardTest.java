package io.farheap.kv.leased.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.leased.format.LeaseClock;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedCalls;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LeasedShardTest {

    private static final byte[] NOTHING = {};
    private static final long MEGABYTE = 1 << 20;

    private final TestShard shard = new TestShard(MEGABYTE, 1000);

    private static byte[] value(int bytes, int fill) {
        byte[] value = new byte[bytes];
        Arrays.fill(value, (byte) fill);
        return value;
    }

    private int store(int operation, int key, byte[] value, long argument) {
        return shard.call(operation, TestShard.key(key), value, argument, 0);
    }

    @Test
    void whatIsStoredIsFoundUntilItIsDeleted() {
        assertNull(shard.get(1));
        assertEquals(KvStatus.DONE, shard.set(1, value(100, 7)));
        assertEquals(KvStatus.DONE, shard.set(2, value(0, 0)));
        assertArrayEquals(value(100, 7), shard.get(1));
        assertArrayEquals(value(0, 0), shard.get(2));
        assertEquals(KvStatus.DONE, shard.set(1, value(5000, 8)));
        assertArrayEquals(value(5000, 8), shard.get(1));
        assertTrue(shard.delete(1));
        assertNull(shard.get(1));
        assertEquals(KvStatus.ABSENT, shard.call(LeasedCalls.DELETE, TestShard.key(1), NOTHING, 0, 0));
        assertEquals(1, shard.shard.totals().objects());
    }

    @Test
    void conditionsAreChecked() {
        assertEquals(KvStatus.ABSENT, store(LeasedCalls.REPLACE, 1, value(8, 1), 0));
        assertEquals(KvStatus.ABSENT, store(LeasedCalls.COMPARE_AND_SET, 1, value(8, 1), 5));
        assertEquals(KvStatus.DONE, store(LeasedCalls.ADD, 1, value(8, 1), 0));
        long version = shard.answer.version;
        assertNotEquals(0, version);
        assertEquals(KvStatus.EXISTS, store(LeasedCalls.ADD, 1, value(8, 2), 0));
        assertEquals(KvStatus.CHANGED, store(LeasedCalls.COMPARE_AND_SET, 1, value(8, 3), version + 1));
        assertArrayEquals(value(8, 1), shard.get(1));
        assertEquals(version, shard.answer.version);
        assertEquals(KvStatus.DONE, store(LeasedCalls.COMPARE_AND_SET, 1, value(8, 4), version));
        assertNotEquals(version, shard.answer.version);
        assertEquals(KvStatus.DONE, store(LeasedCalls.REPLACE, 1, value(9, 5), 0));
        assertArrayEquals(value(9, 5), shard.get(1));
    }

    @Test
    void aNumberIsAddedTo() {
        assertEquals(KvStatus.ABSENT, store(LeasedCalls.INCREMENT, 1, NOTHING, 5));
        shard.set(1, value(9, 0));
        assertEquals(KvStatus.NOT_A_NUMBER, store(LeasedCalls.INCREMENT, 1, NOTHING, 5));
        shard.set(1, value(8, 0));
        assertEquals(KvStatus.DONE, store(LeasedCalls.INCREMENT, 1, NOTHING, 5));
        assertEquals(KvStatus.DONE, store(LeasedCalls.INCREMENT, 1, NOTHING, -7));
        assertEquals(
                -2,
                ByteBuffer.wrap(shard.value()).order(ByteOrder.LITTLE_ENDIAN).getLong());
    }

    /** The object of queue n has n times the term, and none more than the longest. */
    @Test
    void termsGrowWithTheLogarithmOfTheUses() {
        shard.set(1, value(8, 1));
        assertEquals(0, shard.answer.termNanos);
        for (int uses = 2; uses < 5000; uses++) {
            shard.get(1);
            int queue = 31 - Integer.numberOfLeadingZeros(uses);
            assertEquals(Math.min(queue * TestShard.TERM, TestShard.MOST_TERM), shard.answer.termNanos, "use " + uses);
        }
    }

    /**
     * A block that was replaced keeps its bytes until its lease is over by the server's clock, and its mark at once.
     */
    @Test
    void aMarkedBlockStaysUntilItsLeaseIsOver() {
        shard.set(1, value(100, 1));
        shard.get(1);
        int unit = shard.answer.unit;
        long incarnation = shard.answer.incarnation;
        long term = shard.answer.termNanos;
        assertTrue(term > 0);
        byte[] before = shard.copy(unit, 128);
        shard.set(1, value(100, 2));
        assertEquals(LeasedBlock.mark(incarnation, LeasedBlock.DEAD), shard.mark(unit));
        shard.nanos += LeaseClock.ofServer(term) - 1;
        for (int i = 0; i < 20_000; i++) {
            shard.set(1000 + i, value(100, 3));
        }
        byte[] after = shard.copy(unit, 128);
        ByteBuffer.wrap(before).order(ByteOrder.LITTLE_ENDIAN).putLong(0, shard.mark(unit));
        assertArrayEquals(before, after);
        assertEquals(LeasedBlock.mark(incarnation, LeasedBlock.DEAD), shard.mark(unit));
        shard.nanos += 1;
        for (int i = 0; i < 20_000; i++) {
            shard.set(1000 + i, value(100, 3));
        }
        assertTrue(LeasedBlock.incarnation(shard.mark(unit)) > incarnation);
        assertEquals(0, shard.shard.totals().markedBytes());
    }

    /** The server keeps a block for longer than the client uses it, whatever their clocks do within the bound. */
    @Test
    void aClientsLeaseEndsBeforeTheServers() {
        for (long term : new long[] {1, 1000, TestShard.TERM, TestShard.MOST_TERM}) {
            long most = 1_000_000 + LeaseClock.DRIFT_PER_MILLION;
            long least = 1_000_000 - LeaseClock.DRIFT_PER_MILLION;
            // The client's clock is slow: so much time passes at most while it counts its term.
            double client = (double) LeaseClock.ofClient(term) / least * 1e6;
            double server = (double) LeaseClock.ofServer(term) / most * 1e6;
            assertTrue(client <= server, term + ": " + client + " and " + server);
        }
    }

    @Test
    void anObjectWhoseTimeHasEndedIsMarkedBeforeItIsAbsent() {
        shard.set(1, value(100, 1), 1000);
        shard.get(1);
        int unit = shard.answer.unit;
        long incarnation = shard.answer.incarnation;
        assertTrue(shard.answer.termNanos <= 1_000_000_000L);
        shard.passMillis(999);
        assertNotNull(shard.get(1));
        shard.passMillis(2);
        assertNull(shard.get(1));
        assertEquals(LeasedBlock.mark(incarnation, LeasedBlock.DEAD), shard.mark(unit));
    }

    @Test
    void aTouchChangesTheTimeAndNotTheVersion() {
        shard.set(1, value(100, 1), 1000);
        long version = shard.answer.version;
        shard.get(1);
        int unit = shard.answer.unit;
        assertEquals(KvStatus.DONE, shard.call(LeasedCalls.TOUCH, TestShard.key(1), NOTHING, 0, 60_000));
        shard.passMillis(20_000);
        assertArrayEquals(value(100, 1), shard.get(1));
        assertEquals(unit, shard.answer.unit, "a longer time needs no other block");
        assertEquals(version, shard.answer.version);
        assertTrue(shard.answer.termNanos > 500_000_000L);
        // Shorter than the lease that was just given: whoever reads the old block must not find it live.
        assertEquals(KvStatus.DONE, shard.call(LeasedCalls.TOUCH, TestShard.key(1), NOTHING, 0, 100));
        assertEquals(LeasedBlock.DEAD, (int) (shard.mark(unit) >>> 48));
        assertArrayEquals(value(100, 1), shard.get(1));
        assertEquals(version, shard.answer.version);
        shard.passMillis(101);
        assertNull(shard.get(1));
        assertEquals(KvStatus.ABSENT, shard.call(LeasedCalls.TOUCH, TestShard.key(1), NOTHING, 0, 100));
    }

    @Test
    void aLeaseIsRenewedForTheSameBlockAlone() {
        shard.set(1, value(100, 1));
        long incarnation = shard.answer.incarnation;
        assertEquals(KvStatus.DONE, shard.renew(1, incarnation));
        assertEquals(TestShard.TERM, shard.answer.termNanos);
        assertEquals(1, shard.shard.totals().renewed());
        shard.set(1, value(100, 2));
        assertEquals(KvStatus.CHANGED, shard.renew(1, incarnation));
        assertEquals(0, shard.answer.termNanos);
        shard.delete(1);
        assertEquals(KvStatus.ABSENT, shard.renew(1, incarnation));
    }

    /** READs that clients report make an object popular; of no other block, and no more than their client can make. */
    @Test
    void reportedReadsCount() {
        shard.set(1, value(100, 1));
        int unit = shard.answer.unit;
        long incarnation = shard.answer.incarnation;
        shard.report(unit, incarnation, 62, 1000);
        shard.get(1);
        assertEquals(6 * TestShard.TERM, shard.answer.termNanos);
        shard.report(unit, incarnation, -1, 64);
        shard.get(1);
        assertEquals(7 * TestShard.TERM, shard.answer.termNanos);
        assertEquals(62 + 64, shard.shard.totals().reported());
        assertEquals((1L << 32) - 1 - 64, shard.shard.totals().capped());
        shard.report(unit, incarnation + 1, 1000, 1000);
        Random random = new Random(1);
        for (int i = 0; i < 100_000; i++) {
            int any = i < 50_000 ? random.nextInt() : random.nextInt((int) (MEGABYTE / LeasedBlock.UNIT_BYTES));
            shard.report(any, 50 + i % 100, 1000, 1000);
        }
        shard.set(1, value(100, 2));
        shard.report(unit, incarnation, 1000, 1000);
        assertEquals(62 + 64, shard.shard.totals().reported());
    }

    /** What was used once goes first, the least recent of it first; what was used again stays. */
    @Test
    void theHeadOfTheLowestQueueIsEvicted() {
        shard.set(1, value(1000, 1));
        for (int i = 0; i < 7; i++) {
            shard.get(1);
        }
        int filled = 0;
        while (shard.shard.totals().evicted() == 0) {
            shard.set(100 + filled++, value(1000, 2));
        }
        shard.set(100 + filled++, value(1000, 2));
        shard.passMillis(100_000);
        assertNotNull(shard.get(1));
        assertNull(shard.get(100));
        assertNotNull(shard.get(100 + filled - 1));
    }

    /** Objects that are used no more sink, queue by queue, and are evicted in the end. */
    @Test
    void whatWasPopularSinks() {
        shard.set(1, value(1000, 1));
        for (int i = 0; i < 100; i++) {
            shard.get(1);
        }
        boolean there = true;
        for (int round = 0; round < 40 && there; round++) {
            shard.passMillis(60_000);
            for (int i = 0; i < 2000; i++) {
                shard.set(1000 + i, value(1000, 2));
                shard.get(1000 + i);
            }
            there = shard.liveBlocks(TestShard.key(1)) > 0;
        }
        assertFalse(there, "an object that was popular an hour ago is still there");
    }

    /** No set waits for a lease: it evicts what is not leased, or says that there is no room; and that ends. */
    @Test
    void ifAllIsLeasedThereIsNoRoomUntilLeasesAreOver() {
        int keys = 0;
        while (shard.shard.totals().evicted() == 0) {
            shard.set(keys++, value(1000, 1));
        }
        for (int i = 0; i < keys; i++) {
            for (int uses = 0; uses < 4; uses++) {
                shard.get(i);
            }
        }
        int refused = 0;
        for (int i = 0; i < 200; i++) {
            refused += shard.set(5000 + i, value(1000, 2)) == KvStatus.NO_ROOM ? 1 : 0;
        }
        assertTrue(refused > 100, refused + " of 200 sets found no room");
        assertNotNull(shard.get(keys - 1));
        assertEquals(0, shard.answer.termNanos, "a lease is given while no set finds room");
        shard.passMillis(11_000);
        assertEquals(KvStatus.DONE, shard.set(9000, value(1000, 2)));
    }

    /** Each set of a hot key leaves a block that is marked and leased; their share of the memory is bounded. */
    @Test
    void markedBlocksAreBounded() {
        long most = 0;
        for (int i = 0; i < 20_000; i++) {
            int key = i % 5;
            shard.set(key, value(1000, i));
            shard.get(key);
            shard.get(key);
            shard.passMillis(1);
            most = Math.max(most, shard.shard.totals().markedBytes());
        }
        long all = shard.shard.totals().segmentBytes();
        assertTrue(most > all / 32, most + " of " + all + " bytes were marked at most");
        assertTrue(most <= all / 8 + 6 * 1152, most + " of " + all + " bytes were marked");
        assertTrue(shard.shard.totals().denied() > 0);
    }

    /** Memory changes its size class: after small objects there is room for large ones, and back. */
    @Test
    void segmentsServeAnySize() {
        for (int size : new int[] {20, 16_000, 700, 20, 4000}) {
            int stored = 0;
            for (int i = 0; i < 3000; i++) {
                stored += shard.set(i, value(size, i)) == KvStatus.DONE ? 1 : 0;
                shard.passMillis(50);
            }
            assertEquals(3000, stored, "of " + size + " bytes");
            assertArrayEquals(value(size, 2999), shard.get(2999));
        }
    }

    /** More objects than entries: they evict each other. */
    @Test
    void entriesAreReusedToo() {
        TestShard few = new TestShard(MEGABYTE, 50);
        for (int i = 0; i < 1000; i++) {
            assertEquals(KvStatus.DONE, few.set(i, value(10, i)));
        }
        assertTrue(few.shard.totals().objects() <= 57, few.shard.totals()::toString);
        assertNotNull(few.get(999));
    }

    @Test
    void noIncarnationComesBack() {
        Random random = new Random(3);
        Map<Integer, Long> ofUnit = new HashMap<>();
        long last = 0;
        for (int i = 0; i < 20_000; i++) {
            if (shard.set(random.nextInt(300), value(random.nextInt(3000), i)) == KvStatus.DONE) {
                assertTrue(shard.answer.incarnation > last);
                last = shard.answer.incarnation;
                Long before = ofUnit.put(shard.answer.unit, last);
                assertTrue(before == null || before < last);
            }
            shard.get(random.nextInt(300));
            shard.passMillis(1);
        }
    }

    private static final class Stop extends RuntimeException {

        private static final long serialVersionUID = 1;
    }

    /**
     * A call stops at each point at which it may. At none of them does a key have two live blocks; and the next call
     * finds the object of before, or that of the call, or after a set of a known key none.
     */
    @Test
    void eachPrefixOfACallIsAStateToGoOnFrom() {
        Random random = new Random(5);
        Map<Integer, byte[]> expected = new HashMap<>();
        AtomicInteger countdown = new AtomicInteger();
        shard.shard.fail(() -> {
            if (countdown.decrementAndGet() == 0) {
                throw new Stop();
            }
        });
        int stopped = 0;
        for (int i = 0; i < 6000; i++) {
            int key = random.nextInt(40);
            byte[] value = value(1 + random.nextInt(300), i);
            boolean deletes = random.nextInt(4) == 0;
            countdown.set(random.nextInt(3) == 0 ? 1 + random.nextInt(8) : 0);
            byte[] before = expected.get(key);
            byte[] after = deletes ? null : value;
            boolean ended = false;
            try {
                if (deletes) {
                    assertEquals(before != null, shard.delete(key));
                } else {
                    assertEquals(KvStatus.DONE, shard.set(key, value));
                }
                ended = true;
            } catch (Stop e) {
                stopped++;
                assertTrue(shard.liveBlocks(TestShard.key(key)) <= 1);
            }
            countdown.set(0);
            byte[] found = shard.get(key);
            if (ended) {
                assertArrayEquals(after, found);
            } else {
                assertTrue(found == null || Arrays.equals(found, before) || Arrays.equals(found, after));
            }
            if (found == null) {
                expected.remove(key);
            } else {
                expected.put(key, found);
            }
            assertEquals(expected.size(), shard.shard.totals().objects());
            shard.passMillis(random.nextInt(300));
        }
        assertTrue(stopped > 500, "only " + stopped + " calls stopped");
        assertEquals(stopped, shard.shard.totals().rebuilt());
        // Nothing is lost: when all leases are over, all of the memory can be used.
        expected.keySet().forEach(key -> assertNotNull(shard.get(key)));
        shard.passMillis(60_000);
        for (int i = 0; i < 2000 && shard.shard.totals().markedBytes() > 0; i++) {
            shard.get(9999);
        }
        assertEquals(0, shard.shard.totals().markedBytes());
        for (int key = 0; key < 40; key++) {
            shard.delete(key);
        }
        shard.passMillis(60_000);
        for (int i = 0; i < 2000; i++) {
            shard.get(9999);
        }
        assertEquals(0, shard.shard.totals().usedBytes());
    }
}
