package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.NativeMemory;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.RegionHolders;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client's map names regions; a call finds only those of them that the client's lease holds. */
class LeaseRegionTableTest {

    private static final int SHIFT = 12;
    private static final long REGION = 1L << SHIFT;
    private static final int REGIONS = 4;
    private static final long LEASE = 7;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(REGIONS * REGION, 64);
    private final RegionHolders holders = new RegionHolders(memory, REGION, REGIONS);
    private final HeldRegions held = new HeldRegions(holders, LEASE, "test");
    private final HeldRegions other = new HeldRegions(holders, LEASE + 1, "other");

    @AfterEach
    void close() {
        arena.close();
    }

    private long entry(LeaseRegionTable map, int index) {
        return NativeMemory.ALL.get(JAVA_LONG, map.table() + index * 8L);
    }

    @Test
    void onlyWhatIsHeldIsThere() {
        held.hold(0);
        other.hold(1);
        held.hold(2);
        int[] wrong = {2, -1, 1, 3, 0, REGIONS, Integer.MAX_VALUE, Integer.MIN_VALUE, 1 << 20, 2};
        LeaseRegionTable map = new LeaseRegionTable(1, wrong, SHIFT);
        map.refresh(held);
        for (int i = 0; i < wrong.length; i++) {
            long expected = wrong[i] == 2 || wrong[i] == 0 ? memory.address() + wrong[i] * REGION : 0;
            assertEquals(expected, entry(map, i), "region " + wrong[i]);
        }
        assertEquals(16, map.entries());
        for (int i = wrong.length; i < map.entries(); i++) {
            assertEquals(0, entry(map, i), "behind its regions");
        }
        assertEquals(wrong.length * REGION, map.span());
        assertTrue(map.toString().contains("version 1") || map.toString().contains("map 1"));
    }

    @Test
    void whatIsGivenBackIsGoneAtTheNextLook() {
        held.hold(0);
        held.hold(1);
        LeaseRegionTable map = new LeaseRegionTable(1, new int[] {1, 0}, SHIFT);
        map.refresh(held);
        assertEquals(memory.address(), entry(map, 1));
        holders.clear(0);
        map.refresh(held);
        assertEquals(memory.address() + REGION, entry(map, 0));
        assertEquals(0, entry(map, 1));
        other.hold(0);
        holders.clear(1);
        map.refresh(held);
        assertEquals(0, entry(map, 0));
        assertEquals(0, entry(map, 1));
    }

    /**
     * One thread sees that a region is held; the region is given back; then the thread writes the region's address.
     * Another thread, which looks meanwhile, waits for nothing, and does not use the table.
     */
    @Test
    @Timeout(120)
    void whatIsGivenBackWhileTwoThreadsLookIsGone() throws InterruptedException {
        held.hold(0);
        held.hold(1);
        LeaseRegionTable map = new LeaseRegionTable(1, new int[] {0, 1}, SHIFT);
        CountDownLatch seen = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Thread first = Thread.ofPlatform().start(() -> {
            map.make(held::changes, region -> {
                long found = held.address(region);
                seen.countDown();
                await(goOn);
                return found;
            });
        });
        await(seen);
        holders.clear(0);
        assertFalse(map.refresh(held));
        goOn.countDown();
        first.join();
        assertTrue(map.refresh(held));
        assertEquals(0, entry(map, 0), "it is another's");
        assertEquals(memory.address() + REGION, entry(map, 1));
    }

    /** Regions that are given back meanwhile are gone from all parts before the table is used. */
    @Test
    void aLargeTableIsMadeInParts() {
        for (int i = 0; i < REGIONS; i++) {
            held.hold(i);
        }
        int[] all = IntStream.range(0, 3 * LeaseRegionTable.MOST_AT_ONCE)
                .map(i -> i % REGIONS)
                .toArray();
        LeaseRegionTable map = new LeaseRegionTable(1, all, SHIFT);
        assertFalse(map.refresh(held));
        assertFalse(map.refresh(held));
        holders.clear(1);
        assertFalse(map.refresh(held), "what was written before may be of the region that is gone");
        assertFalse(map.refresh(held));
        assertTrue(map.refresh(held));
        for (int i = 0; i < all.length; i++) {
            assertEquals(i % REGIONS == 1 ? 0 : memory.address() + i % REGIONS * REGION, entry(map, i));
        }
    }

    /** Another lease gives regions back all the time. */
    @Test
    void whatOthersGiveBackDoesNotMatter() {
        held.hold(0);
        LeaseRegionTable map = new LeaseRegionTable(1, new int[8 * LeaseRegionTable.MOST_AT_ONCE], SHIFT);
        for (int part = 0; part < 7; part++) {
            assertFalse(map.refresh(held), "part " + part);
            other.hold(1);
            holders.clear(1);
        }
        assertTrue(map.refresh(held));
        for (int i = 0; i < 10_000; i++) {
            new HeldRegions(holders, LEASE + 1 + i, "another").hold(1);
            holders.clear(1);
        }
        assertTrue(map.isFresh(held));
    }

    /** The lease itself gives them back all the time, as while it is reclaimed. */
    @Test
    void aTableIsWholeWhateverIsGivenBack() {
        held.hold(0);
        LeaseRegionTable map = new LeaseRegionTable(1, new int[8 * LeaseRegionTable.MOST_AT_ONCE], SHIFT);
        int parts = 1;
        while (!map.refresh(held)) {
            held.hold(1);
            holders.clear(1);
            parts++;
            assertTrue(parts < 10, "it is never whole");
        }
        assertEquals(memory.address(), entry(map, 8 * LeaseRegionTable.MOST_AT_ONCE - 1));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void anyAddressMayBeAskedFor() {
        held.hold(0);
        LeaseRegionTable map = new LeaseRegionTable(1, new int[] {0, -1}, SHIFT);
        map.refresh(held);
        assertEquals(memory.address(), map.address(0));
        assertEquals(memory.address() + 7, map.address(7));
        assertEquals(memory.address() + REGION - 1, map.address(REGION - 1));
        assertEquals(REGION - 1, held.place(map.address(REGION - 1)));
        assertEquals(0, map.address(REGION));
        assertEquals(0, map.address(2 * REGION));
        assertEquals(0, map.address(Long.MAX_VALUE));
        assertEquals(0, map.address(-1));
        assertEquals(0, map.address(Long.MIN_VALUE));
        assertEquals(0, LeaseRegionTable.EMPTY.address(0));
        assertEquals(0, LeaseRegionTable.EMPTY.span());
    }
}
