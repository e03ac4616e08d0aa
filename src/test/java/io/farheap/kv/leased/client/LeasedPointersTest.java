package io.farheap.kv.leased.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.leased.format.ShardShape;
import io.farheap.memory.PrivateMemory;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeasedPointersTest {

    private final RemotePointer pointer = new RemotePointer();

    private RemotePointer of(long place, long incarnation, long leasedUntil) {
        RemotePointer made = new RemotePointer();
        made.place = place;
        made.incarnation = incarnation;
        made.leasedUntil = leasedUntil;
        made.keyBytes = 23;
        made.valueBytes = 1000;
        return made;
    }

    private static AdaptivePart part(int most) {
        return new AdaptivePart(most, Arena.ofAuto().allocate(AdaptivePart.bytes(most), 64));
    }

    /** Without memory, without a wish for pointers, and after its close. */
    @ParameterizedTest
    @ValueSource(strings = {"refused", "unwanted", "closed"})
    void aCacheWithoutMemoryKeepsNothing(String why) {
        LeasedPointers cache = new LeasedPointers(why.equals("unwanted") ? 0 : 1000, true, bytes -> {
            if (!why.equals("closed")) {
                throw new IllegalArgumentException("there is no room");
            }
            return PrivateMemory.allocateSparse(bytes);
        });
        if (why.equals("closed")) {
            cache.put(5, of(77, 8, 9));
            assertTrue(cache.holdsMemory());
            cache.close();
        }
        cache.put(6, of(77, 8, 9));
        cache.drop(5, 8);
        assertFalse(cache.find(5, 0, pointer) || cache.find(6, 0, pointer));
        assertEquals(0, cache.takeUses((number, place, incarnation, uses) -> true, 100));
        assertFalse(cache.holdsMemory());
        cache.close();
    }

    @Test
    void whatIsPutIsFound() {
        LeasedPointers cache = new LeasedPointers(1000, true);
        assertFalse(cache.find(5, 0, pointer));
        cache.put(5, of(77, 8, 9));
        assertTrue(cache.find(5, 0, pointer));
        assertEquals(77, pointer.place);
        assertEquals(8, pointer.incarnation);
        assertEquals(9, pointer.leasedUntil);
        assertEquals(23, pointer.keyBytes);
        assertEquals(1000, pointer.valueBytes);
    }

    /** Sessions get answers in any order: an older block's does not replace a newer one's, nor a shorter lease. */
    @Test
    void aLaterPointerStays() {
        LeasedPointers cache = new LeasedPointers(1000, true);
        cache.put(5, of(77, 8, 20));
        cache.put(5, of(76, 7, 30));
        cache.put(5, of(77, 8, 10));
        assertTrue(cache.find(5, 0, pointer));
        assertEquals(8, pointer.incarnation);
        assertEquals(20, pointer.leasedUntil);
        cache.drop(5, 7);
        assertTrue(cache.find(5, 0, pointer));
        cache.drop(5, 8);
        assertFalse(cache.find(5, 0, pointer));
        assertEquals(0, cache.size());
    }

    @Test
    void itsSizeIsBounded() {
        LeasedPointers cache = new LeasedPointers(500, true);
        Random random = new Random(1);
        for (int i = 0; i < 50_000; i++) {
            long hash = random.nextLong();
            cache.put(hash, of(i, i + 1, 0));
            if (i % 100 == 0) {
                assertTrue(cache.find(hash, 0, pointer));
                assertEquals(i, pointer.place);
            }
        }
        assertTrue(cache.size() <= 576 && cache.size() >= 450, cache.size() + " pointers");
    }

    /**
     * However many pointers and shards there are, a report looks at few of them; and the uses of the latest ones are
     * all reported in the end, but for those whose leases were over, of which the server has heard.
     */
    @Test
    void reportsTakeAllUsesAndLookAtFewPointers() {
        for (int shards : new int[] {1, 8, 1000}) {
            LeasedPointers cache = new LeasedPointers(100_000, true);
            Random random = new Random(shards);
            long[] hashes = random.longs(2000).toArray();
            for (long hash : hashes) {
                cache.put(hash, of((long) ShardShape.shard(hash, shards) << 32, 1, 5));
                assertTrue(cache.find(hash, 4, pointer));
                assertTrue(cache.find(hash, 3, pointer));
                assertTrue(cache.find(hash, 5, pointer), "its lease is over");
            }
            long[] shard = new long[1];
            int[] sum = new int[2];
            int reports = 0;
            for (; sum[0] < 2 * hashes.length && reports < 20_000; reports++) {
                sum[1] = 0;
                cache.takeUses(
                        (number, place, incarnation, uses) -> {
                            sum[1]++;
                            shard[0] = number == 0 ? place : shard[0];
                            sum[0] += place == shard[0] ? uses : 0;
                            return place == shard[0];
                        },
                        100);
                assertTrue(sum[1] <= 512, "a report looked at " + sum[1] + " pointers");
            }
            assertEquals(2 * hashes.length, sum[0], "of " + shards + " shards, after " + reports + " reports");
            assertTrue(shards > 8 || reports < 200, reports + " reports of " + shards + " shards");
        }
    }

    /** A scan of keys that are seen once does not push out those that are seen again. */
    @Test
    void aScanLeavesWhatIsUsedAgain() {
        AdaptivePart part = part(100);
        for (int round = 0; round < 3; round++) {
            for (int hot = 0; hot < 50; hot++) {
                if (!part.find(hot, 0, pointer)) {
                    part.put(hot, of(hot, 1, 0));
                }
            }
        }
        for (int i = 0; i < 10_000; i++) {
            part.put(1000 + i, of(i, 1, 0));
        }
        for (int hot = 0; hot < 50; hot++) {
            assertTrue(part.find(hot, 0, pointer), "key " + hot);
            assertEquals(hot, pointer.place);
        }
    }

    /** The lists decide as in the paper, as a reference of plain lists says. */
    @Test
    void itReplacesAsTheReferenceDoes() {
        int most = 20;
        AdaptivePart part = part(most);
        Reference reference = new Reference(most);
        Random random = new Random(7);
        int hits = 0;
        for (int i = 0; i < 30_000; i++) {
            // Phases of much and of little recency shift the target.
            long hash = i / 1000 % 2 == 0 ? random.nextInt(35) : (long) Math.abs(random.nextGaussian() * 15);
            if (random.nextInt(100) == 0) {
                part.drop(hash, Long.MAX_VALUE);
                reference.drop(hash);
            }
            boolean hit = part.find(hash, 0, pointer);
            assertEquals(reference.find(hash), hit, "request " + i);
            if (!hit) {
                part.put(hash, of(hash, 1, 0));
                reference.put(hash);
            }
            hits += hit ? 1 : 0;
        }
        assertTrue(hits > 10_000, hits + " hits");
    }

    /** ARC, with lists whose first elements were used longest ago. */
    private static final class Reference {

        private final int most;
        private final Deque<Long> once = new ArrayDeque<>();
        private final Deque<Long> again = new ArrayDeque<>();
        private final Deque<Long> onceGone = new ArrayDeque<>();
        private final Deque<Long> againGone = new ArrayDeque<>();
        private int target;

        Reference(int most) {
            this.most = most;
        }

        boolean find(long hash) {
            if (once.remove(hash) || again.remove(hash)) {
                again.addLast(hash);
                return true;
            }
            return false;
        }

        void drop(long hash) {
            if (!once.remove(hash)) {
                again.remove(hash);
            }
        }

        void put(long hash) {
            if (onceGone.contains(hash)) {
                target = Math.min(most, target + Math.max(1, againGone.size() / onceGone.size()));
                replace(false);
                onceGone.remove(hash);
                again.addLast(hash);
            } else if (againGone.contains(hash)) {
                target = Math.max(0, target - Math.max(1, onceGone.size() / againGone.size()));
                replace(true);
                againGone.remove(hash);
                again.addLast(hash);
            } else {
                if (once.size() + onceGone.size() >= most) {
                    if (onceGone.isEmpty()) {
                        once.removeFirst();
                    } else {
                        onceGone.removeFirst();
                        replace(false);
                    }
                } else {
                    if (once.size() + again.size() + onceGone.size() + againGone.size() >= 2 * most) {
                        againGone.removeFirst();
                    }
                    replace(false);
                }
                once.addLast(hash);
            }
        }

        private void replace(boolean ofAgain) {
            if (once.size() + again.size() < most) {
                return;
            }
            if (!once.isEmpty() && (once.size() > target || ofAgain && once.size() == target || again.isEmpty())) {
                onceGone.addLast(once.removeFirst());
            } else {
                againGone.addLast(again.removeFirst());
            }
        }
    }
}
