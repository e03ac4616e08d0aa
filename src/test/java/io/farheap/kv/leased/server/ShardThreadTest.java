package io.farheap.kv.leased.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.leased.format.ReportRing;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.kv.leased.format.ShardShape;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.PutOffCalls;
import io.farheap.rpc.RegionHolders;
import io.farheap.server.contract.ServedSpace;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.contract.SpaceListener;
import io.farheap.server.contract.SpacePin;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Threads of a server that hand calls of a leased map over to each other. */
class ShardThreadTest {

    private static final long LEASE = 5;
    private static final int REGION = 1 << 20;
    private static final KeyHash HASH = new KeyHash(1, 2);

    private final ServedSpace space = new Space();
    private final ServedMaps maps = new ServedMaps(() -> {});
    /** Wakes the rings' thread, and those of the shards. */
    private Runnable wake = () -> {};

    private final PutOffCalls calls = new PutOffCalls(() -> wake.run());
    /** Calls that were given back. */
    private final List<HandedCall> returned = new ArrayList<>();
    /** The caller's region, which has a value, or a ring of reports, at its begin. */
    private final MemorySegment area = Arena.ofAuto().allocate(REGION, 4096);

    private final RegionHolders holders = new RegionHolders(area, REGION, 1);

    private ShardThread first;
    private ShardThread second;
    private ServedShards shards;
    private boolean opened = true;

    private final class Space implements ServedSpace {

        private final MemorySegment memory = Arena.ofAuto().allocate(2 * REGION, 4096);

        @Override
        public long id() {
            return 7;
        }

        @Override
        public String name() {
            return "map";
        }

        @Override
        public byte[] descriptor() {
            return new LeasedDescriptor(1, 0, 1, 2, REGION, 100, 1000, 1000, 16, HASH).encode();
        }

        @Override
        public int regions() {
            return 2;
        }

        @Override
        public long regionBytes() {
            return REGION;
        }

        @Override
        public MemorySegment region(int place) {
            return memory.asSlice((long) place * REGION, REGION);
        }

        @Override
        public boolean readOnly() {
            return true;
        }

        @Override
        public boolean openedBy(long leaseId) {
            return opened && leaseId == LEASE;
        }
    }

    private final ServedSpaces spaces = new ServedSpaces() {

        @Override
        public @Nullable ServedSpace find(long spaceId) {
            return spaceId == 7 ? space : null;
        }

        @Override
        public @Nullable SpacePin use(long spaceId) {
            return null;
        }

        @Override
        public void listen(SpaceListener listener) {}
    };

    @BeforeEach
    void start() {
        first = thread();
        second = thread();
        ServedShards made = maps.shards(space);
        assertNotNull(made);
        shards = made;
    }

    private ShardThread thread() {
        ShardThread made = new ShardThread(maps, spaces, () -> wake.run());
        maps.add(made);
        return made;
    }

    /** A call of one key to the shard that has it. */
    private HandedCall call(int operation, int count) {
        MemorySegment request = MemorySegment.ofArray(new byte[LeasedCalls.KEY + 16]);
        LeasedCalls.request(request, 0, 7, 8, 8, 0, 0);
        LeasedCalls.name(request, 0, LeasedCalls.session(0, 1), count, 1);
        request.set(JAVA_BYTE, LeasedCalls.KEY, (byte) 1);
        HandedCall call = new HandedCall(returned::add);
        call.operation = operation;
        call.lease = LEASE;
        call.space = 7;
        call.hash = HASH.of(request, LeasedCalls.KEY, 8);
        call.shard = shards.indexOfKey(call.hash);
        call.calls = shards.sessions(LEASE).of(LeasedCalls.session(0, 1), count);
        call.copy(request, 0, LeasedCalls.KEY + 16);
        call.pending = calls.add();
        return call;
    }

    private void hold() {
        new HeldRegions(holders, LEASE, "client").hold(0);
    }

    /** A set of a value that is in a region of the caller's. */
    private HandedCall setInArea(int bytes, int count) {
        HandedCall call = call(LeasedCalls.SET, count);
        MemorySegment request = MemorySegment.ofArray(new byte[LeasedCalls.KEY + 8 + LeasedCalls.AREA_BYTES]);
        MemorySegment.copy(call.request, 0, request, 0, LeasedCalls.KEY + 8);
        LeasedCalls.request(request, 0, 7, 8, bytes, 0, 0);
        LeasedCalls.name(request, 0, LeasedCalls.session(0, 1), count, 1);
        long sum = LeasedPieces.sumOfAll(area, 0, bytes, new BlockChecksum(HASH));
        LeasedCalls.valueInArea(request, 0, 8, 0, 0, sum);
        call.copy(request, 0, (int) request.byteSize());
        call.held = new HeldRegions(holders, LEASE, "client");
        return call;
    }

    /** The shard's thread copies a value from the caller's region, as long as the caller holds it. */
    @Test
    void aHandedCallHasItsValueInTheCallersRegion() {
        hold();
        HandedCall set = setInArea(40_000, 1);
        owner(set).hand(set);
        owner(set).run(false);
        assertTrue(calls.takeAnswer());
        assertEquals(1, shards.totals().objects());
        assertNull(set.held, "the call can be used again");
        HandedCall delete = call(LeasedCalls.DELETE, 2);
        owner(delete).hand(delete);
        HandedCall late = setInArea(40_000, 3);
        owner(late).hand(late);
        holders.clear(0);
        owner(late).run(false);
        assertTrue(calls.takeAnswer());
        assertTrue(calls.takeAnswer());
        assertEquals(0, shards.totals().objects());
    }

    /** The part of the area was another request's when its call came: each call stores its own value, or none, once. */
    @Test
    void aLateCallFindsAnotherRequestsValue() {
        hold();
        HandedCall late = setInArea(40_000, 1);
        area.set(JAVA_BYTE, 5, (byte) 1);
        HandedCall next = setInArea(40_000, 2);
        carryOut(late);
        assertEquals(0, shards.totals().objects());
        carryOut(next);
        assertEquals(1, shards.totals().objects());
        long version = stored(next).version;
        // The late WRITE comes, and the late call again: it was answered, and its client has sent it as another one.
        area.set(JAVA_BYTE, 5, (byte) 0);
        carryOut(setInArea(40_000, 1));
        assertEquals(version, stored(next).version);
        carryOut(setInArea(40_000, 3));
        assertTrue(stored(next).version != version);
    }

    /** The area comes back before the call comes again. */
    @Test
    void aCallThatWasRefusedStoresNothingLater() {
        carryOut(setInArea(40_000, 1));
        hold();
        carryOut(setInArea(40_000, 1));
        assertEquals(0, shards.totals().objects());
        carryOut(setInArea(40_000, 2));
        assertEquals(1, shards.totals().objects());
    }

    private void carryOut(HandedCall set) {
        ShardThread owner = owner(set);
        owner.hand(set);
        while (owner.run(false)) {
            Thread.onSpinWait();
        }
        assertTrue(calls.takeAnswer());
    }

    /** The object that a call has stored. */
    private ShardAnswer stored(HandedCall call) {
        ShardAnswer answer = new ShardAnswer();
        shards.shard(call.shard).call(LeasedCalls.GET, call.request, 0, call.hash, answer);
        assertEquals(KvStatus.DONE, answer.status);
        return answer;
    }

    /** A long value is copied in steps, between which the thread carries out other calls. */
    @Test
    void otherCallsDoNotWaitForALongValue() {
        hold();
        HandedCall set = setInArea(300_000, 1);
        ShardThread owner = owner(set);
        owner.hand(set);
        int rounds = 0;
        while (shards.totals().objects() == 0) {
            HandedCall get = call(LeasedCalls.GET, 2);
            owner.hand(get);
            assertTrue(owner.run(false) || shards.totals().objects() == 1);
            assertTrue(calls.takeAnswer());
            rounds++;
        }
        assertEquals(5, rounds, "19 pieces, four at a time");
        assertTrue(calls.takeAnswer());
        assertEquals(1, shards.totals().objects());
    }

    /** The connection, or the process, ends while its value is copied: the blocks are free again. */
    @Test
    void aValueThatIsCopiedHalfIsFreed() {
        hold();
        HandedCall set = setInArea(300_000, 1);
        owner(set).hand(set);
        assertTrue(owner(set).run(false));
        assertTrue(shards.totals().usedBytes() > 0);
        holders.clear(0);
        owner(set).run(false);
        assertTrue(calls.takeAnswer());
        hold();
        HandedCall again = setInArea(300_000, 2);
        owner(again).hand(again);
        assertTrue(owner(again).run(false));
        calls.cancel();
        owner(again).run(false);
        assertEquals(List.of(set, again), returned);
        assertEquals(0, shards.totals().objects() + shards.totals().usedBytes());
        assertFalse(owner(again).run(false));
    }

    /** The thread that copies a value ends: the next one begins again, and no block is lost. */
    @Test
    void anotherThreadCopiesAValueAgain() {
        hold();
        HandedCall set = setInArea(300_000, 1);
        ShardThread owner = owner(set);
        ShardThread other = owner == first ? second : first;
        owner.hand(set);
        assertTrue(owner.run(false));
        owner.ended();
        for (int i = 0; i < 5; i++) {
            other.run(false);
        }
        assertTrue(calls.takeAnswer());
        assertEquals(1, shards.totals().objects());
        assertEquals(1, shards.totals().rebuilt());
        // 18 pieces of four a segment, one that is shorter, and the index.
        assertEquals(7 * ShardShape.SEGMENT_BYTES, shards.totals().usedBytes());
    }

    /** A call announces the ring to a thread. */
    private void announce(ShardThread thread) {
        MemorySegment request = MemorySegment.ofArray(new byte[LeasedCalls.KEY]);
        LeasedCalls.ring(request, 0, 7, 0, 0, 0, 3);
        HeldRegions held = new HeldRegions(holders, LEASE, "client");
        assertEquals(KvStatus.DONE, thread.addRing(shards, held, request, 0));
    }

    /** Writes a report of READs of the object that a call has stored. */
    private void writeReport(long number, HandedCall stored, int reads) {
        ShardAnswer answer = stored(stored);
        long at = ReportRing.placeOf(number);
        LeasedCalls.report(area, at + ReportRing.REPORT, 7, shards.number(stored.shard), 1);
        LeasedCalls.reported(area, at + ReportRing.REPORT, 0, answer.unit, reads, answer.incarnation);
        ReportRing.seal(area, at, number, 1, new BlockChecksum(HASH));
    }

    /** Has both threads look at their rings until a number of reports is merged, and once more. */
    private void merge(long reports) {
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (area.get(JAVA_LONG, 0) < reports && System.nanoTime() - deadline < 0) {
            first.run(false);
            second.run(false);
        }
        long looked = System.nanoTime() + 1_000_000;
        while (System.nanoTime() - looked < 0) {
            first.run(false);
            second.run(false);
        }
        assertEquals(reports, area.get(JAVA_LONG, 0));
    }

    /** The connection of a session that was made again, or of a later session of its number, is another thread's. */
    @Test
    void aWrittenReportCountsOnceWhicheverThreadLooks() {
        hold();
        HandedCall set = call(LeasedCalls.SET, 1);
        owner(set).hand(set);
        owner(set).run(false);
        announce(first);
        announce(second);
        writeReport(1, set, 10);
        merge(1);
        announce(first);
        writeReport(2, set, 10);
        merge(2);
        assertEquals(2, shards.totals().written());
        assertEquals(20, shards.totals().reported() + shards.totals().capped());
    }

    /** A call on the shard did not end, and the shard cannot be put in order: that fails, and the thread continues. */
    @Test
    void aWrittenReportThatFailsEndsNoThread() {
        hold();
        HandedCall set = call(LeasedCalls.SET, 1);
        owner(set).hand(set);
        owner(set).run(false);
        announce(owner(set));
        writeReport(1, set, 10);
        shards.shard(set.shard).fail(() -> {
            throw new IllegalStateException("a report fails");
        });
        merge(1);
        shards.shard(set.shard).fail(() -> {});
        assertTrue(calls.takeAnswer());
        HandedCall get = call(LeasedCalls.GET, 2);
        owner(get).hand(get);
        owner(get).run(false);
        assertTrue(calls.takeAnswer());
        assertEquals(1, shards.totals().objects());
    }

    private ShardThread owner(HandedCall call) {
        return shards.owner(call.shard) == first ? first : second;
    }

    @Test
    void aMapsShardsAreSpreadOverTheThreads() {
        assertSame(first, shards.owner(0));
        assertSame(second, shards.owner(1));
    }

    @Test
    void aHandedCallIsCarriedOutByItsShardsThread() {
        HandedCall set = call(LeasedCalls.SET, 1);
        ShardThread owner = owner(set);
        (owner == first ? second : first).hand(set);
        first.run(false);
        second.run(false);
        first.run(false);
        assertTrue(calls.takeAnswer());
        assertEquals(1, shards.totals().objects());
    }

    /** The connection was fenced, and its client has had another answer or sends the call again. */
    @Test
    void aCallOfAConnectionThatHasEndedIsNotCarriedOut() {
        HandedCall set = call(LeasedCalls.SET, 1);
        ShardThread owner = owner(set);
        owner.hand(set);
        calls.cancel();
        owner.run(false);
        assertEquals(0, shards.totals().objects());
        assertNull(set.pending, "the call can be used again");
    }

    @Test
    void aCallOfAProcessThatHasEndedIsNotCarriedOut() {
        HandedCall set = call(LeasedCalls.SET, 1);
        ShardThread owner = owner(set);
        owner.hand(set);
        opened = false;
        owner.run(false);
        assertEquals(0, shards.totals().objects());
        assertTrue(calls.takeAnswer());
    }

    /** Another server joins, which has the keys of nearly all ranges. */
    private void release(HandedCall of) {
        ShardDirectory next = shards.edition().made().with(new ShardDirectory.Change(1, 200));
        shards.edition().ranges().release(next);
        assertEquals(ServedShards.ELSEWHERE, shards.indexOfKey(of.hash));
        assertFalse(shards.edition().ranges().isSettled());
    }

    /** It was handed over before its key went to another server. */
    @Test
    void aCallForAKeyThatHasGoneIsNotCarriedOut() {
        HandedCall set = call(LeasedCalls.SET, 1);
        ShardThread owner = owner(set);
        owner.hand(set);
        release(set);
        owner.run(false);
        assertEquals(0, shards.totals().objects());
        assertTrue(calls.takeAnswer());
        assertTrue(shards.isSettled(set.shard));
    }

    @Test
    void threadsDropTheKeysThatHaveGone() {
        HandedCall set = call(LeasedCalls.SET, 1);
        ShardThread owner = owner(set);
        owner.hand(set);
        owner.run(false);
        assertTrue(calls.takeAnswer());
        assertEquals(1, shards.totals().objects());
        release(set);
        assertEquals(set.shard, shards.formerIndexOfKey(set.hash), "its thread may still carry a call out");
        maps.released();
        for (int round = 0; round < 5; round++) {
            first.run(false);
            second.run(false);
        }
        assertTrue(shards.edition().ranges().isSettled());
        assertEquals(0, shards.totals().objects());
        assertEquals(ServedShards.ELSEWHERE, shards.formerIndexOfKey(set.hash));
    }

    /** The shards of a thread that has ended go to another one, which drops what has gone. */
    @Test
    void theShardsOfAThreadThatHasEndedDropTheirKeysToo() {
        HandedCall set = call(LeasedCalls.SET, 1);
        release(set);
        first.ended();
        maps.released();
        for (int round = 0; round < 5; round++) {
            second.run(false);
        }
        assertTrue(shards.edition().ranges().isSettled());
    }

    private static void failsToWake() {
        throw new IllegalStateException("it cannot be woken");
    }

    @Test
    void aCallWhoseAnswerFailsIsGivenBackOnce() {
        HandedCall set = call(LeasedCalls.SET, 1);
        ShardThread owner = owner(set);
        owner.hand(set);
        wake = ShardThreadTest::failsToWake;
        owner.run(false);
        assertEquals(List.of(set), returned);
        assertFalse(calls.hasFailed());
        assertTrue(calls.takeAnswer());
    }

    @Test
    void aCallThatWasHandedOnBelongsToTheNextThread() {
        HandedCall set = call(LeasedCalls.SET, 1);
        ShardThread owner = owner(set);
        ShardThread other = owner == first ? second : first;
        other.hand(set);
        wake = ShardThreadTest::failsToWake;
        other.run(false);
        assertEquals(List.of(), returned);
        wake = () -> {};
        owner.run(false);
        assertEquals(List.of(set), returned);
        assertFalse(calls.hasFailed());
        assertTrue(calls.takeAnswer());
        assertEquals(1, shards.totals().objects());
    }

    /** An error ends the thread; the call has an answer nevertheless, and the shard another thread. */
    @Test
    void aCallThatEndsItsThreadFails() {
        HandedCall set = call(LeasedCalls.SET, 1);
        HandedCall next = call(LeasedCalls.SET, 2);
        ShardThread owner = owner(set);
        ShardThread other = owner == first ? second : first;
        shards.shard(set.shard).fail(() -> {
            throw new StackOverflowError();
        });
        owner.hand(set);
        owner.hand(next);
        assertThrows(StackOverflowError.class, () -> owner.run(false));
        assertTrue(calls.hasFailed());
        assertTrue(calls.takeAnswer());
        shards.shard(set.shard).fail(() -> {});
        owner.ended();
        other.run(false);
        assertFalse(calls.hasFailed());
        assertTrue(calls.takeAnswer());
        assertEquals(1, shards.totals().objects());
        assertSame(other, shards.owner(set.shard));
        HandedCall get = call(LeasedCalls.GET, 3);
        owner.hand(get);
        other.run(false);
        assertTrue(calls.takeAnswer());
    }
}
