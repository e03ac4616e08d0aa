package io.farheap.store.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.format.NativeWords;
import io.farheap.store.format.OperationKey;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.index.HashIndex;
import io.farheap.store.index.RecordChains;
import io.farheap.store.log.LogGaps;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each entry of an index points to the last record of its chain, however many threads fill the index. */
class IndexBuilderTest {

    private static final RecordChains NO_CHAINS = (address, bit, set) -> address;
    private static final int PARTS = 60;
    private static final int PART_BYTES = 4096;
    private static final int AT_A_TIME = 3;
    private static final int KEYS = 3_000;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);

    @ParameterizedTest
    @CsvSource({"1, 64, false", "2, 2, false", "2, 64, true", "4, 64, false", "4, 1024, true"})
    void eachEntryPointsToTheLastOfItsChain(int threads, int buckets, boolean general) {
        System.out.println("seed " + seed);
        RecordLayout layout = general ? RecordLayout.GENERAL : RecordLayout.COMPACT;
        // In this gap, records of version 2 do not count: the builder skips them.
        LogGaps gaps = new LogGaps(List.of(new LogGaps.Gap(10 * PART_BYTES, 12 * PART_BYTES, 1)));
        Map<Long, Long> last = new HashMap<>();
        try (Arena arena = Arena.ofShared();
                HashIndex index = new HashIndex(buckets)) {
            MemorySegment log = arena.allocate((long) PARTS * PART_BYTES, 8);
            long[] hashes = new long[PARTS * PART_BYTES / RecordLayout.LEAST_RECORD];
            long[] addresses = new long[hashes.length];
            int records = 0;
            long wiped = 0;
            try (IndexBuilder fill = new IndexBuilder(index, layout, gaps, AT_A_TIME, threads)) {
                for (int part = 0; part < PARTS; part++) {
                    long from = (long) part * PART_BYTES;
                    for (long at = from; at + 64 <= from + PART_BYTES; ) {
                        long record = log.address() + at;
                        boolean counts = write(record, layout, part >= 10 && part < 12);
                        if (counts) {
                            OperationKey key = new OperationKey(layout);
                            key.useOf(record);
                            hashes[records] = key.hash;
                            addresses[records++] = at;
                        }
                        at += layout.recordBytes(record);
                    }
                    fill.add(log.address(), from, from + PART_BYTES);
                    // A part that is done may be overwritten: no thread reads it any more.
                    for (; wiped < fill.done(); wiped++) {
                        log.asSlice(wiped * PART_BYTES, PART_BYTES).fill((byte) 0xff);
                    }
                    assertTrue(wiped > part - AT_A_TIME, "more parts are under way than there are places");
                }
                fill.finish();
                assertEquals(PARTS, fill.done());
            }
            for (int i = 0; i < records; i++) {
                last.put(index.find(hashes[i], NO_CHAINS), addresses[i]);
            }
            last.forEach((entry, address) ->
                    assertEquals(address, HashIndex.address(NativeWords.get(entry)), "seed " + seed));
            assertTrue(last.size() > buckets / 2);
        }
    }

    /** @return whether the record that was written counts */
    private boolean write(long record, RecordLayout layout, boolean gap) {
        int version = gap && random.nextBoolean() ? 2 : 1;
        boolean invalid = random.nextInt(10) == 0;
        NativeWords.set(record, StoreRecord.header(0, version) | (invalid ? StoreRecord.INVALID : 0));
        long key = random.nextInt(KEYS);
        if (layout == RecordLayout.GENERAL) {
            int bytes = random.nextBoolean() ? 8 : 13;
            NativeWords.set(record + RecordLayout.LENGTHS, RecordLayout.lengths(bytes, random.nextInt(16)));
            NativeWords.set(record + layout.keyOffset() + 8, 0);
        }
        NativeWords.set(record + layout.keyOffset(), key);
        return !invalid && version == 1;
    }

    @Test
    void whatAThreadMeetsIsTold() {
        try (Arena arena = Arena.ofShared();
                HashIndex index = new HashIndex(64)) {
            MemorySegment log = arena.allocate(PART_BYTES, 8);
            for (long at = 0; at < PART_BYTES - 64; at += RecordLayout.LEAST_RECORD) {
                write(log.address() + at, RecordLayout.COMPACT, false);
            }
            LogGaps throwing = new LogGaps(List.of(new LogGaps.Gap(0, PART_BYTES, 7))) {
                @Override
                public boolean counts(long address, long header) {
                    if (Thread.currentThread().getName().startsWith("store-recovery")) {
                        throw new OutOfMemoryError("injected");
                    }
                    return true;
                }
            };
            try (IndexBuilder fill = new IndexBuilder(index, RecordLayout.COMPACT, throwing, AT_A_TIME, 2)) {
                fill.add(log.address(), 0, PART_BYTES);
                String message =
                        assertThrows(IllegalStateException.class, fill::finish).getMessage();
                assertTrue(message.contains("injected"), message);
            }
        }
    }
}
