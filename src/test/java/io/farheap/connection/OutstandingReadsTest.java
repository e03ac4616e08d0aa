package io.farheap.connection;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.verbs.Devices;
import io.farheap.verbs.SendRequests;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class OutstandingReadsTest {

    private static final int PLACES = 64;

    private record Range(boolean read, long address, int bytes) {
        boolean overlaps(Range other) {
            return address < other.address + other.bytes && other.address < address + bytes;
        }
    }

    private SendRequests requests;
    private OutstandingReads reads;
    private final Deque<Range> outstanding = new ArrayDeque<>();
    private long completed;
    private long posted;

    @BeforeEach
    void open() {
        // SendRequests needs the library, which defines the layout of a work request.
        Devices.library();
        requests = new SendRequests(PLACES);
        reads = new OutstandingReads(requests, PLACES);
    }

    @AfterEach
    void close() {
        requests.close();
    }

    private void post(Range range) {
        requests.aim(
                (int) posted++ % PLACES,
                range.read ? SendRequests.READ : SendRequests.WRITE,
                0,
                0,
                range.bytes,
                0,
                range.address,
                0);
        outstanding.add(range);
    }

    private void complete() {
        outstanding.remove();
        completed++;
    }

    private boolean mayOverlap(Range range) {
        return reads.mayOverlap(completed, posted, range.address, range.bytes);
    }

    /**
     * Each range that overlaps an outstanding READ is reported, and no range is once all READs have completed. The
     * phases have READs alone, WRITEs alone, and both.
     */
    @RepeatedTest(20)
    void neverMissesAnOverlap() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 20_000; i++) {
            int phase = i / 500 % 3;
            boolean read = phase == 0 || phase == 2 && random.nextBoolean();
            if (outstanding.size() == PLACES || !outstanding.isEmpty() && random.nextInt(3) == 0) {
                complete();
            } else {
                Range range = range(random, read);
                if (!read && outstanding.stream().anyMatch(other -> other.read && range.overlaps(other))) {
                    assertTrue(mayOverlap(range), "seed " + seed + ", operation " + posted);
                }
                post(range);
            }
        }
        post(range(random, true));
        while (!outstanding.isEmpty()) {
            complete();
        }
        for (int i = 0; i < 1_000; i++) {
            assertFalse(mayOverlap(range(random, false)), "seed " + seed);
        }
    }

    /** A READ no longer counts once later requests have taken its place. */
    @Test
    void anOldReadIsForgotten() {
        Range old = new Range(true, 1 << 20, 64);
        post(old);
        assertTrue(mayOverlap(old));
        for (int i = 0; i < 3 * PLACES; i++) {
            complete();
            post(new Range(i % 2 == 0, 1 << 22, 64));
        }
        assertTrue(mayOverlap(new Range(false, 1 << 22, 64)) == outstanding.getFirst().read);
        complete();
        post(new Range(true, 1 << 22, 64));
        assertTrue(mayOverlap(new Range(false, 1 << 22, 64)));
        assertFalse(mayOverlap(old));
    }

    /** A WRITE is fenced behind an atomic. An atomic is not: fetch-and-adds on one word would wait for each other. */
    @Test
    void anAtomicCountsForWritesAlone() {
        long address = 1 << 20;
        requests.aimAtomic((int) posted++, SendRequests.FETCH_AND_ADD, 0, 0, 0, address, 0, 1, 0);
        outstanding.add(new Range(true, address, 8));
        assertTrue(reads.mayOverlap(completed, posted, address, 8));
        assertFalse(reads.mayOverlapRead(completed, posted, address, 8));
        post(new Range(true, address, 8));
        assertTrue(reads.mayOverlapRead(completed, posted, address, 8));
        complete();
        assertTrue(reads.mayOverlapRead(completed, posted, address, 8));
        complete();
        assertFalse(reads.mayOverlap(completed, posted, address, 8));
        assertFalse(reads.mayOverlapRead(completed, posted, address, 8));
    }

    @Test
    void mostlyTellsDistantRangesApart() {
        post(new Range(true, 0, 64));
        int wrong = 0;
        for (long block = 1; block <= 10_000; block++) {
            wrong += mayOverlap(new Range(false, block << 12, 64)) ? 1 : 0;
        }
        assertTrue(wrong < 100, wrong + " of 10,000 blocks taken for block 0");
    }

    private static Range range(SplittableRandom random, boolean read) {
        int bytes = random.nextInt(20) == 0 ? 1 + random.nextInt(1 << 20) : 1 + random.nextInt(9_000);
        return new Range(read, 0x7f0000000000L + random.nextLong(1L << 22), bytes);
    }
}
