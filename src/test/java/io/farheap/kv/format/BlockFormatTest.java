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

    // The constants that the mixing of batches adds to words; blocks had the same mixing before.
    private static final long FIRST = 0xC91DC3ABC2C85351L;
    private static final long SECOND = 0xEE8CE25C188C1BCBL;

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
        BlockFormat.prepare(memory, 0, BlockFormat.OBJECT, 77, 0, keyBytes, valueBytes, version);
        BlockFormat.seal(memory, 0, incarnation, TestKeys.CHECKSUM);
        return bytes;
    }

    private boolean whole(int most, int incarnation) {
        return BlockFormat.whole(memory, 0, most, incarnation, TestKeys.CHECKSUM);
    }

    @Test
    void whatIsSealedIsWholeAndHasAllThatItWasMadeOf() {
        for (int keyBytes : new int[] {1, 8, 9, 1024}) {
            for (int valueBytes : new int[] {0, 1, 63, 64, 65, 127, 1000}) {
                int bytes = make(5, keyBytes, valueBytes, (byte) 3, 99);
                assertTrue(whole(bytes, 5));
                assertEquals(keyBytes, BlockFormat.keyBytes(memory, 0));
                assertEquals(valueBytes, BlockFormat.valueBytes(memory, 0));
                assertEquals(99, BlockFormat.version(memory, 0));
                assertEquals(
                        TestKeys.HASH.of(memory, BlockFormat.keyAt(0), keyBytes),
                        BlockFormat.hash(memory, 0, bytes, TestKeys.HASH));
                assertEquals(77, BlockFormat.expiryMillis(memory, 0));
                assertFalse(BlockFormat.conditional(memory, 0));
                assertEquals(BlockFormat.live(5), memory.get(JAVA_LONG, 0));
                assertEquals(0, BlockFormat.extensionBytes(memory, 0));
                assertFalse(whole(bytes, 6), "another incarnation");
                assertFalse(whole(bytes - 1, 5), "more than was read");
            }
        }
    }

    /** The mark has no more than the incarnation and the state, so a client sets it without a READ. */
    @Test
    void aMarkedBlockIsAsWholeAsBefore() {
        int bytes = make(5, 16, 100, (byte) 3, 99);
        BlockFormat.setExpiry(memory, 0, 1234);
        BlockFormat.seal(memory, 0, 5, TestKeys.CHECKSUM);
        assertEquals(BlockFormat.live(5), memory.get(JAVA_LONG, 0));
        memory.set(JAVA_LONG, 0, BlockFormat.marked(5));
        assertFalse(BlockFormat.isLive(memory, 0, 5));
        assertTrue(whole(bytes, 5));
        assertTrue(BlockFormat.headIsOf(memory, 0, 5));
        assertFalse(BlockFormat.headIsOf(memory, 0, 6));
        assertTrue(BlockFormat.conditional(memory, 0));
        assertEquals(1234, BlockFormat.expiryMillis(memory, 0));
        BlockFormat.seal(memory, 0, 6, TestKeys.CHECKSUM);
        assertTrue(BlockFormat.isLive(memory, 0, 6), "it is used again");
        assertFalse(BlockFormat.isLive(memory, 0, 5));
        memory.set(JAVA_LONG, 0, BlockFormat.live(6) | 1L << 20);
        assertFalse(BlockFormat.isLive(memory, 0, 6), "it could not be marked");
    }

    /** Conditional and expiry count only beside the incarnation that stands in one word with them. */
    @Test
    void aTornHeadIsOfNoIncarnation() {
        make(5, 16, 100, (byte) 3, 99);
        long mark = memory.get(JAVA_LONG, 0);
        make(6, 16, 100, (byte) 3, 100);
        memory.set(JAVA_LONG, 0, mark);
        assertFalse(BlockFormat.headIsOf(memory, 0, 5));
        assertFalse(BlockFormat.headIsOf(memory, 0, 6));
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
                    assertFalse(whole(bytes, 5), "word " + at + ": " + wrong);
                }
                memory.set(JAVA_LONG, at, right);
            }
            assertTrue(whole(bytes, 5));
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
                    assertFalse(whole(bytes, 6), "cut at " + cut);
                }
                MemorySegment.copy(before, 0, memory, JAVA_BYTE, 0, cut);
                MemorySegment.copy(after, cut, memory, JAVA_BYTE, cut, bytes - cut);
                if (!java.util.Arrays.equals(before, memory.asSlice(0, bytes).toArray(JAVA_BYTE))) {
                    assertFalse(whole(bytes, 5), "cut at " + cut);
                }
            }
        }
    }

    /** A client without the map's token cannot make the image of a block and store it as a value. */
    @Test
    void theImageOfAnotherMapsBlockIsNotWhole() {
        int bytes = make(5, 16, 256, (byte) 1, 99);
        assertTrue(whole(bytes, 5));
        for (KeyHash key : new KeyHash[] {new KeyHash(0, 0), new KeyHash(TestKeys.HASH.first(), 0)}) {
            BlockFormat.seal(memory, 0, 5, new BlockChecksum(key));
            assertFalse(whole(bytes, 5));
        }
    }

    /**
     * The words of one value exchange the factors that the mixing of batches makes of the other value's words. With
     * that mixing a copy of the one block's header and of parts of both values would be whole, under every seed.
     */
    @Test
    void aTornCopyOfValuesThatAreMadeToCollideIsFound() {
        SplittableRandom random = new SplittableRandom(7);
        int valueBytes = 512;
        int valueAt = BlockFormat.valueAt(0, 16);
        int bytes = make(5, 16, valueBytes, (byte) 1, 99);
        long[] words = random.longs(valueBytes / Long.BYTES).toArray();
        for (int i = 0; i < words.length; i++) {
            memory.set(JAVA_LONG, valueAt + (long) i * Long.BYTES, words[i]);
        }
        BlockFormat.seal(memory, 0, 5, TestKeys.CHECKSUM);
        assertTrue(whole(bytes, 5));
        for (int i = 0; i < words.length; i += 2) {
            long at = valueAt + (long) i * Long.BYTES;
            memory.set(JAVA_LONG, at, words[i + 1] + SECOND - FIRST);
            memory.set(JAVA_LONG, at + Long.BYTES, words[i] + FIRST - SECOND);
            assertFalse(whole(bytes, 5), "word " + i);
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
            assertFalse(whole(MOST, incarnation));
            memory.set(JAVA_LONG, 8, random.nextInt(64) | (long) random.nextInt(5000) << 32);
            assertFalse(whole(MOST, incarnation));
        }
    }
}
