package io.farheap.connection;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class OutstandingReadsTest {

    private record Range(long address, int bytes) {
        boolean overlaps(Range other) {
            return address < other.address + other.bytes && other.address < address + bytes;
        }
    }

    /** Never a no for a range that overlaps a READ; and no counter is left when all READs are done. */
    @RepeatedTest(20)
    void neverMissesAnOverlap() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        OutstandingReads reads = new OutstandingReads();
        List<Range> outstanding = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            if (outstanding.size() < 64 && random.nextBoolean()) {
                Range range = range(random);
                outstanding.add(range);
                reads.add(range.address, range.bytes);
            } else if (!outstanding.isEmpty()) {
                Range done = outstanding.remove(random.nextInt(outstanding.size()));
                reads.remove(done.address, done.bytes);
            }
            Range write = range(random);
            if (outstanding.stream().anyMatch(write::overlaps)) {
                assertTrue(reads.mayOverlap(write.address, write.bytes), "seed " + seed);
            }
        }
        for (Range range : outstanding) {
            reads.remove(range.address, range.bytes);
        }
        for (int i = 0; i < 1_000; i++) {
            Range range = range(random);
            assertFalse(reads.mayOverlap(range.address, range.bytes), "seed " + seed);
        }
    }

    @Test
    void mostlyTellsDistantRangesApart() {
        OutstandingReads reads = new OutstandingReads();
        reads.add(0, 64);
        int wrong = 0;
        for (long block = 1; block <= 10_000; block++) {
            wrong += reads.mayOverlap(block << 12, 64) ? 1 : 0;
        }
        assertTrue(wrong < 100, wrong + " of 10,000 blocks taken for block 0");
    }

    private static Range range(SplittableRandom random) {
        int bytes = random.nextInt(20) == 0 ? 1 + random.nextInt(1 << 20) : 1 + random.nextInt(9_000);
        return new Range(0x7f0000000000L + random.nextLong(1L << 22), bytes);
    }
}
