package io.farheap.kv.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.BlockAudit;
import io.farheap.kv.format.FakeMap;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.TextWords;
import io.farheap.server.contract.ServedSpace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The state of a map's service, called without a network, with a clock that a test sets. */
class MapStateTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final int CLASS = 3;
    private static final int UNITS = 4;
    private static final long SECOND = 1_000_000_000;

    private final MemorySegment memory = Arena.ofAuto().allocate(2 * REGION_BYTES, 64);
    private final ServedSpace space = new Space();
    private final long[] reply = new long[MapCalls.MOST_WORDS];
    private long now = 5 * SECOND;
    private long numbers;
    private MapState state = new MapState(FakeMap.descriptor(2, 0, REGION_BYTES), () -> now, 0);

    private final class Space implements ServedSpace {

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
            return 2;
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

    private long[] take(long lease, int sizeClass) {
        return take(lease, sizeClass, MapCalls.LAST);
    }

    private long[] take(long lease, int sizeClass, long want) {
        return take(lease, sizeClass, want, 1);
    }

    private long[] take(long lease, int sizeClass, long want, int segments) {
        int words = call(lease, ++numbers, sizeClass, 8, sizeClass, want, segments);
        assertEquals(MapCalls.OK, reply[0]);
        return Arrays.copyOf(reply, words);
    }

    private int call(long lease, long... words) {
        return state.take(lease, words, space, reply);
    }

    /** @return the flags of the reply */
    private long beat(long lease, long... words) {
        long[] all = new long[MapCalls.BEAT_WORDS + 3 * MapCalls.MOST_PROCESSES];
        System.arraycopy(words, 0, all, 0, words.length);
        state.beat(lease, all, reply);
        assertEquals(MapCalls.OK, reply[0]);
        return reply[2];
    }

    /** @return all blocks of the segment that was taken */
    private static List<Long> cut(long[] taken) {
        assertEquals(MapCalls.SEGMENT, taken[1]);
        List<Long> blocks = new ArrayList<>();
        for (int i = 0; i < taken[4] / 64 / UNITS; i++) {
            blocks.add(SlotWord.live(taken[3] + (long) i * UNITS, 1, 0, UNITS));
        }
        return blocks;
    }

    private void write(long block, long version) {
        long unit = SlotWord.place(block) & REGION_BYTES / 64 - 1;
        MemorySegment region = space.region((int) (SlotWord.place(block) / (REGION_BYTES / 64)));
        region.set(ValueLayout.JAVA_LONG, unit * 64, SlotWord.incarnation(block));
        region.set(ValueLayout.JAVA_LONG, unit * 64 + 16, version);
    }

    private static long[] array(List<Long> words) {
        return words.stream().mapToLong(Long::longValue).toArray();
    }

    /**
     * Makes steps until the collector has to wait, has to read the table or is done. The phase is in {@link #reply}.
     *
     * @return the answer of the last step
     */
    private long step(long lease) {
        long round = roundOf(lease);
        do {
            state.step(lease, round, space, reply);
            assertEquals(MapCalls.OK, reply[0]);
        } while (reply[1] == MapCalls.GO_ON);
        return reply[1];
    }

    private long roundOf(long lease) {
        beat(lease);
        return reply[3];
    }

    private void hold(long lease, List<Long> blocks) {
        beat(lease);
        assertNotEquals(0, reply[4], "nobody wants to know");
        assertEquals(MapCalls.OK, state.hold(lease, reply[3], reply[4], true, array(blocks), blocks.size()));
    }

    private void named(long lease, List<Long> blocks) {
        assertEquals(MapCalls.SCAN, step(lease));
        long phase = reply[2];
        assertEquals(MapCalls.OK, state.named(lease, roundOf(lease), phase, true, array(blocks), blocks.size()));
    }

    private BlockAudit account(long ticket) {
        state.audit(ticket, reply);
        assertEquals(1, reply[1], "not done");
        return BlockAudit.of(reply, 2);
    }

    @Test
    void whatADeadProcessHadGoesToThePoolsAndNothingElse() {
        state.register(1, 11);
        state.register(2, 22);
        List<Long> dead = cut(take(1, CLASS));
        List<Long> living = cut(take(2, CLASS));
        write(dead.get(0), 100);
        write(dead.get(1), 101);
        write(dead.get(2), 103);
        assertEquals(0, beat(2) & MapCalls.COLLECT);
        state.ended(1);
        assertNotEquals(0, beat(2) & MapCalls.COLLECT);
        assertEquals(MapCalls.WAIT, step(2));
        hold(2, living);
        named(2, dead.subList(0, 1));
        assertEquals(MapCalls.WAIT, step(2));
        // A block of the dead process that was in a slot is taken over, written again, and named by a slot that the
        // scan has already read.
        write(SlotWord.live(SlotWord.place(dead.get(1)), 2, 0, UNITS), 102);
        // So is another block, with the same object as before, as a touch does it.
        write(SlotWord.live(SlotWord.place(dead.get(2)), 2, 0, UNITS), 103);
        hold(2, living);
        named(2, dead.subList(0, 1));
        assertEquals(MapCalls.WAIT, step(2));
        hold(2, living);
        long round = roundOf(2);
        assertEquals(MapCalls.DONE, step(2));
        BlockAudit account = account(round);
        assertEquals(dead.size() - 3, account.lost());
        Set<Long> pooled = new HashSet<>();
        for (long[] taken = take(2, CLASS); taken[1] == MapCalls.BLOCKS; taken = take(2, CLASS)) {
            for (int i = 0; i < taken[2]; i++) {
                assertTrue(pooled.add(taken[3 + i]));
            }
        }
        assertEquals(new HashSet<>(dead.subList(3, dead.size())), pooled, "with the incarnation after the header's");
    }

    /** A request of it has failed, and no slot tells what has become of the blocks. */
    @Test
    void whatALivingProcessHasLetGoGoesToThePools() {
        assertEquals(MapCalls.NOT_REGISTERED, state.sweep(1));
        state.register(1, 11);
        List<Long> blocks = cut(take(1, CLASS));
        assertEquals(0, beat(1) & MapCalls.COLLECT);
        assertEquals(MapCalls.OK, state.sweep(1));
        assertNotEquals(0, beat(1) & MapCalls.COLLECT);
        assertEquals(MapCalls.WAIT, step(1));
        hold(1, blocks.subList(1, blocks.size()));
        // What it lets go from now on was held in this round.
        assertEquals(MapCalls.OK, state.sweep(1));
        named(1, List.of());
        assertEquals(MapCalls.WAIT, step(1));
        hold(1, blocks.subList(2, blocks.size()));
        named(1, List.of());
        assertEquals(MapCalls.WAIT, step(1));
        hold(1, blocks.subList(2, blocks.size()));
        long round = roundOf(1);
        assertEquals(MapCalls.DONE, step(1));
        assertEquals(1, account(round).lost());
        assertNotEquals(0, beat(1) & MapCalls.COLLECT, "the next round");
    }

    @Test
    void aCollectorThatIsSilentIsFollowedByAnother() {
        state.register(1, 11);
        state.register(2, 22);
        state.register(3, 33);
        state.ended(1);
        assertNotEquals(0, beat(2) & MapCalls.COLLECT);
        assertEquals(0, beat(3) & MapCalls.COLLECT);
        long first = reply[3];
        now += 3 * SECOND;
        assertNotEquals(0, beat(3) & MapCalls.COLLECT);
        state.step(2, first, space, reply);
        assertEquals(MapCalls.STALE, reply[0]);
        // If a collector ends altogether, the collection starts over.
        state.ended(3);
        assertNotEquals(0, beat(2) & MapCalls.COLLECT);
        hold2();
    }

    private void hold2() {
        assertEquals(MapCalls.WAIT, step(2));
        for (int phase = 0; phase < 3; phase++) {
            hold(2, List.of());
            if (phase < 2) {
                named(2, List.of());
                assertEquals(MapCalls.WAIT, step(2));
            }
        }
        assertEquals(MapCalls.DONE, step(2));
        assertEquals(0, beat(2) & (MapCalls.SOON | MapCalls.COLLECT));
    }

    @Test
    void onSeveralServersAProcessIsDeadWhenAllSaySo() {
        state = new MapState(FakeMap.descriptor(2, 3, REGION_BYTES), () -> now, 0);
        state.register(1, 11);
        state.register(2, 22);
        state.ended(1);
        assertEquals(0, beat(2) & MapCalls.COLLECT);
        assertEquals(1, reply[5]);
        assertEquals(11, reply[MapCalls.BEAT_REPLY_WORDS]);
        assertEquals(0, beat(2, 1, 0, 0, 0, 0, 0, 11, 1) & MapCalls.COLLECT);
        // This beat names another process, and a server that does not exist.
        assertEquals(0, beat(2, 2, 0, 0, 0, 0, 0, 12, 2, 11, 7) & MapCalls.COLLECT);
        assertNotEquals(0, beat(2, 1, 0, 0, 0, 0, 0, 11, 2) & MapCalls.COLLECT);
        beat(2, 0, 3, 0, 0, 0, 0, 11, 22, 33);
        assertEquals(0b101, reply[6], "of those asked for only the second lives");
    }

    /** It would begin again and again, and read what it can of the table each time. */
    @Test
    void aProcessThatCannotReadTheTableCollectsNothing() {
        state = new MapState(FakeMap.descriptor(2, 2, REGION_BYTES), () -> now, 0);
        state.register(1, 11);
        state.register(2, 22);
        assertEquals(MapCalls.OK, state.sweep(1));
        assertEquals(0, beat(1, 0, 0, 0, 0, 1L << 1) & (MapCalls.COLLECT | MapCalls.SOON));
        assertNotEquals(0, beat(2) & MapCalls.COLLECT);
    }

    /** The other server will never say that the process has ended there. */
    @Test
    void aLostServerDoesNotKeepOldRequestsForEver() {
        state = new MapState(FakeMap.descriptor(2, 2, REGION_BYTES), () -> now, 0);
        state.register(1, 11);
        state.register(2, 22);
        state.register(3, 33);
        List<Long> given = cut(take(2, CLASS));
        state.ended(1);
        long lost = 1L << 1;
        beat(2, 0, 0, 0, 0, lost);
        beat(3, 0, 0, 0, 0, lost);
        assertEquals(0, reply[12], "it may be reached again soon");
        now += 200 * SECOND;
        beat(3, 0, 0, 0, 0, 0);
        now += 200 * SECOND;
        beat(2, 0, 0, 0, 0, lost);
        beat(3, 0, 0, 0, 0, lost);
        assertEquals(0, reply[12], "one process has reached it meanwhile");
        now += 301 * SECOND;
        assertEquals(0, beat(3, 0, 0, 0, 0, lost) & MapCalls.COLLECT, "a request may have read something there");
        assertEquals(lost, reply[12]);
        assertEquals(MapCalls.PART_GONE, state.register(4, 44));
        long epoch = reply[7];
        beat(3, 0, 0, epoch, 0, lost);
        assertNotEquals(0, beat(2, 0, 0, epoch, 0, lost) & MapCalls.COLLECT);
        assertEquals(0, reply[5], "it still asks about a process that has ended");
        // A segment changes its class, as no request of the dead process counts any more.
        while (take(2, CLASS, MapCalls.FIRST)[1] == MapCalls.SEGMENT) {
            // Takes all memory.
        }
        state.give(2, ++numbers, array(given), given.size(), reply);
        assertEquals(MapCalls.LATER, take(2, CLASS + 1)[1]);
        beat(2, 0, 0, 0, 0, lost);
        epoch = reply[7];
        beat(2, 0, 0, epoch, 0, lost);
        beat(3, 0, 0, epoch, 0, lost);
        assertEquals(MapCalls.BLOCKS, take(2, CLASS + 1)[1]);
    }

    /** A process that is forgotten may continue through the other server, and change slots there. */
    @Test
    void noEndedProcessIsForgotten() {
        state = new MapState(FakeMap.descriptor(2, 2, REGION_BYTES), () -> now, 0);
        int processes = MapMembers.MOST_ENDED + 1;
        long lastLease = processes + 1;
        state.register(lastLease, lastLease);
        for (int process = 1; process <= processes; process++) {
            state.register(process, process);
            state.ended(process);
        }
        int asked = 0;
        for (beat(lastLease); reply[5] > 0; beat(lastLease)) {
            assertEquals(0, reply[2] & MapCalls.COLLECT, "after " + asked + " of " + processes);
            int questions = (int) reply[5];
            long[] facts = new long[MapCalls.BEAT_WORDS + 2 * questions];
            facts[0] = questions;
            for (int i = 0; i < questions; i++) {
                facts[MapCalls.BEAT_WORDS + 2 * i] = reply[MapCalls.BEAT_REPLY_WORDS + i];
                facts[MapCalls.BEAT_WORDS + 2 * i + 1] = 1;
            }
            asked += questions;
            state.beat(lastLease, facts, reply);
            if (reply[5] > 0) {
                assertEquals(0, reply[2] & MapCalls.COLLECT, "after " + asked + " of " + processes);
            }
        }
        assertEquals(processes, asked);
    }

    @Test
    void aCallThatComesAgainIsAnsweredAsBefore() {
        state.register(1, 11);
        long[] first = take(1, CLASS);
        call(1, numbers, CLASS, 8, CLASS, MapCalls.LAST, 1);
        assertEquals(first[3], reply[3]);
        List<Long> blocks = cut(first);
        state.give(1, ++numbers, array(blocks), 10, reply);
        assertEquals(10, reply[1]);
        state.give(1, numbers, array(blocks), 10, reply);
        assertEquals(10, reply[1]);
        state.give(1, ++numbers, array(blocks), 10, reply);
        assertEquals(0, reply[1], "they are in the pool already");
        long[] pooled = take(1, CLASS);
        assertEquals(MapCalls.BLOCKS, pooled[1]);
        assertEquals(8, pooled[2]);
    }

    @Test
    void whatIsNoBlockIsNotTaken() {
        state.register(1, 11);
        long segment = take(1, CLASS)[3];
        long[] wrong = {
            SlotWord.live(segment + 1, 1, 0, UNITS),
            SlotWord.live(segment, 1, 0, UNITS + 1),
            SlotWord.live(segment + 1024, 1, 0, UNITS),
            SlotWord.live(0, 1, 0, UNITS),
            SlotWord.live((1L << 34) - 1, 1, 0, UNITS),
            -1,
            0
        };
        state.give(1, ++numbers, wrong, wrong.length, reply);
        assertEquals(0, reply[1]);
        call(1, ++numbers, -1, 1, CLASS, MapCalls.LAST, 1);
        assertEquals(MapCalls.WRONG, reply[0]);
        call(9, 1, CLASS, 1, CLASS, MapCalls.LAST, 1);
        assertEquals(MapCalls.NOT_REGISTERED, reply[0]);
    }

    @Test
    void memoryThatIsHandedOutComesToAnEnd() {
        state.register(1, 11);
        Set<Long> places = new HashSet<>();
        long[] taken = take(1, CLASS);
        while (taken[1] == MapCalls.SEGMENT) {
            assertTrue(places.add(taken[3]));
            taken = take(1, CLASS);
        }
        assertEquals(MapCalls.NOTHING, taken[1]);
        assertEquals(0, beat(1) & MapCalls.ROOM);
        assertTrue(places.size() >= 30 && places.size() <= 32, places.size() + " segments of 2 MiB");
    }

    /** If few segments are left, a session gets fewer than it wants, so that the next session gets some, too. */
    @Test
    void asManySegmentsAsAreWantedWhereManyAreLeft() {
        int most = 2 * 1023;
        state = new MapState(FakeMap.descriptor(2, 0, 64 << 20), () -> now, 0);
        state.register(1, 11);
        Set<Long> places = new HashSet<>();
        while (true) {
            int left = most - places.size();
            long[] taken = take(1, CLASS, MapCalls.FIRST, 6);
            if (taken[1] != MapCalls.SEGMENT) {
                break;
            }
            assertEquals(2 * Math.clamp(left / 64, 1, 6), taken[2]);
            assertEquals(3 + taken[2], taken.length);
            for (int i = 3; i < taken.length; i += 2) {
                assertTrue(places.add(taken[i]));
                assertEquals(64 << 10, taken[i + 1]);
            }
        }
        assertEquals(most, places.size());
        call(1, ++numbers, CLASS, 8, CLASS, MapCalls.FIRST, 0);
        assertEquals(MapCalls.WRONG, reply[0]);
    }

    @Test
    void noMoreThanAMessageHoldsAreGivenAtOnce() {
        state = new MapState(FakeMap.descriptor(2, 0, 64 << 20), () -> now, 0);
        state.register(1, 11);
        assertEquals(2 * MapCalls.MOST_SEGMENTS, take(1, CLASS, MapCalls.FIRST, Integer.MAX_VALUE)[2]);
    }

    @Test
    void soAreSegmentsOfOneBlock() {
        state = new MapState(
                new MapDescriptor(1, 0, 1, 1, REGION_BYTES, 100, 0, 512, new KeyHash(1, 2), 0, "lru"), () -> now, 0);
        state.register(1, 11);
        long[] taken = take(1, 0, MapCalls.FIRST, MapCalls.MOST_SEGMENTS);
        assertEquals(MapCalls.SEGMENT, taken[1]);
        assertEquals(2, taken[2]);
        assertEquals(512 / 64 * 64, taken[4]);
    }

    /** @return the blocks of all segments that are left, all taken for one class */
    private List<Long> takeAll(int sizeClass) {
        List<Long> all = new ArrayList<>();
        for (long[] taken = take(1, sizeClass, MapCalls.FIRST);
                taken[1] == MapCalls.SEGMENT;
                taken = take(1, sizeClass, MapCalls.FIRST)) {
            all.addAll(cut(taken));
        }
        return all;
    }

    @Test
    void aSegmentThatIsFreeBecomesAnotherWhenNobodyCanKnowItsBlocks() {
        state.register(1, 11);
        state.register(2, 22);
        List<Long> all = takeAll(CLASS);
        long[] segment = array(all.subList(0, 256));
        for (int i = 0; i < segment.length; i++) {
            write(segment[i], 77);
            // A block whose incarnations are used up counts as free, too.
            segment[i] = SlotWord.live(SlotWord.place(segment[i]), i == 5 ? 0 : 9, 0, UNITS);
        }
        state.give(1, ++numbers, segment, segment.length, reply);
        assertEquals(segment.length, reply[1]);
        assertEquals(MapCalls.LATER, take(1, CLASS + 1)[1]);
        assertEquals(MapCalls.LATER, take(1, CLASS)[1], "its blocks are nobody's now");
        beat(1);
        long epoch = reply[7];
        beat(1, 0, 0, epoch);
        assertEquals(MapCalls.LATER, take(1, CLASS + 1)[1], "the other process has old requests");
        beat(2, 0, 0, epoch - 1);
        assertEquals(MapCalls.LATER, take(1, CLASS + 1)[1]);
        beat(2, 0, 0, epoch);
        long[] again = take(1, CLASS + 1);
        assertEquals(MapCalls.BLOCKS, again[1]);
        assertEquals(SlotWord.live(SlotWord.place(segment[0]), 1, 0, UNITS + 1), again[3]);
        assertEquals(8, again[2]);
        assertEquals(
                0,
                space.region(0).get(ValueLayout.JAVA_LONG, (SlotWord.place(again[3]) + UNITS) * 64 + 16),
                "as if never used");
        state.give(1, ++numbers, segment, segment.length, reply);
        assertEquals(0, reply[1], "blocks of the old class are none");
    }

    @Test
    void whereAProcessIsSilentNoSegmentIsSoonOfAnotherClass() {
        state.register(1, 11);
        state.register(2, 22);
        long[] segment = array(takeAll(CLASS).subList(0, 256));
        state.give(1, ++numbers, segment, segment.length, reply);
        assertEquals(MapCalls.LATER, take(1, CLASS + 1)[1]);
        beat(1);
        long epoch = reply[7];
        now += SECOND;
        assertEquals(MapCalls.LATER, take(1, CLASS + 1, MapCalls.AGAIN)[1]);
        now += 2 * SECOND;
        assertEquals(MapCalls.STUCK, take(1, CLASS + 1, MapCalls.AGAIN)[1]);
        assertEquals(MapCalls.LATER, take(1, CLASS + 1)[1], "who has nothing else to do waits");
        // A process that takes a segment is not silent, although it sends no beat.
        take(2, CLASS + 2, MapCalls.FIRST);
        assertEquals(MapCalls.LATER, take(1, CLASS + 1, MapCalls.AGAIN)[1]);
        beat(2, 0, 0, epoch);
        now += 3 * SECOND;
        assertEquals(MapCalls.LATER, take(1, CLASS + 1, MapCalls.AGAIN)[1], "it holds nothing up");
    }

    @Test
    void aSegmentOfWhichABlockIsOutStaysWhatItIs() {
        state.register(1, 11);
        List<Long> all = takeAll(CLASS);
        long[] most = array(all.subList(0, 255));
        state.give(1, ++numbers, most, most.length, reply);
        assertEquals(MapCalls.NOTHING, take(1, CLASS + 1, MapCalls.FIRST)[1]);
        assertEquals(MapCalls.NOTHING, take(1, CLASS + 1, MapCalls.AGAIN)[1], "its object would be evicted");
        assertEquals(MapCalls.BLOCKS, take(1, CLASS)[1]);
    }

    /** @return the places and classes of the segments that the emptier has to empty */
    private long[] empty(long lease) {
        int words = state.empty(lease, reply);
        assertEquals(MapCalls.OK, reply[0]);
        return Arrays.copyOfRange(reply, 2, words);
    }

    private void give(List<Long> blocks) {
        for (int i = 0; i < blocks.size(); i += 900) {
            long[] some = array(blocks.subList(i, Math.min(blocks.size(), i + 900)));
            state.give(1, ++numbers, some, some.length, reply);
            assertEquals(some.length, reply[1]);
        }
    }

    /** @return the segments that are being emptied, from the reply to the last beat */
    private long[] emptying() {
        int at = MapCalls.BEAT_REPLY_WORDS + (int) reply[5];
        return Arrays.copyOfRange(reply, at, at + (int) reply[11]);
    }

    @Test
    void theSegmentThatHasLeastToBeMovedIsEmptied() {
        state.register(1, 11);
        state.register(2, 22);
        List<Long> all = takeAll(CLASS);
        // Half of the first segment is free, nearly all of the second, and a quarter of the third.
        give(all.subList(0, 128));
        give(all.subList(256, 500));
        give(all.subList(512, 576));
        long place = SlotWord.place(all.get(256));
        assertEquals(MapCalls.NOTHING, take(1, CLASS + 1, MapCalls.FIRST)[1]);
        long flags = beat(1);
        assertEquals(0, flags & MapCalls.EMPTIES, "requests in flight may use its blocks");
        assertEquals(MapCalls.SOON, flags & MapCalls.SOON);
        assertEquals(List.of(place), Arrays.stream(emptying()).boxed().toList());
        long epoch = reply[7];
        Set<Long> others = new HashSet<>(all.subList(0, 128));
        others.addAll(all.subList(512, 576));
        for (long[] taken = take(1, CLASS, MapCalls.FREE_BLOCKS);
                taken[1] == MapCalls.BLOCKS;
                taken = take(1, CLASS, MapCalls.FREE_BLOCKS)) {
            for (int i = 0; i < taken[2]; i++) {
                assertTrue(others.remove(taken[3 + i]), "one of what is being emptied, or twice");
            }
        }
        assertEquals(Set.of(), others);
        assertEquals(0, beat(1, 0, 0, epoch) & MapCalls.EMPTIES, "the other process does not know");
        assertNotEquals(0, beat(2, 0, 0, epoch) & MapCalls.EMPTIES);
        assertEquals(0, beat(1, 0, 0, epoch) & MapCalls.EMPTIES, "one is enough");
        state.empty(1, reply);
        assertEquals(MapCalls.STALE, reply[0]);
        assertEquals(
                List.of(place, (long) CLASS), Arrays.stream(empty(2)).boxed().toList());
        assertEquals(0, empty(2).length);
        give(all.subList(500, 512));
        beat(1);
        assertEquals(0, emptying().length);
        epoch = reply[7];
        beat(1, 0, 0, epoch);
        assertEquals(MapCalls.LATER, take(1, CLASS + 1)[1], "somebody may know a word of a block");
        beat(2, 0, 0, epoch);
        long[] again = take(1, CLASS + 1);
        assertEquals(MapCalls.BLOCKS, again[1]);
        assertEquals(place, SlotWord.place(again[3]));
        int words = state.state(reply);
        assertEquals(1, reply[words - 2], "emptied");
    }

    /** No block is free, so objects have to be evicted: from the class that has the most and asks for the least. */
    @Test
    void whereEvictingWasInVainAClassThatHasMuchGivesASegment() {
        state.register(1, 11);
        Set<Long> few = new HashSet<>();
        for (int i = 0; i < 5; i++) {
            few.add(take(1, CLASS + 2)[3]);
        }
        takeAll(CLASS);
        assertEquals(MapCalls.NOTHING, take(1, CLASS + 1, MapCalls.FIRST)[1]);
        assertEquals(MapCalls.NOTHING, take(1, CLASS + 1, MapCalls.AGAIN)[1]);
        assertEquals(MapCalls.LATER, take(1, CLASS + 1)[1]);
        beat(1);
        assertEquals(1, emptying().length);
        assertFalse(few.contains(emptying()[0]));
        beat(1, 0, 0, reply[7]);
        assertEquals(CLASS, empty(1)[1]);
    }

    @Test
    void aSegmentWhoseBlocksDoNotComeBackIsLeftAsItIsAndAnotherEmptierGoesOnForOneThatEnds() {
        state.register(1, 11);
        state.register(2, 22);
        List<Long> all = takeAll(CLASS);
        give(all.subList(0, 250));
        assertEquals(MapCalls.LATER, take(1, CLASS + 1)[1]);
        beat(1);
        long first = emptying()[0];
        long epoch = reply[7];
        beat(2, 0, 0, epoch);
        assertNotEquals(0, beat(1, 0, 0, epoch) & MapCalls.EMPTIES);
        assertEquals(first, empty(1)[0]);
        assertEquals(MapCalls.NOTHING, take(1, CLASS, MapCalls.FREE_BLOCKS)[1]);
        now += SECOND;
        state.ended(1);
        // The blocks of the process that has ended are collected first.
        beat(2, 0, 0, epoch);
        now += 5 * SECOND;
        beat(2);
        assertEquals(0, emptying().length);
        assertEquals(MapCalls.BLOCKS, take(2, CLASS, MapCalls.FREE_BLOCKS)[1]);
        assertEquals(MapCalls.LATER, take(2, CLASS + 1)[1]);
        beat(2);
        assertNotEquals(first, emptying()[0], "it was tried just now");
    }

    @Test
    void anEmptierThatComesAgainAndMovesNothingKeepsNoSegment() {
        state.register(1, 11);
        List<Long> all = takeAll(CLASS);
        give(all.subList(0, 250));
        assertEquals(MapCalls.LATER, take(1, CLASS + 1)[1]);
        beat(1);
        long epoch = reply[7];
        beat(1, 0, 0, epoch);
        int handedOver = 0;
        for (int tenths = 0; tenths < 80; tenths++) {
            now += SECOND / 10;
            if ((beat(1, 0, 0, epoch) & MapCalls.EMPTIES) != 0) {
                handedOver += empty(1).length;
            }
        }
        assertTrue(handedOver > 2, "it was tried again");
        beat(1);
        assertEquals(0, emptying().length);
    }

    @Test
    void aSegmentWithManyBlocksWhoseIncarnationsAreUsedUpIsEmptiedForItsOwnClass() {
        state.register(1, 11);
        List<Long> all = takeAll(CLASS);
        List<Long> worn = all.subList(0, 64).stream()
                .map(word -> SlotWord.live(SlotWord.place(word), 0, 0, UNITS))
                .toList();
        give(worn);
        assertEquals(MapCalls.NOTHING, take(1, CLASS, MapCalls.FIRST)[1]);
        take(1, CLASS, MapCalls.AGAIN);
        beat(1);
        assertEquals(
                List.of(SlotWord.place(all.get(0))),
                Arrays.stream(emptying()).boxed().toList());
        beat(1, 0, 0, reply[7]);
        give(all.subList(64, 256));
        beat(1);
        beat(1, 0, 0, reply[7]);
        long[] again = take(1, CLASS);
        assertEquals(MapCalls.BLOCKS, again[1]);
        assertEquals(all.get(0), again[3], "of its first incarnation");
    }

    private long grown(long lease, int server, int first, int count) {
        return state.grown(lease, server, first, count, new byte[0], 4);
    }

    private long joins(long lease, int server, int count, String address) {
        return state.grown(lease, server, 0, count, address.getBytes(StandardCharsets.UTF_8), 4);
    }

    @Test
    void serversJoinByTheirAddressAndLeave() {
        state.register(1, 11);
        state.growing(1, true);
        assertEquals(MapCalls.WRONG, joins(1, 1, 3, ""), "without an address");
        assertEquals(MapCalls.WRONG, joins(1, 2, 3, "there:7400"), "not the next number");
        assertEquals(MapCalls.WRONG, joins(1, 1, 0, "there:7400"), "without memory");
        assertEquals(MapCalls.OK, joins(1, 1, 3, "there:7400"));
        assertEquals(MapCalls.OK, joins(1, 1, 3, "there:7400"), "the same once more");
        assertEquals(MapCalls.OK, joins(1, 2, 1, "elsewhere-ä:7401"));
        assertEquals(MapCalls.WRONG, state.grown(1, 1, 3, 1, new byte[] {1}, 4), "an address of one that is there");
        int words = state.address(2, reply);
        assertEquals("elsewhere-ä:7401", new String(TextWords.bytes(reply, 2, (int) reply[1]), StandardCharsets.UTF_8));
        assertEquals(2 + 3, words);
        state.address(3, reply);
        assertEquals(MapCalls.WRONG, reply[0]);
        assertEquals(MapCalls.WRONG, grown(1, 0, 2, 0), "it has the table");
        assertEquals(MapCalls.WRONG, grown(1, 1, 2, 0), "it has more regions");
        assertEquals(MapCalls.OK, grown(1, 1, 3, 0));
        assertEquals(MapCalls.WRONG, grown(1, 1, 3, 1), "it has left");
        beat(1, 0, 0, 0, 3);
        assertEquals(3, reply[9]);
    }

    private boolean isAway(int server) {
        state.away(server, reply);
        assertEquals(MapCalls.OK, reply[0]);
        return reply[1] != 0;
    }

    /** The map's time is a minute. */
    @Test
    void aJoinedServerThatNoProcessUsesForTheMapsTimeIsLeftOut() {
        state.register(1, 11);
        state.register(2, 22);
        now += 100 * SECOND;
        state.growing(1, true);
        assertEquals(MapCalls.OK, joins(1, 1, 3, "there:7400"));
        beat(1, 0, 0, 0, 0, 0, 0);
        assertFalse(isAway(1), "processes have not known it for long");
        now += 61 * SECOND;
        beat(1, 0, 0, 0, 1, 0, 1L << 1);
        beat(2, 0, 0, 0, 1, 0, 1L << 1);
        now += 61 * SECOND;
        beat(1, 0, 0, 0, 1, 0, 0);
        assertFalse(isAway(1), "a process reaches it");
        now += 61 * SECOND;
        assertFalse(isAway(1), "a process reaches it");
        beat(2, 0, 0, 0, 1, 0, 0);
        now += 59 * SECOND;
        assertFalse(isAway(1), "not for a minute");
        beat(2, 0, 0, 0, 1, 0, 1L << 1);
        beat(2, 0, 0, 0, 1, 0, 0);
        now += 59 * SECOND;
        assertFalse(isAway(1), "a process has reached it again");
        now += 2 * SECOND;
        assertTrue(isAway(1));
        state.away(0, reply);
        assertEquals(MapCalls.WRONG, reply[0], "it has the table");
        state.away(2, reply);
        assertEquals(MapCalls.WRONG, reply[0], "there is none");
        assertEquals(MapCalls.OK, grown(1, 1, 3, 0));
        assertTrue(isAway(1), "it has left");
    }

    /** One that only tries to open the map says nothing of the server. */
    @Test
    void aProcessThatDoesNotUseTheMapLeavesNoServerOut() {
        state.register(1, 11);
        state.growing(1, true);
        assertEquals(MapCalls.OK, joins(1, 1, 3, "there:7400"));
        beat(1, 0, 0, 0, 1, 0, 0);
        state.leave(1);
        now += 61 * SECOND;
        state.register(2, 22);
        assertFalse(isAway(1));
        now += 61 * SECOND;
        assertFalse(isAway(1));
        beat(2, 0, 0, 0, 1, 0, 0);
        assertFalse(isAway(1));
        now += 61 * SECOND;
        assertTrue(isAway(1));
    }

    @Test
    void noServerIsLeftOutOfAMapThatNeverContinuesWithoutOne() {
        MapDescriptor first = FakeMap.descriptor(2, 0, REGION_BYTES);
        state = new MapState(
                new MapDescriptor(
                        first.mapId(),
                        0,
                        1,
                        2,
                        REGION_BYTES,
                        first.objects(),
                        0,
                        0,
                        first.keyHash(),
                        0,
                        first.policy()),
                () -> now,
                0);
        state.register(1, 11);
        state.growing(1, true);
        assertEquals(MapCalls.OK, joins(1, 1, 3, "there:7400"));
        beat(1, 0, 0, 0, 1, 0, 0);
        now += 1000 * SECOND;
        assertFalse(isAway(1));
    }

    private MapDescriptor joined() {
        MapDescriptor first = FakeMap.descriptor(2, 2, REGION_BYTES);
        return new MapDescriptor(
                first.mapId(), 2, 2, 2, REGION_BYTES, first.objects(), 0, 0, first.keyHash(), 0, first.policy());
    }

    private boolean drain(long lease, boolean begins) {
        state.drain(lease, begins ? MapCalls.LEAVES : MapCalls.STAYS, reply);
        assertEquals(MapCalls.OK, reply[0]);
        return reply[1] != 0;
    }

    @Test
    void aServerThatLeavesHandsNothingOutAndWaitsForRequestsInFlight() {
        state.drain(1, MapCalls.LEAVES, reply);
        assertEquals(MapCalls.WRONG, reply[0], "the server has a part of the table");
        state = new MapState(joined(), () -> now, 0);
        state.drain(1, MapCalls.LEAVES, reply);
        assertEquals(MapCalls.NOT_REGISTERED, reply[0]);
        state.register(1, 11);
        state.register(2, 22);
        assertEquals(MapCalls.NOTHING, take(1, CLASS)[1], "it has no region yet");
        assertEquals(MapCalls.OK, state.offer(1, 4, 0, 2, 2));
        assertEquals(MapCalls.SEGMENT, take(1, CLASS)[1]);
        assertFalse(drain(1, true));
        assertEquals(MapCalls.NOTHING, take(1, CLASS)[1]);
        state.drain(2, MapCalls.LEAVES, reply);
        assertEquals(MapCalls.BUSY, reply[0]);
        long flags = beat(1);
        assertEquals(MapCalls.LEAVING, flags & (MapCalls.LEAVING | MapCalls.ROOM));
        long epoch = reply[7];
        beat(1, 0, 0, epoch, 0);
        assertFalse(drain(1, true), "the other has not said so");
        beat(2, 0, 0, epoch, 0);
        assertTrue(drain(1, true));
        assertFalse(drain(1, false));
        assertEquals(MapCalls.SEGMENT, take(1, CLASS)[1]);
        assertEquals(MapCalls.ROOM, beat(1) & (MapCalls.LEAVING | MapCalls.ROOM));
        drain(2, true);
        assertEquals(MapCalls.NOTHING, take(1, CLASS)[1]);
        state.ended(2);
        assertEquals(MapCalls.SEGMENT, take(1, CLASS)[1], "whoever drained it has ended");
        state.register(3, 33);
        drain(3, true);
        state.drain(3, MapCalls.HAS_LEFT, reply);
        state.ended(3);
        assertEquals(MapCalls.NOTHING, take(1, CLASS)[1], "it has left, whoever is still to hear of that");
        assertEquals(MapCalls.LEAVING, beat(1) & (MapCalls.LEAVING | MapCalls.ROOM));
    }

    @Test
    void onAServerThatHasJoinedOneIsDeadWhenItIsOnAllThatHaveTheTable() {
        MapMembers members = new MapMembers(2, 2);
        members.add(1, 11);
        members.end(1, now);
        assertTrue(members.doubted());
        members.endedAt(11, 0);
        members.endedAt(11, 3);
        assertTrue(members.doubted());
        members.endedAt(11, 1);
        assertFalse(members.doubted());
    }

    @Test
    void whoMayGoOnThroughAServerThatIsLostIsSilent() {
        MapMembers members = new MapMembers(0, 2);
        members.add(1, 11);
        members.end(1, now);
        assertFalse(members.anySilent(now + SECOND, 1), "others may soon say that it has ended there too");
        assertTrue(members.anySilent(now + 3 * SECOND, 1));
        members.endedAt(11, 1);
        assertFalse(members.anySilent(now + 3 * SECOND, 1));
    }

    @Test
    void oneProcessAddsMemoryAtATime() {
        state.register(1, 11);
        state.register(2, 22);
        assertEquals(MapCalls.NOT_REGISTERED, state.growing(3, true));
        assertEquals(MapCalls.STALE, grown(1, 0, 2, 1), "it has not said that it grows");
        assertEquals(MapCalls.OK, state.growing(1, true));
        assertEquals(MapCalls.OK, state.growing(1, true));
        assertEquals(MapCalls.BUSY, state.growing(2, true));
        assertEquals(MapCalls.STALE, grown(2, 0, 2, 1));
        assertEquals(MapCalls.WRONG, grown(1, 0, 3, 1), "a gap");
        assertEquals(MapCalls.WRONG, grown(1, 0, 2, 3), "more than the space has");
        assertEquals(MapCalls.WRONG, grown(1, 1, 2, 1), "no such server");
        assertEquals(MapCalls.WRONG, grown(1, -1, 2, -1));
        assertEquals(MapCalls.OK, grown(1, 0, 2, 1));
        assertEquals(MapCalls.OK, grown(1, 0, 2, 1), "the same once more");
        state.ended(1);
        assertEquals(MapCalls.OK, state.growing(2, true));
        assertEquals(MapCalls.OK, grown(2, 0, 3, 1));
        state.growing(2, false);
        assertEquals(MapCalls.STALE, grown(2, 0, 3, 1), "it grows no more");
        state.layout(1, reply);
        assertEquals(2, reply[1]);
        assertEquals(1, reply[2]);
        assertEquals(List.of(0L, 3L, 1L), List.of(reply[3], reply[4], reply[5]));
        state.layout(-1, reply);
        assertEquals(MapCalls.WRONG, reply[0]);
    }

    @Test
    void newRegionsAreHandedOutWhenAllProcessesHaveThem() {
        state.register(1, 11);
        state.register(2, 22);
        state.growing(1, true);
        grown(1, 0, 2, 1);
        assertNotEquals(0, beat(1, 0, 0, 0, 7) & MapCalls.SOON, "one that says it has more has what there is");
        assertEquals(1, reply[8]);
        assertEquals(0, reply[9], "the other has not");
        beat(2, 0, 0, 0, 1);
        assertEquals(1, reply[9]);
        state.register(3, 33);
        assertEquals(0, beat(3) & MapCalls.SOON);
        assertEquals(1, reply[9], "who comes later asks before it begins");
        int hadAll = takeAll(CLASS).size();
        for (int[] wrong : new int[][] {{1, 2, 1}, {2, 1, 1}, {2, 3, 1}, {2, 2, 3}, {2, 2, 0}, {-1, -1, -1}}) {
            assertEquals(MapCalls.WRONG, state.offer(1, wrong[0], wrong[1], wrong[2], 4), Arrays.toString(wrong));
        }
        assertEquals(MapCalls.NOT_REGISTERED, state.offer(9, 2, 2, 1, 4));
        assertEquals(MapCalls.OK, state.offer(1, 2, 2, 1, 4));
        assertEquals(MapCalls.OK, state.offer(2, 2, 2, 1, 4), "the same once more");
        assertEquals(MapCalls.WRONG, state.offer(2, 3, 2, 1, 4), "with another number");
        beat(1);
        assertEquals(3, reply[10]);
        List<Long> more = takeAll(CLASS);
        assertTrue(more.size() >= hadAll / 2 - 512, more.size() + " blocks of a region");
        long[] words = array(more);
        state.give(1, ++numbers, words, 20, reply);
        assertEquals(20, reply[1]);
    }
}
