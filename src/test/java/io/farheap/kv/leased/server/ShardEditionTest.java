package io.farheap.kv.leased.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.kv.leased.format.ShardDirectory.Change;
import org.junit.jupiter.api.Test;

/** The second of three servers of a leased map replaces the first, by a clock that the test sets. */
class ShardEditionTest {

    private static final long SECOND = 1_000_000_000;
    private static final long LOST = 1;

    private final LeasedDescriptor map =
            new LeasedDescriptor(1, 1, 3, 1, 1 << 20, 100, 1000, 1000, 16, new KeyHash(1, 2), 60_000);
    /** Clocks overflow. */
    private long now = Long.MAX_VALUE - 30 * SECOND;

    private final ShardEdition edition = new ShardEdition(map, () -> now);
    private final ShardDirectory made = ShardDirectory.of(map);
    private final ShardDirectory next = made.with(new Change(0, 0));

    private long seal(long lease) {
        return edition.seal(lease, LOST, false);
    }

    private void register(long lease, long lost) {
        assertEquals(MapCalls.OK, edition.register(lease, 0));
        assertEquals(MapCalls.OK, edition.beat(lease, lost));
    }

    @Test
    void noServerIsReplacedThatAProcessReaches() {
        register(1, LOST);
        register(2, 0);
        now += 600 * SECOND;
        assertEquals(MapCalls.IN_USE, seal(9));
        assertEquals(MapCalls.IN_USE, edition.seal(9, LOST, true), "whatever an operator says");
        edition.beat(2, LOST);
        now += 59 * SECOND;
        assertEquals(MapCalls.IN_USE, seal(9), "not for a minute yet");
        now += SECOND;
        assertEquals(MapCalls.OK, seal(9));
    }

    @Test
    void aProcessThatReachesItAgainCountsAgain() {
        register(1, LOST);
        now += 59 * SECOND;
        edition.beat(1, 0);
        edition.beat(1, LOST);
        now += 59 * SECOND;
        assertEquals(MapCalls.IN_USE, seal(9));
        now += SECOND;
        assertEquals(MapCalls.OK, seal(9));
    }

    @Test
    void aServerThatAProcessReachedUntilItEndedIsReplacedAMinuteAfterThat() {
        register(1, LOST);
        register(2, 0);
        now += 600 * SECOND;
        edition.ended(2);
        assertEquals(MapCalls.IN_USE, seal(9));
        assertEquals(MapCalls.OK, edition.seal(9, LOST, true), "an operator does not wait");
    }

    @Test
    void oneProcessReplacesAndNoneRegistersMeanwhile() {
        assertEquals(MapCalls.OK, edition.seal(9, LOST, true));
        assertEquals(MapCalls.BUSY, edition.seal(8, LOST, true));
        assertEquals(MapCalls.BUSY, edition.register(1, 0));
        assertEquals(MapCalls.STALE, edition.install(8, 1, 77, next));
        edition.ended(9);
        assertEquals(MapCalls.OK, edition.register(1, 0), "the process that replaced it died");
        assertEquals(MapCalls.STALE, edition.install(9, 1, 77, next), "it was only stopped, and continues");
        assertEquals(MapCalls.IN_USE, edition.seal(9, LOST, true), "a process reaches the lost server");
        edition.beat(1, LOST);
        assertEquals(MapCalls.OK, edition.seal(9, LOST, true));
        edition.unseal(8);
        assertEquals(MapCalls.BUSY, edition.register(2, 0), "another process does not end it");
        edition.unseal(9);
        assertEquals(MapCalls.OK, edition.register(2, 0));
    }

    @Test
    void whatCannotFollowIsRefused() {
        assertEquals(MapCalls.WRONG, edition.seal(9, 1L << 1, true), "this server");
        assertEquals(MapCalls.WRONG, edition.seal(9, 1L << 3, true), "no server");
        assertEquals(MapCalls.OK, edition.seal(9, LOST, true));
        assertEquals(MapCalls.STALE, edition.install(9, 0, 77, next), "not a later edition");
        assertEquals(MapCalls.STALE, edition.install(9, 1, 77, made), "the lost server has its shards");
        assertEquals(MapCalls.STALE, edition.install(9, 1, 77, next.with(new Change(2, 0))), "one that is not lost");
        assertEquals(MapCalls.OK, edition.install(9, 1, 77, next));
        assertEquals(MapCalls.STALE, edition.install(9, 2, 78, next), "it is sealed no more");
    }

    /** A process that opens the map in the old edition could use the lost server. */
    @Test
    void theOldEditionIsOver() {
        register(1, LOST);
        assertEquals(MapCalls.OK, edition.seal(9, LOST, true));
        assertEquals(MapCalls.OK, edition.install(9, 1, 77, next));
        assertEquals(MapCalls.STALE, edition.register(2, 0));
        assertEquals(MapCalls.STALE, edition.register(2, 76));
        assertEquals(MapCalls.OK, edition.register(2, 77));
        assertEquals(MapCalls.OK, edition.beat(1, LOST), "a process of the old edition");
        assertEquals(0, edition.directory().retired() & ~LOST);
        assertEquals(MapCalls.WRONG, edition.seal(9, 0, true), "what has left does not come back");
        assertEquals(MapCalls.OK, edition.seal(9, LOST, true));
    }

    /** Nothing has to be waited for, as a process that knows the present edition does not use what has left. */
    @Test
    void aProcessOfTheNewEditionDoesNotReachWhatHasLeft() {
        register(1, LOST);
        assertEquals(MapCalls.OK, edition.seal(9, LOST, true));
        assertEquals(MapCalls.OK, edition.install(9, 1, 77, next));
        assertEquals(MapCalls.OK, edition.register(2, 77));
        assertEquals(MapCalls.IN_USE, edition.seal(9, LOST | 1L << 2, true));
        edition.ended(1);
        edition.beat(2, 1L << 2);
        assertEquals(MapCalls.OK, edition.seal(9, LOST | 1L << 2, true));
    }

    @Test
    void aProcessThatHasNotRegisteredSaysNothing() {
        assertEquals(MapCalls.NOT_REGISTERED, edition.beat(5, LOST));
        edition.ended(5);
    }

    @Test
    void aMapThatNeverContinuesWithoutAServerDoesNot() {
        LeasedDescriptor stays = new LeasedDescriptor(1, 1, 3, 1, 1 << 20, 100, 1000, 1000, 16, new KeyHash(1, 2));
        ShardEdition of = new ShardEdition(stays, () -> now);
        assertEquals(MapCalls.WRONG, of.seal(9, LOST, true));
        assertEquals(MapCalls.OK, of.seal(9, 0, true));
    }
}
