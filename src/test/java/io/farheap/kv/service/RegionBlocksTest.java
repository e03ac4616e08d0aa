package io.farheap.kv.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.farheap.kv.format.FakeMap;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The memory that a server needs for the blocks of a region, whose size and segments a client has chosen. */
class RegionBlocksTest {

    private static final int REGION_BYTES = 1 << 26;
    private static final int UNITS = REGION_BYTES / 64;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());

    private static long allocated() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }

    @Test
    void nothingIsMadeForWhatIsNotHandedOut() {
        for (SpaceShape shape : new SpaceShape[] {
            FakeMap.ofSmallBlocks(REGION_BYTES).shape(),
            FakeMap.descriptor(1, 1, REGION_BYTES).shape()
        }) {
            // The first object loads classes, whose memory must not be counted.
            assertTrue(new RegionBlocks(0, 0, shape, true).left() > 0);
            long before = allocated();
            RegionBlocks blocks = new RegionBlocks(0, 0, shape, true);
            long bytes = allocated() - before;
            assertTrue(bytes < 4096, bytes + " bytes for none of " + blocks.left() + " segments");
        }
    }

    @Test
    void aSegmentOfOneBlockTakesSomeBytes() {
        RegionBlocks blocks =
                new RegionBlocks(0, 0, FakeMap.ofSmallBlocks(REGION_BYTES).shape(), true);
        long before = allocated();
        while (blocks.left() > 0) {
            int unit = blocks.unit(blocks.handOut(0, 1));
            assertTrue(blocks.addPooled(unit, 1));
        }
        long bytes = allocated() - before;
        // The bytes include the arrays that were replaced by larger ones.
        assertTrue(bytes < 8L * UNITS, bytes + " bytes for " + blocks.handedOut() + " segments");
    }

    /** Compares with an array that has the incarnation of each pooled block, or that the block is worn or out. */
    @Test
    void segmentsOfOneBlockAreTakenAndGivenBack() {
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        int bytes = 1 << 17;
        int worn = -1;
        int out = 0;
        RegionBlocks blocks =
                new RegionBlocks(0, 0, FakeMap.ofSmallBlocks(bytes).shape(), true);
        int[] model = new int[blocks.left()];
        long[] words = new long[4];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(bytes, 64);
            while (blocks.left() > 0) {
                if (random.nextInt(8) == 0) {
                    blocks.handOut(0, Math.min(blocks.left(), 1 + random.nextInt(16)));
                }
                if (blocks.handedOut() == 0) {
                    continue;
                }
                int segment = random.nextInt(blocks.handedOut());
                int unit = blocks.unit(blocks.placeOf(segment));
                assertEquals(segment, blocks.segmentOf(unit));
                if (model[segment] == out) {
                    int next = random.nextInt(4) == 0 ? 0 : 1 + random.nextInt(1000);
                    assertEquals(next != 0, blocks.addPooled(unit, next));
                    model[segment] = next == 0 ? worn : next;
                } else if (random.nextBoolean()) {
                    int taken = blocks.takePooled(segment, 1 + random.nextInt(3), words, 1);
                    assertEquals(model[segment] > 0 ? 1 : 0, taken);
                    if (taken == 1) {
                        assertEquals(blocks.placeOf(segment), SlotWord.place(words[1]));
                        assertEquals(model[segment], SlotWord.incarnation(words[1]));
                        assertEquals(1, SlotWord.units(words[1]));
                        model[segment] = out;
                    }
                } else if (random.nextInt(4) == 0) {
                    blocks.retire(segment);
                    blocks.reuse(segment, 0, memory);
                    model[segment] = out;
                }
                assertEquals(model[segment] > 0 ? 1 : 0, blocks.usable(segment));
                assertEquals(model[segment] == worn ? 1 : 0, blocks.worn(segment));
                assertEquals(model[segment] == out ? 1 : 0, blocks.out(segment));
                assertEquals(model[segment] != out, blocks.full(segment));
                assertEquals(model[segment] != out, blocks.isPooled(unit));
                assertEquals(1, blocks.suspect(segment));
                assertEquals(model[segment] == out, blocks.clear(unit));
            }
        }
    }
}
