package io.farheap.coding;

/**
 * Arithmetic of bytes in GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1, the one that ISA-L uses. A sum is an
 * exclusive-or.
 */
final class GaloisField {

    private static final int ELEMENTS = 256;
    private static final int POLYNOMIAL = 0x11D;

    /**
     * The powers of 2, which is a generator: they are all elements except 0. The sequence is there twice, so that the
     * sum of two logarithms needs no remainder.
     */
    private static final int[] POWERS = new int[2 * (ELEMENTS - 1)];

    private static final int[] LOGARITHMS = new int[ELEMENTS];

    static {
        int power = 1;
        for (int exponent = 0; exponent < ELEMENTS - 1; exponent++) {
            POWERS[exponent] = power;
            POWERS[exponent + ELEMENTS - 1] = power;
            LOGARITHMS[power] = exponent;
            power <<= 1;
            if (power >= ELEMENTS) {
                power ^= POLYNOMIAL;
            }
        }
    }

    private static final long LOW_BITS = 0x7F7F7F7F7F7F7F7FL;
    private static final long ONES = 0x0101010101010101L;

    private GaloisField() {}

    /** The product of two elements, 0 to 255. */
    static int multiply(int one, int other) {
        return one == 0 || other == 0 ? 0 : POWERS[LOGARITHMS[one] + LOGARITHMS[other]];
    }

    /** The element whose product with this one is 1. Not defined for 0. */
    static int inverse(int element) {
        if (element == 0) {
            throw new ArithmeticException("0 has no inverse");
        }
        return POWERS[ELEMENTS - 1 - LOGARITHMS[element]];
    }

    /** Each of eight bytes times 2. */
    static long twice(long bytes) {
        long high = bytes >>> 7 & ONES;
        // Adds the polynomial's low bits, 11101, to each byte that lost its high bit.
        return (bytes & LOW_BITS) << 1 ^ high ^ high << 2 ^ high << 3 ^ high << 4;
    }
}
