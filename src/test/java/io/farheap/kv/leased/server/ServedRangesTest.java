package io.farheap.kv.leased.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.kv.leased.format.ShardDirectory.Change;
import org.junit.jupiter.api.Test;

/** A server's shards lose ranges of hashes before others have them, and drop what they have of these. */
class ServedRangesTest {

    private static final int KEYS = 1 << 12;

    private final ShardDirectory made =
            ShardDirectory.of(new LeasedDescriptor(1, 0, 2, 2, 1 << 20, 100, 1000, 1000, 16, new KeyHash(1, 2)));
    private final ShardDirectory joined = made.with(new Change(2, 2));
    private final ServedRanges ranges = new ServedRanges(0, 2, made);

    private static long hash(int key) {
        return (long) key << 44;
    }

    private int served() {
        int served = 0;
        for (int key = 0; key < KEYS; key++) {
            served += ranges.indexOf(hash(key)) == ServedRanges.ELSEWHERE ? 0 : 1;
        }
        return served;
    }

    @Test
    void itHasWhatTheDirectorySays() {
        assertEquals(KEYS / 2, served());
        for (int key = 0; key < KEYS; key++) {
            int shard = made.shardOf(hash(key));
            assertEquals(
                    made.serverOf(shard) == 0 ? made.indexOf(shard) : ServedRanges.ELSEWHERE,
                    ranges.indexOf(hash(key)));
        }
        assertTrue(ranges.isSettled());
    }

    /** An audit by ranges that go at that moment would say that objects are wrong which the shard is about to drop. */
    @Test
    void aShardThatIsToDropKeysSaysNotWhichItHas() {
        assertNotNull(ranges.settledKeys(0));
        ranges.release(joined);
        assertNull(ranges.settledKeys(0));
        ranges.settle(0, all -> ranges.release(made.with(new Change(2, 6))));
        assertNull(ranges.settledKeys(0), "more have gone meanwhile");
        ranges.settle(0, all -> {});
        ServedRanges.KeptKeys kept = ranges.settledKeys(0);
        assertNotNull(kept);
        assertNull(ranges.settledKeys(1));
        for (int key = 0; key < KEYS; key++) {
            assertEquals(ranges.indexOf(hash(key)) == 0, kept.has(hash(key)));
        }
    }

    /** A call that has come before may be under way in the shard that had the key. */
    @Test
    void aKeyThatHasGoneIsAskedForAtItsShardUntilThatHasDroppedIt() {
        ranges.release(joined);
        assertFalse(ranges.isSettled());
        assertTrue(served() < KEYS / 2);
        int gone = 0;
        for (int key = 0; key < KEYS; key++) {
            if (ranges.indexOf(hash(key)) == ServedRanges.ELSEWHERE
                    && ranges.formerIndexOf(hash(key)) != ServedRanges.ELSEWHERE) {
                assertEquals(made.indexOf(made.shardOf(hash(key))), ranges.formerIndexOf(hash(key)));
                gone++;
            }
        }
        assertEquals(KEYS / 2 - served(), gone);
        int[] kept = new int[1];
        for (int shard = 0; shard < 2; shard++) {
            int settling = shard;
            ranges.settle(shard, keys -> {
                for (int key = 0; key < KEYS; key++) {
                    boolean has = keys.has(hash(key));
                    assertEquals(ranges.indexOf(hash(key)) == settling, has);
                    kept[0] += has ? 1 : 0;
                }
            });
        }
        assertEquals(served(), kept[0]);
        assertTrue(ranges.isSettled());
        for (int key = 0; key < KEYS; key++) {
            assertEquals(ranges.indexOf(hash(key)), ranges.formerIndexOf(hash(key)));
        }
        ranges.serve(joined);
        assertEquals(served(), kept[0], "it gains nothing");
    }

    /** The one that began it died; another one may have the range by what that one said. */
    @Test
    void aRangeThatHasGoneComesBackByAnEditionAlone() {
        ranges.release(joined);
        int left = served();
        ranges.release(made);
        assertEquals(left, served());
        ranges.settle(0, keys -> {});
        ranges.settle(1, keys -> {});
        ranges.serve(made);
        assertEquals(KEYS / 2, served());
        assertTrue(ranges.isSettled());
    }

    @Test
    void releasesThatFollowEachOtherAreOfAllThatHasGone() {
        ShardDirectory more = joined.with(new Change(3, 4));
        ranges.release(joined);
        ranges.release(more);
        for (int key = 0; key < KEYS; key++) {
            boolean had = made.serverOfKey(hash(key)) == 0;
            assertEquals(had, ranges.formerIndexOf(hash(key)) != ServedRanges.ELSEWHERE);
        }
        ranges.settle(0, keys -> {});
        assertFalse(ranges.isSettled());
        ranges.settle(1, keys -> {});
        assertTrue(ranges.isSettled());
    }
}
