package io.farheap.kv.leased.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.kv.leased.format.ShardDirectory.Change;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The second of three servers of a leased map replaces the first, by a clock that the test sets. */
class ShardEditionTest {

    private static final long SECOND = 1_000_000_000;
    private static final long LOST = 1;

    private final LeasedDescriptor map =
            new LeasedDescriptor(1, 1, 3, 1, 1 << 20, 100, 1000, 1000, 16, new KeyHash(1, 2), 60_000, 0);
    /** Clocks overflow. */
    private long now = Long.MAX_VALUE - 30 * SECOND;

    private final ShardEdition edition = new ShardEdition(map, 1, () -> now);
    private final ShardDirectory made = ShardDirectory.of(map);
    private final ShardDirectory next = made.with(new Change(0, 0));

    private long install(long lease, long number, long id, ShardDirectory to) {
        long released = edition.release(lease, number, to);
        return released == MapCalls.OK ? edition.install(lease, number, id, to) : released;
    }

    private long seal(long lease) {
        return seal(lease, LOST, false, 0);
    }

    private long seal(long lease, long lost, boolean atOnce, long leaving) {
        return edition.seal(lease, lost, atOnce, leaving, edition.id());
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
        assertEquals(MapCalls.IN_USE, seal(9, LOST, true, 0), "whatever an operator says");
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
        assertEquals(MapCalls.OK, seal(9, LOST, true, 0), "an operator does not wait");
    }

    @Test
    void oneProcessReplacesAndNoneRegistersMeanwhile() {
        assertEquals(MapCalls.OK, seal(9, LOST, true, 0));
        assertEquals(MapCalls.BUSY, seal(8, LOST, true, 0));
        assertEquals(MapCalls.BUSY, edition.register(1, 0));
        assertEquals(MapCalls.STALE, install(8, 1, 77, next));
        edition.ended(9);
        assertEquals(MapCalls.OK, edition.register(1, 0), "the process that replaced it died");
        assertEquals(MapCalls.STALE, install(9, 1, 77, next), "it was only stopped, and continues");
        assertEquals(MapCalls.IN_USE, seal(9, LOST, true, 0), "a process reaches the lost server");
        edition.beat(1, LOST);
        assertEquals(MapCalls.OK, seal(9, LOST, true, 0));
        edition.unseal(8);
        assertEquals(MapCalls.BUSY, edition.register(2, 0), "another process does not end it");
        edition.unseal(9);
        assertEquals(MapCalls.OK, edition.register(2, 0));
    }

    /** Its call had no answer, so it has given up, and could not say so; its lease lives. */
    @Test
    void theSealOfAProcessThatMakesNoStepEnds() {
        register(1, LOST);
        assertEquals(MapCalls.OK, seal(9, LOST, true, 0));
        edition.ranges().settle(0, kept -> {});
        now += ShardEdition.SEAL_NANOS - 1;
        assertEquals(MapCalls.OK, edition.release(9, 1, next), "a step");
        now += ShardEdition.SEAL_NANOS - 1;
        assertEquals(MapCalls.BUSY, edition.register(2, 0));
        assertEquals(MapCalls.BUSY, seal(8, LOST, true, 0));
        assertEquals(0, edition.usedId());
        now++;
        assertEquals(~0, edition.usedId(), "processes look, and agree");
        assertEquals(MapCalls.STALE, edition.install(9, 1, 77, next), "it was only stopped, and continues");
        assertEquals(MapCalls.STALE, edition.release(9, 1, next));
        assertEquals(MapCalls.STALE, edition.name(9, 3, new byte[] {1}));
        assertEquals(MapCalls.OK, seal(8, LOST, true, 0));
        edition.unseal(9);
        assertEquals(MapCalls.OK, install(8, 1, 78, next), "the seal is another process's");
    }

    /** With the highest number no edition could follow, and a list of changes of any process would take some ms. */
    @Test
    void onlyTheNextEditionsOfTheProcessThatHasSealedAreLookedAt() {
        assertFalse(edition.mayChange(9, 1));
        assertEquals(MapCalls.OK, seal(9, LOST, true, 0));
        assertTrue(edition.mayChange(9, 1));
        assertFalse(edition.mayChange(8, 1));
        assertFalse(edition.mayChange(9, 0));
        assertTrue(edition.mayChange(9, ShardEdition.MOST_STEP));
        for (long wrong : new long[] {ShardEdition.MOST_STEP + 1, Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
            assertFalse(edition.mayChange(9, wrong));
            assertEquals(MapCalls.STALE, edition.release(9, wrong, next));
        }
    }

    @Test
    void whatCannotFollowIsRefused() {
        assertEquals(MapCalls.WRONG, seal(9, 1L << 1, true, 0), "this server");
        assertEquals(MapCalls.WRONG, seal(9, LOST | 1L << 3, true, 0), "no server");
        assertEquals(MapCalls.OK, seal(9, LOST, true, 0));
        assertEquals(MapCalls.STALE, install(9, 0, 77, next), "not a later edition");
        assertEquals(MapCalls.STALE, install(9, 1, 77, made), "the lost server has its shards");
        assertEquals(MapCalls.STALE, install(9, 1, 77, next.with(new Change(2, 0))), "one that is not lost");
        assertEquals(MapCalls.OK, install(9, 1, 77, next));
        assertEquals(MapCalls.STALE, install(9, 2, 78, next), "it is sealed no more");
    }

    /** A process that opens the map in the old edition could use the lost server. */
    @Test
    void theOldEditionIsOver() {
        register(1, LOST);
        assertEquals(MapCalls.OK, seal(9, LOST, true, 0));
        assertEquals(MapCalls.OK, install(9, 1, 77, next));
        assertEquals(MapCalls.STALE, edition.register(2, 0));
        assertEquals(MapCalls.STALE, edition.register(2, 76));
        assertEquals(MapCalls.OK, edition.register(2, 77));
        assertEquals(MapCalls.OK, edition.beat(1, LOST), "a process of the old edition");
        assertEquals(0, edition.directory().retired() & ~LOST);
        assertEquals(MapCalls.WRONG, seal(9, 0, true, 0), "what has left does not come back");
        assertEquals(MapCalls.OK, seal(9, LOST, true, 0));
    }

    /**
     * A process asked this server, was stopped, and asked the others after a server had joined: by what it was told,
     * the map is to continue without the change, and so without the new server, which processes use.
     */
    @Test
    void aChangeThatWasDecidedByAnOlderAnswerIsRefused() {
        ShardDirectory joined = made.with(new Change(3, 3));
        assertEquals(MapCalls.OK, edition.seal(8, 0, true, 0, 0));
        edition.release(8, 1, joined);
        edition.ranges().settle(0, kept -> {});
        assertEquals(MapCalls.OK, install(8, 1, 77, joined));
        assertEquals(MapCalls.BUSY, edition.seal(9, 0, true, 0, 0), "it was told that no server has joined");
        assertEquals(MapCalls.STALE, edition.release(9, 2, made));
        assertEquals(joined.changes(), edition.directory().changes());
        assertEquals(MapCalls.OK, edition.register(1, 77), "it is not sealed");
        assertEquals(MapCalls.OK, edition.seal(9, 0, true, 0, 77));
    }

    /** Nothing has to be waited for, as a process that knows the present edition does not use what has left. */
    @Test
    void aProcessOfTheNewEditionDoesNotReachWhatHasLeft() {
        register(1, LOST);
        assertEquals(MapCalls.OK, seal(9, LOST, true, 0));
        assertEquals(MapCalls.OK, install(9, 1, 77, next));
        assertEquals(MapCalls.OK, edition.register(2, 77));
        assertEquals(MapCalls.IN_USE, seal(9, LOST | 1L << 2, true, 0));
        edition.ended(1);
        edition.beat(2, 1L << 2);
        assertEquals(MapCalls.OK, seal(9, LOST | 1L << 2, true, 0));
    }

    @Test
    void aProcessThatHasNotRegisteredSaysNothing() {
        assertEquals(MapCalls.NOT_REGISTERED, edition.beat(5, LOST));
        edition.ended(5);
    }

    /** Its process died when the shards had lost ranges: some keys are nowhere. */
    @Test
    void anEditionWhoseRangesHaveGoneIsNotUsed() {
        register(1, 0);
        ShardDirectory joined = made.with(new Change(3, 3));
        assertEquals(MapCalls.OK, seal(9, 0, true, 0));
        assertEquals(0, edition.usedId());
        assertEquals(ShardCalls.NOT_YET, edition.release(9, 1, joined), "the shard has not dropped them");
        assertEquals(MapCalls.STALE, edition.install(9, 1, 77, joined));
        assertEquals(0, edition.usedId(), "the process is about to end this");
        edition.ended(9);
        assertEquals(~0, edition.usedId());
        edition.ranges().settle(0, kept -> {});
        assertEquals(MapCalls.OK, seal(8, 0, true, 0));
        assertEquals(MapCalls.OK, install(8, 1, 78, made), "another one gives the ranges back");
        assertEquals(78, edition.usedId());
        assertEquals(1, edition.ofOlderEditions());
        assertEquals(MapCalls.OK, edition.register(1, 78));
        assertEquals(0, edition.ofOlderEditions());
    }

    /** A process that knows a server that has joined says so before it uses it, and is not refused the seal before. */
    @Test
    void aServerThatHasJoinedIsReplacedWhenAllHaveLostItOrDoNotKnowIt() {
        register(1, -1L << 3);
        assertEquals(MapCalls.OK, seal(9, 0, true, 0));
        ShardDirectory joined = made.with(new Change(3, 3));
        edition.release(9, 1, joined);
        edition.ranges().settle(0, kept -> {});
        assertEquals(MapCalls.OK, install(9, 1, 77, joined));
        assertEquals(MapCalls.OK, seal(9, 1L << 3, true, 0), "no process knows it");
        assertEquals(MapCalls.BUSY, edition.register(1, 77), "which must not begin to use it now");
        edition.unseal(9);
        assertEquals(MapCalls.OK, edition.register(1, 77));
        assertEquals(MapCalls.IN_USE, seal(9, 1L << 3, true, 0));
        edition.beat(1, 1L << 3);
        assertEquals(MapCalls.OK, seal(9, 1L << 3, true, 0));
    }

    /** Processes have not heard of it yet, and one that does not reach it does not take it out at once. */
    @Test
    void aServerThatHasJustJoinedIsNotReplacedBeforeTheMapsTime() {
        register(1, -1L << 3);
        ShardDirectory joined = made.with(new Change(3, 3));
        now += 600 * SECOND;
        assertEquals(MapCalls.OK, seal(9, 0, true, 0));
        edition.release(9, 1, joined);
        edition.ranges().settle(0, kept -> {});
        assertEquals(MapCalls.OK, install(9, 1, 77, joined));
        assertEquals(MapCalls.IN_USE, seal(9, 1L << 3, false, 0));
        now += 59 * SECOND;
        assertEquals(MapCalls.IN_USE, seal(9, 1L << 3, false, 0));
        now += SECOND;
        assertEquals(MapCalls.OK, seal(9, 1L << 3, false, 0));
    }

    @Test
    void aServerLeavesThatIsToldTo() {
        register(1, 0);
        ShardDirectory left = made.with(new Change(2, Change.LEFT));
        assertEquals(MapCalls.OK, seal(9, 0, true, 0));
        assertEquals(MapCalls.STALE, install(9, 1, 77, left), "the seal is for none that leaves");
        assertEquals(MapCalls.OK, seal(9, 0, true, 1L << 2));
        assertEquals(MapCalls.OK, install(9, 1, 77, left));
        assertEquals(1L << 2, edition.directory().retired());
        assertEquals(1L << 2, edition.directory().drained());
    }

    /** The process died that took it out, after some servers knew: it is told once more. */
    @Test
    void aServerThatHasLeftIsToldAgain() {
        ShardDirectory left = made.with(new Change(2, Change.LEFT));
        assertEquals(MapCalls.OK, seal(9, 0, true, 1L << 2));
        assertEquals(MapCalls.OK, install(9, 1, 77, left));
        assertEquals(MapCalls.WRONG, seal(8, 0, true, 0));
        assertEquals(MapCalls.OK, seal(8, 0, true, 1L << 2));
        assertEquals(MapCalls.OK, install(8, 2, 78, left));
    }

    /** It would have ranges of shards that it has not. */
    @Test
    void aServerThatJoinsHasTheShardsThatItsDescriptorSays() {
        LeasedDescriptor joins = map.of(3, 3);
        ShardEdition third = new ShardEdition(joins, 3, () -> now);
        for (Change wrong : List.of(new Change(3, 4), new Change(3, 2))) {
            assertEquals(MapCalls.OK, third.seal(9, 0, true, 0, 0));
            assertEquals(MapCalls.STALE, third.release(9, 1, made.with(wrong)));
        }
        ShardDirectory joined = made.with(new Change(3, 3));
        assertEquals(MapCalls.OK, third.seal(9, 0, true, 0, 0));
        assertEquals(MapCalls.OK, third.release(9, 1, joined));
        assertEquals(MapCalls.OK, third.install(9, 1, 77, joined));
        assertEquals(MapCalls.STALE, third.name(9, 3, new byte[] {1}), "it is not sealed");
        assertEquals(0, third.address(3).length);
    }

    @Test
    void aMapThatNeverContinuesWithoutAServerDoesNot() {
        LeasedDescriptor stays = new LeasedDescriptor(1, 1, 3, 1, 1 << 20, 100, 1000, 1000, 16, new KeyHash(1, 2));
        ShardEdition of = new ShardEdition(stays, 1, () -> now);
        assertEquals(MapCalls.WRONG, of.seal(9, LOST, true, 0, 0));
        assertEquals(MapCalls.OK, of.seal(9, 0, true, 0, 0));
    }
}
