package io.farheap.rpc.message;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The hash of a batch on structured inputs, as memory has them: equal, zero, repeated and permuted words, and mixtures
 * of new words with a slot's old ones. The inputs of a family are all different, and so must be their hashes: by chance
 * two of the million in a family agree once in 2^25 runs.
 */
class BatchHashTest {

    private static final int WORDS = 16;
    private static final int WORD = Long.BYTES;
    private static final int LINE_WORDS = 8;

    /** How the words of a body are divided into records. */
    private enum Layout {
        ONE(128),
        HALVES(64, 64),
        QUADS(32, 32, 32, 32),
        PAIRS(16, 16, 16, 16, 16, 16, 16, 16),
        FIVE_AND_ONES(40, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8),
        ONES(8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8),
        THREES(24, 24, 24, 24, 24, 8),
        SIX_SEVEN_THREE(48, 56, 24);

        final int[] lengths;

        Layout(int... lengths) {
            this.lengths = lengths;
        }
    }

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment body = arena.allocate(1024, 64);
    private final long seed = System.nanoTime();
    private final SplittableRandom random = new SplittableRandom(seed);

    @AfterEach
    void free() {
        arena.close();
    }

    private long hash(Layout layout) {
        long hash = BatchFormat.start();
        long at = body.address();
        for (int length : layout.lengths) {
            hash = PayloadCopier.hash(at, length, hash);
            at += length;
        }
        return hash;
    }

    private void put(IntToLongFunction words) {
        for (int i = 0; i < WORDS; i++) {
            body.set(JAVA_LONG, (long) i * WORD, words.applyAsLong(i));
        }
    }

    /**
     * Contents of memory, word by word: first the words before the first write, then records of one value, numbers,
     * keys, doubles.
     */
    private IntToLongFunction[] contents() {
        long key = random.nextLong();
        long value = 1 + random.nextInt(1 << 20);
        return new IntToLongFunction[] {
            i -> 0,
            i -> -1,
            i -> 1,
            i -> value,
            i -> key,
            i -> i + 1,
            i -> value + i,
            i -> i % LINE_WORDS,
            i -> i % 2 * value,
            i -> key << i,
            i -> Double.doubleToLongBits(value + i),
            i -> 3L << 40 | value << 8 | i,
            i -> (i < WORDS / 2 ? key : value),
        };
    }

    private void assertAllDifferent(long[] hashes, int count, String what) {
        Arrays.sort(hashes, 0, count);
        for (int i = 1; i < count; i++) {
            assertTrue(hashes[i - 1] != hashes[i], () -> what + ": two have the same hash; seed " + seed);
        }
    }

    /** A slot with some new words and the other words old, in all combinations: each has a hash of its own. */
    @ParameterizedTest
    @EnumSource
    void mixturesOfTwoBodies(Layout layout) {
        long[] hashes = new long[1 << WORDS];
        IntToLongFunction[] contents = contents();
        for (int before = 0; before < contents.length; before++) {
            int after = (before + 1 + random.nextInt(contents.length - 1)) % contents.length;
            long[] old = new long[WORDS];
            long[] fresh = new long[WORDS];
            Arrays.setAll(old, contents[before]);
            Arrays.setAll(fresh, contents[after]);
            for (int i = 0; i < WORDS; i++) {
                fresh[i] = fresh[i] == old[i] ? ~fresh[i] : fresh[i];
            }
            // In Gray's order one word changes at a time.
            put(i -> old[i]);
            hashes[0] = hash(layout);
            for (int n = 1, mask = 0; n < hashes.length; n++) {
                int word = Integer.numberOfTrailingZeros(n);
                mask ^= 1 << word;
                body.set(JAVA_LONG, (long) word * WORD, (mask >>> word & 1) == 0 ? old[word] : fresh[word]);
                hashes[n] = hash(layout);
            }
            assertAllDifferent(hashes, hashes.length, layout + ", content " + after + " over " + before);
        }
    }

    /** Any two words hold any of some small, large and equal values; the other words stay the same. */
    @ParameterizedTest
    @EnumSource
    void changesOfTwoWords(Layout layout) {
        long[] values = new long[20];
        long[] hashes = new long[values.length * values.length * WORDS * WORDS];
        for (IntToLongFunction content : contents()) {
            put(content);
            for (int i = 0; i < values.length; i++) {
                values[i] = i < 5
                        ? i - 2
                        : i < 10 ? 1L << random.nextInt(64) : i < 15 ? random.nextInt(1 << 16) : random.nextLong();
            }
            long[] different =
                    Arrays.stream(values).filter(value -> value != 0).distinct().toArray();
            int count = 0;
            hashes[count++] = hash(layout);
            // Differences to the present words, so that some are equal, which could cancel each other.
            for (int i = 0; i < WORDS; i++) {
                for (long first : different) {
                    flip(i, first);
                    hashes[count++] = hash(layout);
                    for (int j = i + 1; j < WORDS; j++) {
                        for (long second : different) {
                            flip(j, second);
                            hashes[count++] = hash(layout);
                            flip(j, second);
                        }
                    }
                    flip(i, first);
                }
            }
            assertAllDifferent(hashes, count, layout + ", two words changed");
        }
    }

    private void flip(int word, long bits) {
        body.set(JAVA_LONG, (long) word * WORD, body.get(JAVA_LONG, (long) word * WORD) ^ bits);
    }

    /** Words, pairs and quads in any order: each order has a hash of its own. */
    @ParameterizedTest
    @EnumSource
    void permutations(Layout layout) {
        for (int of : new int[] {1, 2, 4}) {
            int places = Math.min(8, WORDS / of);
            long[] hashes = new long[40_320];
            for (IntToLongFunction content : contents()) {
                put(content);
                // All parts different, their words alike.
                for (int i = 0; i < WORDS; i++) {
                    flip(i, i / of + 1);
                }
                long[] words = body.asSlice(0, WORDS * WORD).toArray(JAVA_LONG);
                if (Arrays.stream(words).distinct().count() < WORDS / of) {
                    continue;
                }
                int[] order = new int[places];
                int count = permute(layout, words, of, order, 0, 0, hashes, 0);
                assertAllDifferent(hashes, count, layout + ", parts of " + of + " words permuted");
            }
        }
    }

    private int permute(
            Layout layout, long[] words, int of, int[] order, int used, int place, long[] hashes, int count) {
        if (place == order.length) {
            for (int i = 0; i < order.length * of; i++) {
                body.set(JAVA_LONG, (long) i * WORD, words[order[i / of] * of + i % of]);
            }
            hashes[count] = hash(layout);
            return count + 1;
        }
        for (int part = 0; part < order.length; part++) {
            if ((used & 1 << part) == 0) {
                order[place] = part;
                count = permute(layout, words, of, order, used | 1 << part, place + 1, hashes, count);
            }
        }
        return count;
    }

    /**
     * One value in all words, or in all but some; equal pairs, equal halves, repeated lines: each value has a hash of
     * its own.
     */
    @ParameterizedTest
    @EnumSource
    void repetitions(Layout layout) {
        int values = 1 << 14;
        long[] hashes = new long[values];
        long base = random.nextBoolean() ? 0 : random.nextLong();
        for (int period : new int[] {1, 2, 4, 8}) {
            for (int place = 0; place < period; place++) {
                for (int n = 0; n < values; n++) {
                    for (int i = 0; i < WORDS; i++) {
                        body.set(JAVA_LONG, (long) i * WORD, i % period == place ? base + n : 0);
                    }
                    hashes[n] = hash(layout);
                }
                assertAllDifferent(
                        hashes, values, layout + ", word " + place + " of " + period + " repeated, from " + base);
            }
        }
    }

    /** Each half of the hash collides only as often as by chance: otherwise it would be weaker than its 64 bits. */
    @ParameterizedTest
    @EnumSource
    void halvesCollideAsOftenAsChanceHasIt(Layout layout) {
        int values = 1 << 18;
        long[] high = new long[values];
        long[] low = new long[values];
        for (int kind = 0; kind < 4; kind++) {
            for (int n = 0; n < values; n++) {
                // One word; all words; two words of one difference; words that are counted up.
                for (int i = 0; i < WORDS; i++) {
                    long word =
                            switch (kind) {
                                case 0 -> i == WORDS / 2 ? n : 0;
                                case 1 -> n;
                                case 2 -> i % 7 == 3 ? (long) n << 32 : -1;
                                default -> (long) n << 8 | i;
                            };
                    body.set(JAVA_LONG, (long) i * WORD, word);
                }
                long hash = hash(layout);
                high[n] = hash >>> 32;
                low[n] = hash & 0xFFFF_FFFFL;
            }
            // 8 are expected. The inputs are always the same, so the result does not depend on chance.
            assertTrue(
                    repeated(high) < 32,
                    layout + ", kind " + kind + ": " + repeated(high) + " upper halves are repeated");
            assertTrue(
                    repeated(low) < 32,
                    layout + ", kind " + kind + ": " + repeated(low) + " lower halves are repeated");
        }
    }

    private static int repeated(long[] values) {
        Arrays.sort(values);
        int repeated = 0;
        for (int i = 1; i < values.length; i++) {
            repeated += values[i - 1] == values[i] ? 1 : 0;
        }
        return repeated;
    }

    /**
     * Zeros of any number of words. The request states a tail's length, so the hash need not distinguish tails within
     * one word.
     */
    @Test
    void zerosOfEveryLength() {
        body.fill((byte) 0);
        long[] hashes = new long[128];
        for (int words = 1; words <= 128; words++) {
            hashes[words - 1] = PayloadCopier.hash(body.address(), words * WORD, BatchFormat.start());
        }
        assertAllDifferent(hashes, hashes.length, "zeros");
        for (int words = 1; words <= 128; words++) {
            hashes[words - 1] = PayloadCopier.hash(body.address(), words * WORD - 1, BatchFormat.start());
        }
        assertAllDifferent(hashes, hashes.length, "zeros with a tail");
        // In records of one word, as many as there are.
        long[] chained = new long[128];
        chained[0] = BatchFormat.start();
        for (int i = 1; i < chained.length; i++) {
            chained[i] = PayloadCopier.hash(body.address(), WORD, chained[i - 1]);
        }
        assertAllDifferent(chained, chained.length, "zeros in records of one word");
    }

    /** Whatever the hash is so far, even 0, each word that follows changes it, at every length. */
    @Test
    void noStateAbsorbsWhatFollows() {
        long[] states = {0, 1, -1, Long.MIN_VALUE, BatchFormat.start(), BatchFormat.mix(0, 0, 0), random.nextLong()};
        for (long state : states) {
            for (IntToLongFunction content : contents()) {
                put(content);
                for (int bytes = 1; bytes <= WORDS * WORD; bytes++) {
                    long hash = PayloadCopier.hash(body.address(), bytes, state);
                    assertNotEquals(0, hash, () -> "the hash of a body, from " + state + "; seed " + seed);
                    for (int word = 0; word < BatchFormat.padded(bytes) / WORD; word++) {
                        for (long bits : new long[] {1, 1L << random.nextInt(64), -1, random.nextLong() | 1}) {
                            flip(word, bits);
                            String what = "word " + word + " of " + bytes + " bytes, from the hash " + state + "; seed "
                                    + seed;
                            assertNotEquals(hash, PayloadCopier.hash(body.address(), bytes, state), what);
                            flip(word, bits);
                        }
                    }
                }
            }
        }
    }

    /** The hash so far counts, too, whatever words follow. */
    @Test
    void noWordsAbsorbWhatWasBefore() {
        for (IntToLongFunction content : contents()) {
            put(content);
            for (int bytes = 1; bytes <= WORDS * WORD; bytes++) {
                long[] hashes = new long[256];
                for (int i = 0; i < hashes.length; i++) {
                    hashes[i] = PayloadCopier.hash(
                            body.address(), bytes, i < 128 ? i : 1L << i % 64 ^ random.nextInt() | 1L << 60);
                }
                int length = bytes;
                assertAllDifferent(hashes, 128, length + " bytes after different hashes");
            }
        }
    }

    /** The header is checked against the body, and the body against the header: neither passes with another's. */
    @Test
    void staleHeadersAndBodies() {
        try (Arena headers = Arena.ofConfined()) {
            MemorySegment header = headers.allocate(BatchFormat.HEADER_BYTES, 64);
            for (IntToLongFunction before : contents()) {
                for (IntToLongFunction after : contents()) {
                    put(before);
                    long old = hash(Layout.FIVE_AND_ONES);
                    put(after);
                    long fresh = hash(Layout.FIVE_AND_ONES);
                    long sequence = 1 + random.nextInt(1000);
                    long slots = 1 + random.nextInt(64);
                    long summary = BatchFormat.summary(BatchFormat.HEADER_BYTES + WORDS * WORD, 12, 0);
                    long other = BatchFormat.summary(BatchFormat.HEADER_BYTES + WORDS * WORD, 12, 1);
                    BatchFormat.header(header, 0, sequence + slots, summary, fresh);
                    assertTrue(BatchFormat.complete(header, 0, sequence + slots, summary, fresh));
                    assertTrue(old == fresh || !BatchFormat.complete(header, 0, sequence + slots, summary, old));
                    assertFalse(BatchFormat.complete(header, 0, sequence + slots, other, fresh));
                    assertFalse(BatchFormat.complete(header, 0, sequence, summary, fresh));
                    // The checksum is still the old one.
                    BatchFormat.header(header, 0, sequence, summary, old);
                    assertFalse(BatchFormat.complete(header, 0, sequence + slots, summary, fresh));
                    assertFalse(BatchFormat.complete(header, 0, sequence + slots, summary, old));
                    // The header is that of a slot that was never written.
                    header.fill((byte) 0);
                    assertFalse(BatchFormat.complete(header, 0, sequence + slots, summary, fresh));
                    assertFalse(BatchFormat.complete(header, 0, sequence + slots, summary, old));
                }
            }
        }
    }
}
