package io.farheap.kv.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.farheap.kv.format.FakeMap;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.format.SpaceShape;
import io.farheap.server.contract.ServedSpace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** The second of three servers of a map replaces the first, by a clock that the test sets. */
class TableEditionTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final int REGIONS = 4;
    private static final long SECOND = 1_000_000_000;
    private static final long LOST = 1;

    private final MemorySegment memory = Arena.ofAuto().allocate(REGIONS * REGION_BYTES, 64);
    private final ServedSpace space = new HeldSpace();
    private final MapDescriptor map = FakeMap.descriptor(2, 3, REGION_BYTES);
    private final long[] reply = new long[MapCalls.MOST_WORDS];
    private long now = 5 * SECOND;
    private final MapState state = new MapState(map.of(1), () -> now, 0);

    private final class HeldSpace implements ServedSpace {

        @Override
        public boolean readOnly() {
            return false;
        }

        @Override
        public long id() {
            return 1;
        }

        @Override
        public String name() {
            return "map";
        }

        @Override
        public byte[] descriptor() {
            return new byte[0];
        }

        @Override
        public int regions() {
            return REGIONS;
        }

        @Override
        public long regionBytes() {
            return REGION_BYTES;
        }

        @Override
        public MemorySegment region(int place) {
            return memory.asSlice(place * REGION_BYTES, REGION_BYTES);
        }

        @Override
        public boolean openedBy(long leaseId) {
            return true;
        }
    }

    private long beat(long lease, long... words) {
        long[] all = new long[MapCalls.BEAT_WORDS + 3 * MapCalls.MOST_PROCESSES];
        System.arraycopy(words, 0, all, 0, words.length);
        state.beat(lease, all, reply);
        assertEquals(MapCalls.OK, reply[0]);
        return reply[2];
    }

    private long seal(long lease) {
        return seal(lease, LOST, false);
    }

    private long seal(long lease, long lost, boolean atOnce) {
        state.seal(lease, lost, atOnce, space, reply);
        return reply[0];
    }

    /** The lost server had the table's regions 0 and 3; this one takes both over. */
    private long install(long lease, long number, long id, long session, long history, long time) {
        long[] words = {number, id, 0, session, history, time, 2, 1, 2, 2, 0, 0, 2, 0, -1};
        return state.install(lease, words, words.length, space);
    }

    private long counter(int region, long offset) {
        return space.region(region).get(ValueLayout.JAVA_LONG, offset);
    }

    @Test
    void noServerIsReplacedThatAProcessReaches() {
        assertEquals(MapCalls.OK, state.register(1, 11, 0, 0));
        assertEquals(MapCalls.OK, state.register(2, 22, 0, 0));
        beat(1, 0, 0, 0, 0, LOST);
        beat(2, 0, 0, 0, 0, 0);
        now += 600 * SECOND;
        assertEquals(MapCalls.IN_USE, seal(9));
        assertEquals(MapCalls.IN_USE, seal(9, LOST, true), "whatever an operator says");
        beat(2, 0, 0, 0, 0, LOST);
        assertEquals(MapCalls.IN_USE, seal(9), "not for a minute yet");
        now += 59 * SECOND;
        assertEquals(MapCalls.IN_USE, seal(9));
        now += SECOND;
        assertEquals(MapCalls.OK, seal(9));
    }

    @Test
    void aServerThatAProcessReachedUntilItEndedIsReplacedAMinuteAfterThat() {
        state.register(1, 11, 0, 0);
        state.register(2, 22, 0, 0);
        beat(1, 0, 0, 0, 0, LOST);
        now += 600 * SECOND;
        state.ended(2);
        assertEquals(MapCalls.IN_USE, seal(9));
        assertEquals(MapCalls.OK, seal(9, LOST, true), "an operator does not wait");
    }

    /** The server may answer again, but its part of the table is of no use any more. */
    @Test
    void anEditionSaysWhichServersAreGoneForGood() {
        state.register(1, 11, 0, 0);
        state.register(2, 22, 0, 0);
        state.ended(2);
        beat(1, 0, 0, 0, 0, LOST);
        state.edition(reply);
        assertEquals(0, reply[6]);
        now += 301 * SECOND;
        beat(1, 0, 0, 0, 0, LOST);
        assertEquals(MapCalls.PART_GONE, state.register(3, 33, 0, 0));
        state.edition(reply);
        assertEquals(LOST, reply[6]);
        assertEquals(MapCalls.OK, seal(9, LOST, true));
        assertEquals(MapCalls.OK, install(9, 1, 77, 0, 0, 0));
        assertEquals(MapCalls.OK, state.register(3, 33, 77, LOST));
        state.edition(reply);
        assertEquals(0, reply[6], "it has left");
    }

    /** A broken client cannot have a server count as one that has left, which takes a seal. */
    @Test
    void aProcessThatRegistersRetiresNoServer() {
        assertEquals(MapCalls.WRONG, state.register(1, 11, 0, LOST));
        assertEquals(MapCalls.OK, state.register(1, 11, 0, 0));
    }

    @Test
    void aSealSaysWhetherAProcessHasLostTheServers() {
        assertEquals(MapCalls.IN_USE, seal(9), "the clock starts");
        now += 60 * SECOND;
        assertEquals(MapCalls.OK, seal(9));
        assertEquals(0, reply[4]);
        assertEquals(MapCalls.OK, seal(9, 0, false));
        state.register(1, 11, 0, 0);
        beat(1, 0, 0, 0, 0, LOST);
        now += 60 * SECOND;
        assertEquals(MapCalls.OK, seal(9));
        assertEquals(1, reply[4]);
    }

    @Test
    void oneProcessReplacesAndNoneRegistersMeanwhile() {
        assertEquals(MapCalls.OK, seal(9, LOST, true));
        assertEquals(MapCalls.BUSY, seal(8, LOST, true));
        assertEquals(MapCalls.BUSY, state.register(1, 11, 0, 0));
        assertEquals(MapCalls.STALE, install(8, 1, 77, 0, 0, 0));
        state.ended(9);
        assertEquals(MapCalls.OK, state.register(1, 11, 0, 0), "the process that replaced it died");
        assertEquals(MapCalls.STALE, install(9, 1, 77, 0, 0, 0));
        assertEquals(MapCalls.IN_USE, seal(9, LOST, true), "it reaches the lost server, as far as it has said");
        beat(1, 0, 0, 0, 0, LOST);
        assertEquals(MapCalls.OK, seal(9, LOST, true));
        assertEquals(MapCalls.OK, seal(9, 0, false));
        assertEquals(MapCalls.OK, state.register(2, 22, 0, 0));
    }

    @Test
    void whatCannotFollowIsRefused() {
        assertEquals(MapCalls.WRONG, seal(9, 1L << 1, true), "this server");
        assertEquals(MapCalls.WRONG, seal(9, 1L << 3, true), "no server");
        assertEquals(MapCalls.OK, seal(9, LOST, true));
        assertEquals(MapCalls.STALE, install(9, 0, 77, 0, 0, 0), "not a later edition");
        long[] keeps = {1, 77, 0, 0, 0, 0, 1, 0, 2, 0, -1};
        assertEquals(MapCalls.WRONG, state.install(9, keeps, keeps.length, space), "its part of the table is nowhere");
        long[] more = {1, 77, 0, 0, 0, 0, 2, 1, 2, 3, 0, 0, 2, 0, -1};
        assertEquals(MapCalls.WRONG, state.install(9, more, more.length, space), "more than the table has");
        assertEquals(MapCalls.OK, install(9, 1, 77, 0, 0, 0));
    }

    /** A process that opens the map in the old edition could use the lost server. */
    @Test
    void theOldEditionIsOver() {
        state.register(1, 11, 0, 0);
        beat(1, 0, 0, 0, 0, LOST);
        assertEquals(MapCalls.OK, seal(9, LOST, true));
        assertEquals(MapCalls.OK, install(9, 1, 77, 0, 0, 0));
        assertEquals(MapCalls.STALE, state.register(2, 22, 0, 0));
        assertEquals(MapCalls.STALE, state.register(2, 22, 76, LOST));
        assertEquals(MapCalls.OK, state.register(2, 22, 77, LOST));
        state.edition(reply);
        assertEquals(1, reply[1]);
        assertEquals(77, reply[2]);
        assertEquals(LOST, reply[3]);
        // The first process does not know where the table is, so it neither collects nor learns of the new memory.
        assertEquals(0, beat(1, 0, 0, 0, 0, LOST) & MapCalls.COLLECT);
        assertEquals(0, reply[8]);
        long epoch = reply[7];
        beat(1, 0, 0, epoch, 5, LOST);
        beat(2, 0, 0, epoch, 2, 0);
        assertEquals(0, reply[12], "nothing is gone for it");
        assertEquals(2, reply[8]);
        assertEquals(0, reply[9], "a process has not confirmed");
        state.ended(1);
        beat(2, 0, 0, epoch, 2, 0);
        assertEquals(2, reply[9]);
        assertEquals(MapCalls.OK, state.register(3, 33, 77, LOST));
    }

    @Test
    void aCollectionBeginsWhenNoRequestKnowsTheLostPart() {
        state.register(1, 11, 0, 0);
        beat(1, 0, 0, 0, 0, LOST);
        seal(9, LOST, true);
        install(9, 1, 77, 0, 0, 0);
        state.register(2, 22, 77, LOST);
        assertEquals(0, beat(2, 0, 0, 0, 0, 0) & MapCalls.COLLECT, "the first may have read an index there");
        beat(1, 0, 0, reply[7], 0, LOST);
        assertNotEquals(0, beat(2, 0, 0, reply[7], 0, 0) & MapCalls.COLLECT);
    }

    @Test
    void whatTheFirstServerCountedContinues() {
        state.register(1, 11, 0, 0);
        beat(1, 0, 0, 0, 0, LOST);
        space.region(0).set(ValueLayout.JAVA_LONG, SpaceShape.SESSION_COUNTER, 41);
        RegionDirectory.Growth none = new RegionDirectory.Growth(0, 0, 0);
        state.copy(1, 1000 * SECOND, 12, -1, none, new byte[0], space, reply);
        now += 7 * SECOND;
        assertEquals(MapCalls.OK, seal(9, LOST, true));
        assertEquals(41, reply[1]);
        assertEquals(12, reply[2]);
        assertEquals(1007 * SECOND, reply[3]);
        assertEquals(MapCalls.OK, install(9, 1, 77, 43, 99, 1008 * SECOND));
        assertEquals(43, counter(2, SpaceShape.SESSION_COUNTER), "in the region that has the table's first part");
        assertEquals(99, counter(2, SpaceShape.HISTORY_COUNTER));
        state.register(2, 22, 77, LOST);
        beat(2);
        assertEquals(1008 * SECOND, reply[1], "the map's time");
        state.copy(2, 0, 0, -1, none, new byte[0], space, reply);
        assertEquals(99, reply[2]);
    }

    /** The table's first region has the number that it had on another server, in an edition that was never used. */
    @Test
    void theNextFirstServerContinuesThoughTheRegionHasANumberAsBefore() {
        MapState third = new MapState(FakeMap.descriptor(2, 5, REGION_BYTES).of(2), () -> now, 0);
        third.seal(9, 1, true, space, reply);
        long[] given = {1, 71, 0, 0, 0, 0, 2, 1, 2, 2, 0, 0, 2, 0, -1};
        assertEquals(MapCalls.OK, third.install(9, given, given.length, space));
        third.seal(8, 3, true, space, reply);
        assertEquals(MapCalls.OK, reply[0]);
        long[] next = {2, 72, 0, 77, 99, 0, 4, 2, 2, 2, 0, 3, 2, 2, 1, 0, 2, 0, -1, 1, 2, 0, -1};
        assertEquals(MapCalls.OK, third.install(8, next, next.length, space));
        assertEquals(77, counter(2, SpaceShape.SESSION_COUNTER));
        assertEquals(99, counter(2, SpaceShape.HISTORY_COUNTER));
        space.region(2).set(ValueLayout.JAVA_LONG, SpaceShape.SESSION_COUNTER, 80);
        third.seal(7, 7, true, space, reply);
        assertEquals(MapCalls.WRONG, reply[0], "this server");
        third.seal(7, 3, true, space, reply);
        assertEquals(80, reply[1], "what it has given itself");
    }

    @Test
    void copiesOfGrowthsFollowEachOther() {
        state.register(1, 11, 0, 0);
        RegionDirectory.Growth joins = new RegionDirectory.Growth(3, 0, 5);
        RegionDirectory.Growth other = new RegionDirectory.Growth(2, 2, 1);
        assertEquals(MapCalls.WRONG, copy(1, 1, joins));
        assertEquals(MapCalls.OK, copy(1, 0, joins));
        assertEquals(MapCalls.OK, copy(1, 0, joins), "the same once more");
        assertEquals(1, reply[1]);
        assertEquals(MapCalls.WRONG, copy(1, 0, other), "another one");
        assertEquals(MapCalls.NOT_REGISTERED, copy(9, 1, other));
        assertEquals(MapCalls.WRONG, copy(1, 1, new RegionDirectory.Growth(1, 2, 1, 0)), "a part of the table");
        // What a process that died in the midst of a replacement has left is not a growth.
        beat(1, 0, 0, 0, 0, LOST);
        seal(9, LOST, true);
        assertEquals(MapCalls.OK, copy(9, 0, other));
        state.layout(0, reply);
        assertEquals(1, reply[1]);
        assertEquals(2, reply[3]);
    }

    private long copy(long lease, int number, RegionDirectory.Growth growth) {
        state.copy(lease, 0, 0, number, growth, new byte[0], space, reply);
        return reply[0];
    }
}
