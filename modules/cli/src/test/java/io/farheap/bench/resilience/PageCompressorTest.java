package io.farheap.bench.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.resilience.contract.Resilience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Compressed pages come back, a page that gets no shorter is refused, and LZ4 is absent without its library. */
class PageCompressorTest {

    private static final int PAGE = 4096;

    private static byte[] content(MemorySegment segment) {
        return segment.toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void aPageComesBack() {
        try (Arena arena = Arena.ofConfined();
                PageCompressor compressor = new DeflatedPages()) {
            MemorySegment page = arena.allocate(PAGE);
            for (int i = 0; i < PAGE; i++) {
                page.set(ValueLayout.JAVA_BYTE, i, (byte) (i / 64));
            }
            MemorySegment room = arena.allocate(PAGE - 1);
            int length = compressor.compress(page, room);
            assertTrue(length > 0 && length < PAGE / 2, () -> "" + length);
            MemorySegment back = arena.allocate(PAGE);
            assertTrue(compressor.decompress(room.asSlice(0, length), back));
            assertArrayEquals(content(page), content(back));
            // Part of it is not a page.
            assertFalse(compressor.decompress(room.asSlice(0, length / 2), back));
        }
    }

    @Test
    void aPageThatGetsNoShorterIsRefused() {
        try (Arena arena = Arena.ofConfined();
                PageCompressor compressor = new DeflatedPages()) {
            byte[] bytes = new byte[PAGE];
            new SplittableRandom(1).nextBytes(bytes);
            MemorySegment page = arena.allocate(PAGE).copyFrom(MemorySegment.ofArray(bytes));
            assertEquals(-1, compressor.compress(page, arena.allocate(PAGE - 1)));
        }
    }

    @Test
    void withoutItsLibraryLz4IsAbsentWithAReason() {
        assertTrue(
                MemoryKind.absence(MemoryKind.COMPRESSED_COPIES).orElseThrow().contains("not on the class path"));
        assertTrue(MemoryKind.absence(MemoryKind.DEFLATED_COPIES).isEmpty());
        Resilience coded = Resilience.failureRecovery(8, 2);
        assertThrows(
                IllegalArgumentException.class,
                () -> MemoryKind.baseline(MemoryKind.COMPRESSED_COPIES, coded, Path.of("/tmp")));
    }
}
