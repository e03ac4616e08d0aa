package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.OneBucket;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.TestKeys;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.List;
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
                MapSession session = bucket.space.map.openSession()) {
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
                    case INCREMENT ->
                        assertEquals(7, session.increment(key, 7).orElseThrow());
                    case TOUCH -> assertTrue(session.touch(key, 0));
                }
            });
            assertEquals(2, costs.getFirst(), "READs, of the bucket and the block");
            if (update != Update.ADD) {
                assertEquals(UPDATE, costs(session, 1), "the slot's hash is the key's again");
            }
        }
    }
}
