package io.farheap.coding;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.farheap.testing.Effort;
import io.farheap.time.TimeLimit;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A {@link Coder} with each library. A library that this process cannot use is reported as not run.
 * {@code -Dfarheap.seed=S} repeats a run.
 */
@Tag("optimised")
class CoderTest {

    private static final int MOST_BYTES = 5000;
    private static final int SPLITS = ErasureCode.MOST_DATA + ErasureCode.MOST_PARITY;
    private static final int ROOM = MOST_BYTES + 128;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate((long) SPLITS * ROOM, 64);
    private final long[] addresses = new long[SPLITS];
    private int bytes;

    @AfterEach
    void free() {
        arena.close();
    }

    private static void need(CodingLibrary library) {
        assumeTrue(library.available(), "needs " + library + ": " + library.remedy());
    }

    /** Places splits at a multiple of 64 bytes, or at any alignment, and fills them with random bytes. */
    private void place(int most) {
        bytes = 1 + random.nextInt(most);
        int shift = random.nextBoolean() ? 0 : random.nextInt(64);
        byte[] content = new byte[(int) memory.byteSize()];
        random.nextBytes(content);
        MemorySegment.copy(content, 0, memory, JAVA_BYTE, 0, content.length);
        for (int split = 0; split < SPLITS; split++) {
            addresses[split] = memory.address() + (long) split * ROOM + shift;
        }
    }

    private byte[] split(int number) {
        return bytesAt(addresses[number]);
    }

    private byte[] bytesAt(long address) {
        return memory.asSlice(address - memory.address(), bytes).toArray(JAVA_BYTE);
    }

    private void set(int number, byte[] content) {
        MemorySegment.copy(content, 0, memory, JAVA_BYTE, addresses[number] - memory.address(), content.length);
    }

    private void spoil(int number) {
        long at = addresses[number] - memory.address() + random.nextInt(bytes);
        memory.set(JAVA_BYTE, at, (byte) (memory.get(JAVA_BYTE, at) ^ 1 + random.nextInt(255)));
    }

    private String where(ErasureCode code) {
        return "seed " + seed + ", code " + code + ", " + bytes + " bytes";
    }

    /** Computes a parity byte by byte, as the code is defined. */
    private byte[] parity(ErasureCode code, int parity) {
        byte[] sum = new byte[bytes];
        for (int data = 0; data < code.dataSplits(); data++) {
            byte[] source = split(data);
            for (int i = 0; i < bytes; i++) {
                sum[i] ^= (byte)
                        GaloisField.multiply(code.coefficient(code.dataSplits() + parity, data), source[i] & 0xFF);
            }
        }
        return sum;
    }

    @ParameterizedTest
    @EnumSource
    void paritiesAreWhatTheMatrixSays(CodingLibrary library) {
        need(library);
        for (int k = 1; k <= ErasureCode.MOST_DATA; k++) {
            for (int r = 0; r <= ErasureCode.MOST_PARITY; r++) {
                ErasureCode code = ErasureCode.of(k, r);
                try (Coder coder = new Coder(code, library)) {
                    for (int round = 0; round < Effort.either(1, 3); round++) {
                        place(MOST_BYTES);
                        long behind = memory.get(
                                JAVA_LONG_UNALIGNED, addresses[code.splits() - 1] - memory.address() + bytes);
                        coder.encode(addresses, bytes);
                        for (int parity = 0; parity < r; parity++) {
                            assertArrayEquals(parity(code, parity), split(k + parity), where(code));
                        }
                        assertEquals(
                                behind,
                                memory.get(
                                        JAVA_LONG_UNALIGNED, addresses[code.splits() - 1] - memory.address() + bytes),
                                where(code));
                    }
                }
            }
        }
    }

    /**
     * For every code, all sets of at most r lost splits are recovered from the others. A short run tries only codes of
     * up to 6 data splits.
     */
    @ParameterizedTest
    @EnumSource
    void everyLossIsMended(CodingLibrary library) {
        need(library);
        for (int k = 1; k <= Effort.either(6, ErasureCode.MOST_DATA); k++) {
            for (int r = 1; r <= ErasureCode.MOST_PARITY; r++) {
                ErasureCode code = ErasureCode.of(k, r);
                try (Coder coder = new Coder(code, library)) {
                    place(100);
                    coder.encode(addresses, bytes);
                    byte[][] right = new byte[code.splits()][];
                    for (int split = 0; split < code.splits(); split++) {
                        right[split] = split(split);
                    }
                    for (int lost = 1; lost <= code.all(); lost++) {
                        if (Integer.bitCount(lost) <= r) {
                            lose(coder, lost, right);
                        }
                    }
                }
            }
        }
    }

    private void lose(Coder coder, int lost, byte[][] right) {
        ErasureCode code = coder.code();
        for (int split = 0; split < code.splits(); split++) {
            if ((lost >>> split & 1) != 0) {
                set(split, new byte[bytes]);
            }
        }
        coder.recover(addresses, bytes, code.all() & ~lost, lost);
        for (int split = 0; split < code.splits(); split++) {
            if (!Arrays.equals(right[split], split(split))) {
                throw new AssertionError(
                        "split " + split + " with " + Integer.toBinaryString(lost) + " lost, " + where(code));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aChangeOfAPartReachesAllParities(CodingLibrary library) {
        need(library);
        for (int round = 0; round < Effort.either(60, 200); round++) {
            ErasureCode code = ErasureCode.of(1 + random.nextInt(16), random.nextInt(5));
            place(MOST_BYTES);
            try (Coder coder = new Coder(code, library)) {
                coder.encode(addresses, bytes);
                int changed = random.nextInt(code.dataSplits());
                int from = random.nextInt(bytes);
                int length = 1 + random.nextInt(bytes - from);
                MemorySegment change = arena.allocate(length);
                byte[] content = split(changed);
                for (int i = 0; i < length; i++) {
                    byte difference = (byte) random.nextInt();
                    change.set(JAVA_BYTE, i, difference);
                    content[from + i] ^= difference;
                }
                set(changed, content);
                long[] parities = new long[code.paritySplits()];
                for (int parity = 0; parity < parities.length; parity++) {
                    parities[parity] = addresses[code.dataSplits() + parity] + from;
                }
                coder.addChange(changed, change.address(), parities, length);
                assertTrue(coder.agree(addresses, bytes, code.all()), where(code));
            }
        }
    }

    /** From n splits, up to n - k wrong ones are detected, and up to (n - k) / 2 wrong ones are identified. */
    @ParameterizedTest
    @EnumSource
    void wrongSplitsAreNoticedAndNamed(CodingLibrary library) {
        need(library);
        for (int round = 0; round < Effort.either(100, 300); round++) {
            ErasureCode code = ErasureCode.of(1 + random.nextInt(12), 1 + random.nextInt(4));
            place(600);
            try (Coder coder = new Coder(code, library)) {
                coder.encode(addresses, bytes);
                int present = code.all();
                assertTrue(coder.agree(addresses, bytes, present), where(code));
                int most = code.paritySplits() / 2;
                assertEquals(0, coder.wrong(addresses, bytes, present, most), where(code));
                int spoilt = 0;
                int count = 1 + random.nextInt(code.paritySplits());
                while (Integer.bitCount(spoilt) < count) {
                    int split = random.nextInt(code.splits());
                    if ((spoilt >>> split & 1) == 0) {
                        spoil(split);
                        spoilt |= 1 << split;
                    }
                }
                assertFalse(coder.agree(addresses, bytes, present), where(code));
                int named = coder.wrong(addresses, bytes, present, most);
                if (count <= most) {
                    assertEquals(spoilt, named, where(code));
                    coder.recover(addresses, bytes, present & ~named, named);
                    assertTrue(coder.agree(addresses, bytes, present), where(code));
                } else if (count <= code.paritySplits() - most) {
                    assertEquals(Coder.UNEXPLAINED, named, where(code));
                }
            }
        }
    }

    /**
     * Runs in a process of its own: in a JVM that had run other tests for minutes, a kernel was sometimes not compiled,
     * and in the interpreter vectors are objects.
     */
    @ParameterizedTest
    @EnumSource
    void nothingIsAllocated(CodingLibrary library) throws Exception {
        need(library);
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-modules",
                        "jdk.incubator.vector",
                        TimeLimit.flag(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        CodingRounds.class.getName(),
                        library.name())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        assertTrue(output.contains("3 rounds that allocated nothing"), output);
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        ErasureCode code = ErasureCode.of(4, 2);
        place(100);
        Coder coder = new Coder(code, CodingLibrary.JAVA);
        assertThrows(IllegalArgumentException.class, () -> coder.encode(new long[5], 64));
        assertThrows(IllegalArgumentException.class, () -> coder.encode(addresses, 0));
        assertThrows(IllegalArgumentException.class, () -> coder.recover(addresses, 64, 0b000111, 0b1000));
        assertThrows(IllegalArgumentException.class, () -> coder.recover(addresses, 64, 0b001111, 0b1000));
        assertThrows(IllegalArgumentException.class, () -> coder.recover(addresses, 64, 0b001111, 1 << 6));
        assertThrows(IllegalArgumentException.class, () -> coder.wrong(addresses, 64, code.all(), 2));
        assertThrows(IllegalArgumentException.class, () -> coder.addChange(4, addresses[6], addresses, 8));
        assertThrows(IllegalArgumentException.class, () -> coder.addChange(0, addresses[6], new long[1], 8));
        coder.close();
        coder.close();
        assertThrows(IllegalStateException.class, () -> coder.encode(addresses, 64));
    }

    @Test
    void whoCodesWithoutIsalReadsHowToHaveIt() {
        assertEquals(
                "coded caches use portable Java, as there is no ISA-L, which is faster; install it, on Debian with: sudo"
                        + " apt-get install libisal2; or start the JVM with --add-modules jdk.incubator.vector",
                CodingLibrary.JAVA.slower());
        assertEquals(
                "coded caches use Java with vectors, as there is no ISA-L, which is faster; install it, on Debian with:"
                        + " sudo apt-get install libisal2",
                CodingLibrary.VECTOR.slower());
    }
}
