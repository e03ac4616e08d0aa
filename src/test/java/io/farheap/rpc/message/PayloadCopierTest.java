package io.farheap.rpc.message;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class PayloadCopierTest {

    private static final int BYTES = 1024;
    private static final int LONGEST = 300;

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);

    /** Copies of every length at every alignment have the same bytes, not one more, and the same hash on both sides. */
    @RepeatedTest(20)
    void whatIsCopiedArrives() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(BYTES, 64);
            MemorySegment batch = arena.allocate(BYTES, 64);
            for (int bytes = 1; bytes <= LONGEST; bytes++) {
                long at = 64 + random.nextInt(64);
                byte[] payload = new byte[bytes];
                random.nextBytes(payload);
                String where = bytes + " bytes at " + at + ", seed " + seed;

                fill(memory);
                MemorySegment.copy(payload, 0, memory, JAVA_BYTE, at, bytes);
                long hash = PayloadCopier.fromMemory(memory.address() + at, batch.address(), bytes, 1);
                assertPayload(payload, batch, where);
                assertEquals(hash, PayloadCopier.hash(batch.address(), bytes, 1), where);
                fill(batch);
                assertEquals(hash, PayloadCopier.fromRegion(memory.address() + at, batch.address(), bytes, 1), where);
                assertPayload(payload, batch, where);

                fill(memory);
                byte[] before = memory.toArray(JAVA_BYTE);
                System.arraycopy(payload, 0, before, (int) at, bytes);
                assertEquals(hash, PayloadCopier.toMemory(batch.address(), memory.address() + at, bytes, 1), where);
                assertArrayEquals(before, memory.toArray(JAVA_BYTE), where);
                fill(memory);
                before = memory.toArray(JAVA_BYTE);
                System.arraycopy(payload, 0, before, (int) at, bytes);
                PayloadCopier.toRegion(batch.address(), memory.address() + at, bytes);
                assertArrayEquals(before, memory.toArray(JAVA_BYTE), where);
            }
        }
    }

    /** A line that is still the old one must not go unnoticed, whatever it held. */
    @Test
    void aTornPayloadHasAnotherHash() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment batch = arena.allocate(BYTES, 64);
            for (int i = 0; i < 20_000; i++) {
                fill(batch);
                long hash = PayloadCopier.hash(batch.address(), BYTES, 1);
                int words = 1 + random.nextInt(8);
                long at = 64L * random.nextInt(BYTES / 64);
                int kind = random.nextInt(4);
                for (int word = 0; word < words; word++) {
                    long value = batch.get(JAVA_LONG, at + 8L * word);
                    batch.set(
                            JAVA_LONG,
                            at + 8L * word,
                            switch (kind) {
                                case 0 -> value ^ Long.MIN_VALUE;
                                case 1 -> -value - 1;
                                case 2 -> value + (word % 2 == 0 ? 1 : -1);
                                default -> value ^ 1L << random.nextInt(64);
                            });
                }
                assertTrue(
                        hash != PayloadCopier.hash(batch.address(), BYTES, 1),
                        "kind " + kind + ", " + words + " words, seed " + seed);
            }
        }
    }

    /** Every byte of a payload counts, and so does its padding. */
    @Test
    void everyByteIsInTheHash() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment batch = arena.allocate(BYTES, 64);
            for (int bytes = 1; bytes <= LONGEST; bytes++) {
                fill(batch);
                long hash = PayloadCopier.hash(batch.address(), bytes, 1);
                for (int at = 0; at < BatchFormat.padded(bytes); at++) {
                    batch.set(JAVA_BYTE, at, (byte) (batch.get(JAVA_BYTE, at) ^ 1 << random.nextInt(8)));
                    long other = PayloadCopier.hash(batch.address(), bytes, 1);
                    assertTrue(hash != other, "byte " + at + " of " + bytes + ", seed " + seed);
                    hash = other;
                }
            }
        }
    }

    /**
     * Words that are all equal or zero, one after another from the start of a batch: each word changes the hash, and
     * the words that follow do not undo that.
     */
    @Test
    void wordsAlikeAreInTheHash() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment batch = arena.allocate(BYTES, 64);
            MemorySegment copy = arena.allocate(BYTES, 64);
            for (long value : new long[] {0, 1, -1, 0x0000_0100_0000_002AL, random.nextLong()}) {
                for (int first = 8; first <= 128; first += 8) {
                    for (int second = 8; second <= 128; second += 8) {
                        int bytes = first + second + 8;
                        for (int at = 0; at < bytes; at += 8) {
                            batch.set(JAVA_LONG, at, value);
                        }
                        long hash = hashOfThree(batch, copy, first, second);
                        for (int at = 0; at < bytes; at += 8) {
                            for (long other : new long[] {0, value + 1, ~value, value ^ 1L << random.nextInt(64)}) {
                                if (other != value) {
                                    batch.set(JAVA_LONG, at, other);
                                    assertNotEquals(
                                            hash,
                                            hashOfThree(batch, copy, first, second),
                                            "word " + at / 8 + " of records of " + first + ", " + second
                                                    + " and 8 bytes, " + value + " and there " + other);
                                }
                            }
                            batch.set(JAVA_LONG, at, value);
                        }
                    }
                }
            }
        }
    }

    private static long hashOfThree(MemorySegment batch, MemorySegment copy, int first, int second) {
        long from = batch.address();
        long hash = PayloadCopier.hash(from, first, BatchFormat.start());
        hash = PayloadCopier.hash(from + first, second, hash);
        hash = PayloadCopier.hash(from + first + second, 8, hash);
        long copied = PayloadCopier.toMemory(from, copy.address(), first, BatchFormat.start());
        copied = PayloadCopier.fromMemory(from + first, copy.address(), second, copied);
        assertEquals(hash, PayloadCopier.fromRegion(from + first + second, copy.address(), 8, copied));
        return hash;
    }

    /** A reader of an aligned word sees the bytes of one write, however that write is aligned. */
    @Test
    void alignedWordsDoNotTear() throws InterruptedException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment region = arena.allocate(64, 64);
            MemorySegment written = arena.allocate(64, 64);
            MemorySegment read = arena.allocate(64, 64);
            AtomicBoolean done = new AtomicBoolean();
            Thread writer = new Thread(() -> {
                for (int i = 0; !done.get(); i++) {
                    written.fill((byte) i);
                    PayloadCopier.toRegion(written.address(), region.address() + 3, 29);
                }
            });
            writer.start();
            try {
                for (int i = 0; i < 200_000; i++) {
                    PayloadCopier.fromRegion(region.address() + 5, read.address(), 27, 1);
                    for (int word = 3; word <= 19; word += 8) {
                        long value = read.get(JAVA_LONG.withByteAlignment(1), word);
                        assertEquals((value & 0xFF) * 0x0101_0101_0101_0101L, value);
                    }
                }
            } finally {
                done.set(true);
                writer.join();
            }
        }
    }

    private void fill(MemorySegment memory) {
        byte[] bytes = new byte[(int) memory.byteSize()];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, 0, bytes.length);
    }

    private static void assertPayload(byte[] payload, MemorySegment batch, String where) {
        assertArrayEquals(payload, batch.asSlice(0, payload.length).toArray(JAVA_BYTE), where);
        for (int i = payload.length; i < BatchFormat.padded(payload.length); i++) {
            assertEquals(0, batch.get(JAVA_BYTE, i), "padding, " + where);
        }
    }
}
