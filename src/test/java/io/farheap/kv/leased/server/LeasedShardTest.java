package io.farheap.kv.leased.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockAudit;
import io.farheap.kv.leased.format.LeaseClock;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.ShardShape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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

    /** They belong to another server from now on; clients have pointers to them. */
    @Test
    void keysThatHaveGoneAreMarked() {
        for (int key = 0; key < 100; key++) {
            shard.set(key, value(100, key));
            shard.get(key);
            shard.get(key);
        }
        shard.get(7);
        long block = (long) shard.answer.unit * LeasedBlock.UNIT_BYTES;
        long gone = hash(7);
        shard.shard.dropAllBut(shard.hash, hash -> hash != gone && (hash & 1) == 0);
        assertEquals(LeasedBlock.DEAD, (int) (LeasedBlock.markAt(shard.memory, block) >>> 48));
        for (int key = 0; key < 100; key++) {
            boolean kept = hash(key) != gone && (hash(key) & 1) == 0;
            assertArrayEquals(kept ? value(100, key) : null, shard.get(key));
        }
        assertTrue(shard.shard.totals().markedBytes() > 0, "what is leased is not used again yet");
        for (int key = 0; key < 100; key++) {
            assertEquals(KvStatus.DONE, shard.set(key, value(50, key)));
        }
    }

    @Test
    void anAuditFindsEachBlockOnce() {
        Random random = new Random(5);
        for (int i = 0; i < 5000; i++) {
            int key = random.nextInt(300);
            switch (random.nextInt(4)) {
                case 0 -> shard.delete(key);
                case 1 -> shard.get(key);
                default -> shard.set(key, value(random.nextInt(20) == 0 ? 9000 : random.nextInt(900), key));
            }
            shard.passMillis(random.nextInt(50));
            if (i % 500 == 0) {
                assertSound();
            }
        }
        assertSound();
        shard.get(7);
        BlockAudit other = shard.shard.audit(shard.hash, hash -> hash != hash(7));
        assertEquals(shard.get(7) == null ? 0 : 1, other.wrong(), "a key of another shard");
        shard.set(7, value(10, 7));
        long block = (long) shard.answer.unit * LeasedBlock.UNIT_BYTES;
        LeasedBlock.setMark(shard.memory, block, LeasedBlock.mark(shard.answer.incarnation, LeasedBlock.DEAD));
        assertEquals(1, shard.shard.audit(shard.hash, _ -> true).wrong(), "an object that is not live");
    }

    private void assertSound() {
        BlockAudit audit = shard.shard.audit(shard.hash, _ -> true);
        assertTrue(audit.adds(), audit::toString);
        assertEquals(0, audit.wrong());
        assertEquals(0, audit.lost(), audit::toString);
        assertEquals(shard.shard.totals().objects(), audit.named());
    }

    private long hash(int key) {
        byte[] padded = Arrays.copyOf(TestShard.key(key), 16);
        return shard.hash.of(MemorySegment.ofArray(padded), 0, 12);
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
        // Shorter than the lease that was just given: a client that reads the old block must not find it live.
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

    /** A lease that is held when its block is marked is not over; its block is reclaimed late. */
    @Test
    void leasesThatHaveEndedAreCountedOnce() {
        shard.set(1, value(100, 1));
        shard.get(1);
        assertEquals(TestShard.TERM, shard.answer.termNanos);
        shard.passMillis(500);
        shard.get(1);
        assertEquals(0, shard.shard.totals().over());
        shard.passMillis(20_000);
        shard.get(1);
        shard.get(1);
        assertEquals(1, shard.shard.totals().over());
        shard.set(1, value(100, 2));
        assertEquals(1, shard.shard.totals().over());
        shard.get(1);
        assertTrue(shard.answer.termNanos > 0);
        shard.passMillis(60_000);
        shard.delete(1);
        assertEquals(2, shard.shard.totals().over());
        shard.set(2, value(100, 2));
        shard.delete(2);
        assertEquals(2, shard.shard.totals().over(), "it had none");
        assertEquals(1, shard.shard.totals().reclaimedLate());
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
            int key = i % 6;
            shard.set(key, value(16_000, i));
            shard.get(key);
            shard.get(key);
            shard.passMillis(20);
            most = Math.max(most, shard.shard.totals().markedBytes());
        }
        long all = shard.shard.totals().segmentBytes();
        assertTrue(most > all / 16, most + " of " + all + " bytes were marked at most");
        assertTrue(most <= all / 8 + 7 * 16_384, most + " of " + all + " bytes were marked");
        assertTrue(shard.shard.totals().denied() > 0);
    }

    /**
     * A block is not leased for much longer than its key's blocks live: what is set all the time takes no leases from
     * the other keys, and what is not read gets none.
     */
    @Test
    void aKeyThatIsSetAllTheTimeTakesNoLeasesFromOthers() {
        TestShard large = new TestShard(16 * MEGABYTE, 29_000);
        large.set(1, value(8, 0));
        large.set(2, value(8, 0));
        large.set(3, value(8, 0));
        large.set(4, value(1000, 0));
        for (int i = 0; i < 1000; i++) {
            large.get(2);
        }
        long most = 0;
        for (int i = 0; i < 5000 * 5; i++) {
            assertEquals(KvStatus.DONE, large.call(LeasedCalls.INCREMENT, TestShard.key(1), NOTHING, 1, 0));
            assertEquals(0, large.answer.termNanos);
            large.set(3, value(8, i));
            if (i % 50 == 0) {
                large.set(4, value(1000, i));
                large.get(3);
                large.get(4);
                large.get(2);
                assertTrue(large.answer.termNanos >= TestShard.MOST_TERM * 9 / 10, "at " + i);
            }
            large.nanos += 200_000;
            most = Math.max(most, large.shard.totals().markedBytes());
        }
        assertTrue(most <= 64 << 10, most + " bytes were marked");
        // A key that is not set any more is leased for longer and longer.
        large.passMillis(1000);
        large.get(4);
        assertTrue(large.answer.termNanos >= 2 * TestShard.TERM, large.answer.termNanos + " ns");
    }

    /** The answer to a set has a lease only if the object that it has replaced was read. */
    @Test
    void whatIsNotReadIsNotLeased() {
        for (int i = 0; i < 100; i++) {
            shard.set(1, value(100, i));
            assertEquals(0, shard.answer.termNanos);
            shard.passMillis(1000);
        }
        shard.get(1);
        assertEquals(2 * 1000 * 1_000_000L, shard.answer.termNanos);
        shard.set(1, value(100, 1));
        assertTrue(shard.answer.termNanos > 0);
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

    /** Fills the shard with objects of a class, of which all but each 64th are read. @return how many there are */
    private static int fillAndLease(TestShard full, int reads) {
        int keys = 0;
        while (full.shard.totals().evicted() == 0) {
            full.set(keys++, value(900, 1));
        }
        for (int i = 1; i < keys; i++) {
            if (i % 64 != 32 && reads > 0) {
                full.get(i);
                full.report(full.answer.unit, full.answer.incarnation, reads, reads);
                full.get(i);
            }
        }
        return keys - 1;
    }

    /** A size class that has no segment gets one when leases are over, and not at once all that have no lease. */
    @Test
    void setsOfAnotherSizeDoNotEvictWhatIsLeased() {
        TestShard full = new TestShard(16 * MEGABYTE, 20_000);
        long there = fillAndLease(full, 2000);
        assertTrue(there > 10_000, there + " objects");
        assertEquals(there, full.shard.totals().objects());
        for (int i = 0; i < 64; i++) {
            assertEquals(KvStatus.NO_ROOM, full.set(100_000 + i, value(4000, 1)));
        }
        long evicted = there - full.shard.totals().objects();
        assertTrue(evicted <= 2 * 64, evicted + " objects were evicted");
        full.passMillis(10_100);
        assertEquals(KvStatus.DONE, full.set(100_000, value(4000, 1)));
        evicted = there + 1 - full.shard.totals().objects();
        assertTrue(evicted <= 3 * 64, evicted + " objects were evicted");
    }

    /** A segment of which nothing is leased is taken before one of which something is. */
    @Test
    void aSegmentThatIsNotLeasedIsEmptiedFirst() {
        TestShard full = new TestShard(16 * MEGABYTE, 20_000);
        int keys = fillAndLease(full, 0);
        for (int i = 1; i < keys / 2; i++) {
            full.get(i);
        }
        for (int i = 0; i < 1000; i++) {
            assertEquals(KvStatus.DONE, full.set(100_000 + i, value(4000, 1)), "set " + i);
        }
        for (int i = 1; i < keys / 2; i++) {
            assertNotNull(full.get(i), "key " + i);
        }
    }

    /** Objects that are used no more make room for those of another size, although no call of their class comes. */
    @Test
    void segmentsGoToTheSizeThatIsAskedFor() {
        TestShard full = new TestShard(16 * MEGABYTE, 20_000);
        int keys = fillAndLease(full, 8);
        for (int i = 0; i < 8 * keys; i++) {
            full.get(1 + i / 8);
        }
        full.passMillis(3_600_000);
        for (int i = 0; i < 10_000; i++) {
            assertEquals(KvStatus.DONE, full.set(100_000 + i, value(4000, 1)));
            full.passMillis(1);
        }
        for (int i = 9_800; i < 10_000; i++) {
            assertNotNull(full.get(100_000 + i), "object " + i);
        }
    }

    /** A head that was not used for the terms of several queues sinks through all of these at once. */
    @Test
    void whatWasNotUsedForLongSinksAtOnce() {
        shard.set(1, value(1000, 1));
        for (int i = 0; i < 1000; i++) {
            shard.get(1);
        }
        shard.passMillis(3_600_000);
        shard.set(2, value(1000, 1));
        shard.get(1);
        assertEquals(TestShard.TERM, shard.answer.termNanos);
    }

    /** The times of uses wrap: an object that was used a moment ago is recent after years too. */
    @Test
    void theTimeOfAUseWraps() {
        for (int years : new int[] {0, 4, 5, 8, 9}) {
            TestShard old = new TestShard(MEGABYTE, 1000);
            old.passMillis(years * 365L * 24 * 3_600_000);
            // The middle and the end of what 32 bits hold: a bit before both.
            old.passMillis(years == 4 ? (1L << 31) * 1000 / 16 - years * 365L * 24 * 3_600_000 - 100 : 0);
            old.passMillis(years == 8 ? (1L << 32) * 1000 / 16 - years * 365L * 24 * 3_600_000 - 100 : 0);
            old.set(1, value(1000, 1));
            for (int i = 0; i < 100; i++) {
                old.get(1);
            }
            long term = old.answer.termNanos;
            old.passMillis(200);
            old.set(2, value(1000, 1));
            old.set(3, value(1000, 1));
            old.renew(1, -1);
            old.get(1);
            assertEquals(term, old.answer.termNanos, years + " years");
            old.passMillis(term / 1_000_000 + 1000);
            old.set(4, value(1000, 1));
            old.set(5, value(1000, 1));
            old.get(1);
            assertEquals(term - TestShard.TERM, old.answer.termNanos, years + " years, a term later");
        }
    }

    /** A call takes back as many blocks as it needs, not all whose leases are over. */
    @Test
    void aCallDoesNotTakeAllMarkedBlocksBack() {
        TestShard large = new TestShard(4 * MEGABYTE, 20_000);
        int keys = 0;
        while (large.shard.totals().evicted() == 0) {
            large.set(keys++, value(100, 1));
        }
        for (int i = 0; i < keys; i++) {
            large.get(i);
        }
        for (int i = 0; i < keys; i++) {
            large.delete(i);
        }
        assertTrue(large.shard.totals().markedBytes() > 7000 * 192, "little is marked");
        large.passMillis(20_000);
        assertEquals(KvStatus.DONE, large.set(1, value(4000, 1)));
        assertTrue(large.shard.totals().reclaimedLate() < 1100, large.shard.totals()::toString);
    }

    /** A client that knows the hash may choose keys of one chain: the chain stays short. */
    @Test
    void aChainIsBounded() {
        int buckets = 1024;
        int[] chosen = new int[200];
        int found = 0;
        MemorySegment key = MemorySegment.ofArray(new byte[16]);
        for (int number = 0; found < chosen.length; number++) {
            byte[] bytes = TestShard.key(number);
            MemorySegment.copy(bytes, 0, key, ValueLayout.JAVA_BYTE, 0, bytes.length);
            if ((shard.hash.of(key, 0, bytes.length) & buckets - 1) == 5) {
                chosen[found++] = number;
            }
        }
        for (int each : chosen) {
            assertEquals(KvStatus.DONE, shard.set(each, value(10, each)));
            assertEquals(KvStatus.DONE, shard.set(each, value(10, each)));
        }
        assertEquals(64, shard.shard.totals().objects());
        assertEquals(chosen.length - 64, shard.shard.totals().evicted());
        for (int i = chosen.length - 64; i < chosen.length; i++) {
            assertArrayEquals(value(10, chosen[i]), shard.get(chosen[i]));
        }
    }

    @Test
    void aMapOfTooManyObjectsIsRefused() {
        for (long objects :
                new long[] {MEGABYTE, Integer.MAX_VALUE, 1L << 40, Long.MAX_VALUE / 9 * 8, Long.MAX_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> ShardShape.of(MEGABYTE, 1, objects), "for " + objects);
        }
        assertTrue(ShardShape.of(MEGABYTE, 1, 1000).entries() >= 1000);
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

    /**
     * The same in a shard that is always full, of objects of several sizes: calls stop while they evict, empty
     * segments, take blocks back and move objects down.
     */
    @Test
    void eachPrefixOfACallThatMakesRoomIsAStateToGoOnFrom() {
        TestShard small = new TestShard(256 << 10, 300);
        assertEquals(3 * ShardShape.SEGMENT_BYTES, small.shard.totals().segmentBytes());
        int[] sizes = {20, 700, 700, 3000, 9000};
        Random random = new Random(7);
        Map<Integer, byte[]> expected = new HashMap<>();
        AtomicInteger countdown = new AtomicInteger();
        small.shard.fail(() -> {
            if (countdown.decrementAndGet() == 0) {
                throw new Stop();
            }
        });
        int stopped = 0;
        int noRoom = 0;
        for (int i = 0; i < 12_000; i++) {
            int key = random.nextInt(150);
            byte[] value = value(sizes[random.nextInt(sizes.length)] + random.nextInt(50), i);
            int what = random.nextInt(8);
            byte[] before = expected.get(key);
            byte[] after = what == 0 ? null : what < 4 ? before : value;
            countdown.set(random.nextInt(3) == 0 ? 1 + random.nextInt(random.nextInt(4) == 0 ? 200 : 12) : 0);
            boolean ended = false;
            try {
                if (what == 0) {
                    small.delete(key);
                } else if (what < 4) {
                    small.get(key);
                } else if (small.set(key, value) == KvStatus.NO_ROOM) {
                    noRoom++;
                    after = before;
                } else {
                    before = value;
                }
                ended = true;
            } catch (Stop e) {
                stopped++;
                assertTrue(small.liveBlocks(TestShard.key(key)) <= 1);
            }
            countdown.set(0);
            byte[] found = small.get(key);
            if (found != null) {
                assertTrue(Arrays.equals(found, after) || !ended && Arrays.equals(found, before));
                expected.put(key, found);
            } else {
                assertTrue(!ended || what < 4 || after == null || after != value, "what was set is not there");
                expected.remove(key);
            }
            small.passMillis(random.nextInt(100));
        }
        assertTrue(stopped > 500 && noRoom < 3000, stopped + " stopped, " + noRoom + " without room");
        assertEquals(stopped, small.shard.totals().rebuilt());
        assertTrue(small.shard.totals().evicted() > 1000, small.shard.totals()::toString);
        for (int key = 0; key < 150; key++) {
            small.delete(key);
        }
        small.passMillis(60_000);
        for (int i = 0; i < 300; i++) {
            small.get(9999);
        }
        assertEquals(0, small.shard.totals().objects());
        assertEquals(0, small.shard.totals().markedBytes());
        assertEquals(0, small.shard.totals().usedBytes());
    }

    /** After a call that stopped, the least recent object is still the first to go. */
    @Test
    void aShardInOrderAgainKnowsWhatIsRecent() {
        int keys = 0;
        while (shard.shard.totals().evicted() == 0) {
            shard.set(keys++, value(900, 1));
        }
        // Key 0 is gone. The others are used in another order than that in which they were stored.
        int count = keys - 1;
        for (int i = 0; i < count; i++) {
            shard.get(1 + i * 13 % count);
            shard.passMillis(70);
        }
        shard.passMillis(2000);
        shard.shard.fail(() -> {
            throw new Stop();
        });
        assertThrows(Stop.class, () -> shard.delete(1 + (count - 1) * 13 % count));
        shard.shard.fail(() -> {});
        for (int i = 0; i < count / 2; i++) {
            assertEquals(KvStatus.DONE, shard.set(10_000 + i, value(900, 2)));
        }
        for (int i = count - count / 4; i < count - 1; i++) {
            assertTrue(shard.liveBlocks(TestShard.key(1 + i * 13 % count)) > 0, "the " + i + "th");
        }
        assertEquals(0, shard.liveBlocks(TestShard.key(1)));
    }
}
