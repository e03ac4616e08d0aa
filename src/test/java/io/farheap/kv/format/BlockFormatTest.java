package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BlockFormatTest {

    private static final int MOST = 4096;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(MOST, 64);

    @AfterEach
    void free() {
        arena.close();
    }

    /** Makes a block whose key and value repeat one byte. */
    private int make(int incarnation, int keyBytes, int valueBytes, byte fill, long version) {
        int bytes = BlockFormat.valueAt(0, keyBytes) + valueBytes;
        memory.fill((byte) 0);
        memory.asSlice(BlockFormat.keyAt(0), keyBytes).fill(fill);
        memory.asSlice(BlockFormat.valueAt(0, keyBytes), valueBytes).fill(fill);
        BlockFormat.prepare(memory, 0, BlockFormat.OBJECT, 77, 0, keyBytes, valueBytes, version, 0x1234);
        BlockFormat.seal(memory, 0, incarnation);
        return bytes;
    }

    @Test
    void whatIsSealedIsWholeAndHasAllThatItWasMadeOf() {
        for (int keyBytes : new int[] {1, 8, 9, 1024}) {
            for (int valueBytes : new int[] {0, 1, 63, 64, 65, 127, 1000}) {
                int bytes = make(5, keyBytes, valueBytes, (byte) 3, 99);
                assertTrue(BlockFormat.whole(memory, 0, bytes, 5));
                assertEquals(keyBytes, BlockFormat.keyBytes(memory, 0));
                assertEquals(valueBytes, BlockFormat.valueBytes(memory, 0));
                assertEquals(99, BlockFormat.version(memory, 0));
                assertEquals(0x1234, BlockFormat.hash(memory, 0));
                assertEquals(77, BlockFormat.expiryMillis(memory, 0));
                assertEquals(BlockFormat.LIVE, BlockFormat.state(memory, 0));
                assertEquals(0, BlockFormat.extensionBytes(memory, 0));
                assertFalse(BlockFormat.whole(memory, 0, bytes, 6), "another incarnation");
                assertFalse(BlockFormat.whole(memory, 0, bytes - 1, 5), "more than was read");
            }
        }
    }

    /** Each word of a block in turn becomes zeros, ones, its neighbour, or itself with one bit changed. */
    @Test
    void everyWordThatIsWrongIsFound() {
        for (byte fill : new byte[] {0, -1, 7}) {
            int bytes = make(5, 16, 256, fill, 99);
            for (int at = 0; at < bytes; at += 8) {
                long right = memory.get(JAVA_LONG, at);
                for (long wrong : new long[] {0, -1, right ^ 1, right ^ 1L << 63, memory.get(JAVA_LONG, at ^ 8)}) {
                    if (wrong == right || at == 0 && (wrong & SlotWord.INCARNATIONS - 1) == 5) {
                        continue;
                    }
                    memory.set(JAVA_LONG, at, wrong);
                    assertFalse(BlockFormat.whole(memory, 0, bytes, 5), "word " + at + ": " + wrong);
                }
                memory.set(JAVA_LONG, at, right);
            }
            assertTrue(BlockFormat.whole(memory, 0, bytes, 5));
        }
    }

    /** A block's next use overwrites it up to each word in turn, with another key and value or the same ones. */
    @Test
    void aTornBlockIsFound() {
        for (byte fill : new byte[] {1, 2}) {
            int bytes = make(5, 16, 512, (byte) 1, 99);
            byte[] before = memory.asSlice(0, bytes).toArray(JAVA_BYTE);
            make(6, 16, 512, fill, 100);
            byte[] after = memory.asSlice(0, bytes).toArray(JAVA_BYTE);
            for (int cut = 8; cut < bytes; cut += 8) {
                MemorySegment.copy(after, 0, memory, JAVA_BYTE, 0, cut);
                MemorySegment.copy(before, cut, memory, JAVA_BYTE, cut, bytes - cut);
                if (!java.util.Arrays.equals(after, memory.asSlice(0, bytes).toArray(JAVA_BYTE))) {
                    assertFalse(BlockFormat.whole(memory, 0, bytes, 6), "cut at " + cut);
                }
                MemorySegment.copy(before, 0, memory, JAVA_BYTE, 0, cut);
                MemorySegment.copy(after, cut, memory, JAVA_BYTE, cut, bytes - cut);
                if (!java.util.Arrays.equals(before, memory.asSlice(0, bytes).toArray(JAVA_BYTE))) {
                    assertFalse(BlockFormat.whole(memory, 0, bytes, 5), "cut at " + cut);
                }
            }
        }
    }

    /** Lengths are checked before they are used for a read. */
    @Test
    void anyBytesAreLookedAtWithoutHarm() {
        SplittableRandom random = new SplittableRandom(3);
        byte[] bytes = new byte[MOST];
        for (int i = 0; i < 20_000; i++) {
            random.nextBytes(bytes);
            MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, 0, MOST);
            int incarnation = (int) memory.get(JAVA_LONG, 0) & SlotWord.INCARNATIONS - 1;
            assertFalse(BlockFormat.whole(memory, 0, MOST, incarnation));
            memory.set(JAVA_LONG, 8, random.nextInt(64) | (long) random.nextInt(5000) << 32);
            assertFalse(BlockFormat.whole(memory, 0, MOST, incarnation));
        }
    }
}
