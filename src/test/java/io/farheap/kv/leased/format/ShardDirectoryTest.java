package io.farheap.kv.leased.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.ShardDirectory.Change;
import org.junit.jupiter.api.Test;

/** Which shard has which keys, when servers leave and join. */
class ShardDirectoryTest {

    private static final int KEYS = 1 << 14;
    private static final int SHARDS_OF_EACH = 4;

    private final ShardDirectory made =
            ShardDirectory.of(new LeasedDescriptor(1, 0, 3, 2, 32 << 20, 1000, 1000, 1000, 16, new KeyHash(1, 2)));

    /** Hashes that lie evenly in all ranges. */
    private static long hash(int key) {
        return (long) key << 42 | key;
    }

    private static int[] keysOfShards(ShardDirectory of) {
        int[] keys = new int[of.shards()];
        for (int key = 0; key < KEYS; key++) {
            keys[of.shardOf(hash(key))]++;
        }
        return keys;
    }

    private static int moved(ShardDirectory from, ShardDirectory to) {
        int moved = 0;
        for (int key = 0; key < KEYS; key++) {
            moved += from.shardOf(hash(key)) == to.shardOf(hash(key)) ? 0 : 1;
        }
        return moved;
    }

    private static void assertNumbers(ShardDirectory of) {
        int shards = 0;
        for (int server = 0; server < of.servers(); server++) {
            for (int index = 0; index < of.shards(server); index++) {
                int shard = of.shard(server, index);
                assertEquals(server, of.serverOf(shard));
                assertEquals(index, of.indexOf(shard));
                shards++;
            }
        }
        assertEquals(shards, of.shards());
        for (int key = 0; key < KEYS; key++) {
            int server = of.serverOfKey(hash(key));
            assertEquals(server, of.serverOf(of.shardOf(hash(key))));
            assertTrue(of.isPresent(server));
        }
    }

    @Test
    void aNewMapHasItsShardsInTheOrderOfHashes() {
        assertEquals(3 * SHARDS_OF_EACH, made.shards());
        for (int key = 0; key < KEYS; key++) {
            assertEquals(ShardShape.shard(hash(key), made.shards()), made.shardOf(hash(key)));
        }
        assertNumbers(made);
    }

    @Test
    void theKeysOfAServerThatLeavesGoToAllOthers() {
        ShardDirectory left = made.with(new Change(1, 0));
        assertNumbers(left);
        assertEquals(0b10, left.retired());
        int[] before = keysOfShards(made);
        int[] after = keysOfShards(left);
        for (int shard = 0; shard < made.shards(); shard++) {
            if (made.serverOf(shard) == 1) {
                assertEquals(0, after[shard]);
            } else {
                assertEquals(before[shard] * 1.5, after[shard], before[shard] * 0.1, "shard " + shard);
            }
        }
        assertEquals(KEYS / 3.0, moved(made, left), KEYS / 100.0, "no other key has moved");
    }

    @Test
    void aServerThatJoinsTakesItsShareAndNothingElseMoves() {
        ShardDirectory four = made.with(new Change(3, SHARDS_OF_EACH));
        assertNumbers(four);
        int[] keys = keysOfShards(four);
        for (int shard = 0; shard < four.shards(); shard++) {
            assertEquals(KEYS / 16.0, keys[shard], KEYS / 160.0, "shard " + shard);
        }
        assertEquals(KEYS / 4.0, moved(made, four), KEYS / 100.0);
        ShardDirectory again = four.with(new Change(0, 0)).with(new Change(4, 2 * SHARDS_OF_EACH));
        assertNumbers(again);
        assertEquals(3 * SHARDS_OF_EACH, again.shard(3, 0), "its numbers stay");
        assertEquals(4 * SHARDS_OF_EACH, again.shard(4, 0));
    }

    /** Every server computes it, from the changes that it received. */
    @Test
    void theChangesSayAll() {
        ShardDirectory changed =
                made.with(new Change(3, 5)).with(new Change(1, 0)).with(new Change(4, 1));
        ShardDirectory same = made;
        for (Change each : changed.changes()) {
            same = same.with(Change.of(each.word()));
        }
        assertEquals(0, moved(changed, same));
        assertEquals(changed.shards(), same.shards());
    }

    @Test
    void whatCannotFollowIsRefused() {
        ShardDirectory left = made.with(new Change(1, 0));
        assertThrows(IllegalArgumentException.class, () -> left.with(new Change(1, 0)), "it has left");
        assertThrows(IllegalArgumentException.class, () -> left.with(new Change(1, 4)), "numbers are not given twice");
        assertThrows(IllegalArgumentException.class, () -> left.with(new Change(4, 4)), "3 is the next");
        assertThrows(IllegalArgumentException.class, () -> left.with(new Change(-1, 0)));
        assertThrows(IllegalArgumentException.class, () -> left.with(new Change(3, -1)));
        assertThrows(IllegalArgumentException.class, () -> left.with(new Change(3, 1 << 16)), "too many shards");
        ShardDirectory one = left.with(new Change(0, 0));
        assertThrows(IllegalArgumentException.class, () -> one.with(new Change(2, 0)), "the last one stays");
    }

    /** Processes find the map by it, so it would be gone with all that other servers have. */
    @Test
    void theLastOfTheServersThatTheMapWasMadeOnStaysThoughOthersHaveJoined() {
        ShardDirectory last = made.with(new Change(3, SHARDS_OF_EACH))
                .with(new Change(0, Change.LEFT))
                .with(new Change(1, Change.LOST));
        assertThrows(IllegalArgumentException.class, () -> last.with(new Change(2, Change.LEFT)));
        assertThrows(IllegalArgumentException.class, () -> last.with(new Change(2, Change.LOST)));
        ShardDirectory alone = last.with(new Change(3, Change.LEFT));
        assertEquals(1, alone.presentOfMade());
        assertTrue(alone.isPresent(2));
    }
}
