package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.OneBucket;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What sets cost, and what the claim of a session costs others that stops before its insertion has ended. */
class InsertionClaimTest {

    private static final KvHandler NOTHING = (tag, status, found, at, bytes) -> {};
    /** The READs of one insertion that meets such a claim, as the documentation says. */
    private static final int MOST_LOOKS = 40;
    /** A READ of the bucket; WRITEs of block and hash; the compare-and-swap. */
    private static final List<Long> UPDATE = List.of(1L, 2L, 1L);

    private static final int INSERTIONS = 48;
    /** One in so many insertions into full buckets takes over a claim. */
    private static final int CLAIM_EVERY = 16;

    private final byte[] key = TestKeys.bytes(1);

    private static MemorySegment segment(byte[] bytes) {
        return MemorySegment.ofArray(bytes);
    }

    /** The READs, WRITEs and compare-and-swaps of a set. */
    private List<Long> costs(MapSession session, int value) {
        return costs(session, () -> session.set(key, new byte[] {(byte) value}));
    }

    private static List<Long> costs(MapSession session, Runnable request) {
        VerbCounts before = session.posted();
        request.run();
        VerbCounts since = session.posted().since(before);
        return List.of(since.reads(), since.writes(), since.swaps());
    }

    @Test
    void aDeadSessionsClaimCostsFewLooks() {
        try (OneBucket bucket = new OneBucket(EvictionSettings.of("fifo"));
                MapSession dead = bucket.space.map.openSession();
                MapSession other = bucket.space.map.openSession()) {
            for (MapSession session : new MapSession[] {dead, other}) {
                session.set(key, new byte[] {0});
                session.delete(key);
            }
            assertTrue(dead.set(segment(key), segment(new byte[] {1}), 0));
            long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
            while (!SlotWord.isClaim(bucket.word(0))) {
                assertTrue(System.nanoTime() - deadline < 0, "it does not come so far");
                dead.poll(NOTHING);
            }
            List<Long> first = costs(other, 2);
            assertTrue(first.getFirst() <= MOST_LOOKS, first::toString);
            assertEquals(UPDATE, costs(other, 3), "the claim is gone");
            assertArrayEquals(new byte[] {3}, other.get(key));
            // It was not dead: its insertion finds the key, and becomes an update.
            int[] ended = {-1};
            while (dead.inFlight() > 0) {
                dead.poll((tag, status, found, at, bytes) -> ended[0] = status);
            }
            assertEquals(KvStatus.DONE, ended[0]);
            assertArrayEquals(new byte[] {1}, other.get(key));
            assertTrue(other.delete(key));
            assertEquals(SlotWord.EMPTY, bucket.word(0));
        }
    }

    /** Lists are not counted, operations are: an update's two lists have four, the three of an insertion six. */
    @Test
    void anUpdateReadsItsBucketAlone() {
        try (OneBucket bucket = new OneBucket(EvictionSettings.of("fifo"));
                MapSession session = bucket.space.map.openSession();
                MapSession other = bucket.space.map.openSession()) {
            session.set(key, new byte[] {0});
            session.delete(key);
            assertEquals(List.of(2L, 2L, 2L), costs(session, 1));
            assertEquals(UPDATE, costs(session, 2));
            // Another session's update and its touch write the slot's hash as well.
            other.set(key, new byte[] {3});
            assertTrue(other.touch(key, 0));
            assertEquals(UPDATE, costs(session, 4));
        }
    }

    private enum Update {
        SET,
        ADD,
        REPLACE,
        COMPARE_AND_SET,
        INCREMENT,
        TOUCH
    }

    /** An update that lost its compare-and-swap has written the slot's hash last. */
    @ParameterizedTest
    @EnumSource
    void ofASlotWithAnotherHashTheBlockIsReadOnce(Update update) {
        try (OneBucket bucket = new OneBucket(EvictionSettings.of("fifo"));
                MapSession session = bucket.space.map.openSession(new PointerCache(0))) {
            byte[] number = new byte[Long.BYTES];
            session.set(key, number);
            long version = session.getVersioned(key).version();
            byte[] slot = bucket.slot();
            slot[Slot.HASH]++;
            bucket.write(0, slot);
            List<Long> costs = costs(session, () -> {
                switch (update) {
                    case SET -> session.set(key, number);
                    case ADD -> assertFalse(session.add(key, number, 0));
                    case REPLACE -> assertTrue(session.replace(key, number, 0));
                    case COMPARE_AND_SET -> assertTrue(session.compareAndSet(key, number, version, 0));
                    case INCREMENT -> assertEquals(7, session.increment(key, 7).orElseThrow());
                    case TOUCH -> assertTrue(session.touch(key, 0));
                }
            });
            assertEquals(2, costs.getFirst(), "READs, of the bucket and the block");
            if (update != Update.ADD) {
                assertEquals(UPDATE, costs(session, 1), "the slot's hash is the key's again");
            }
        }
    }

    /** A claim that was removed and comes back shows that its session lives. */
    @Test
    void aClaimThatComesBackIsWaitedForAgain() {
        try (OneBucket bucket = new OneBucket(EvictionSettings.of("fifo"));
                MapSession session = bucket.space.map.openSession()) {
            session.set(key, new byte[] {0});
            long claim = SlotWord.claim(bucket.word(0)) ^ 1L << 60;
            session.delete(key);
            byte[] slot = bucket.slot();
            ByteBuffer.wrap(slot).order(ByteOrder.nativeOrder()).putLong(0, claim);
            bucket.write(0, slot);
            VerbCounts before = session.posted();
            assertTrue(session.set(segment(key), segment(new byte[] {1}), 0));
            pollUntil(session, () -> bucket.word(0) == SlotWord.EMPTY);
            // Its session has claimed the slot again, and has removed the other claim.
            bucket.write(1, new byte[Slot.BYTES]);
            bucket.write(0, slot);
            pollUntil(session, () -> session.inFlight() == 0);
            long reads = session.posted().since(before).reads();
            assertTrue(reads > MOST_LOOKS && reads <= 2 * MOST_LOOKS, () -> reads + " READs");
            assertEquals(2, session.requests().counts().of(MapSessionCounts.CLAIMS_REMOVED));
            assertArrayEquals(new byte[] {1}, session.get(key));
        }
    }

    private static void pollUntil(MapSession session, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it does not come so far");
            session.poll(NOTHING);
        }
    }

    /** Of a full bucket without an object, the insertions take over the claims one by one. */
    @Test
    void insertionsIntoABucketFullOfDeadClaimsEnd() {
        try (OneBucket bucket = new OneBucket(EvictionSettings.of("fifo"));
                MapSession session = bucket.space.map.openSession()) {
            session.set(key, new byte[] {0});
            long word = bucket.word(0);
            session.delete(key);
            for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
                byte[] bytes = new byte[Slot.BYTES];
                long claim = SlotWord.claim(word) ^ (long) (slot + 1) << 58;
                ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).putLong(0, claim);
                bucket.write(slot, bytes);
            }
            for (int number = 0; number < INSERTIONS; number++) {
                byte[] value = {(byte) number};
                session.set(otherFingerprint(number), value);
                assertArrayEquals(value, session.get(otherFingerprint(number)));
            }
            int claims = 0;
            for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
                claims += SlotWord.isClaim(bucket.word(slot)) ? 1 : 0;
            }
            assertEquals(SpaceShape.BUCKET_SLOTS - 1 - INSERTIONS / CLAIM_EVERY, claims);
        }
    }

    /** Keys with other fingerprints than {@link #key}, one for each number. */
    private byte[] otherFingerprint(int number) {
        int fingerprint = KeyHash.fingerprint(TestKeys.hash(key));
        long other = 1000L * (number + 1);
        while (KeyHash.fingerprint(TestKeys.hash(TestKeys.bytes(other))) == fingerprint) {
            other++;
        }
        return TestKeys.bytes(other);
    }
}
