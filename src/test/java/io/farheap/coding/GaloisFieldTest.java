package io.farheap.coding;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class GaloisFieldTest {

    /** Multiplies polynomials bit by bit, then takes the remainder modulo the field's polynomial 0x11D. */
    private static int product(int one, int other) {
        int product = 0;
        for (int bit = 0; bit < 8; bit++) {
            product ^= (other >>> bit & 1) * one << bit;
        }
        for (int bit = 14; bit >= 8; bit--) {
            product ^= (product >>> bit & 1) * 0x11D << bit - 8;
        }
        return product;
    }

    @Test
    void productsAreThoseOfPolynomials() {
        for (int one = 0; one < 256; one++) {
            for (int other = 0; other < 256; other++) {
                assertEquals(product(one, other), GaloisField.multiply(one, other), one + " times " + other);
            }
        }
    }

    @Test
    void inversesInvert() {
        for (int element = 1; element < 256; element++) {
            assertEquals(1, product(element, GaloisField.inverse(element)), "of " + element);
        }
        assertThrows(ArithmeticException.class, () -> GaloisField.inverse(0));
    }

    @Test
    void eightBytesAreDoubledAsOneIs() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 10_000; i++) {
            long bytes = random.nextLong();
            long expected = 0;
            for (int at = 0; at < Long.SIZE; at += Byte.SIZE) {
                expected |= (long) product((int) (bytes >>> at & 0xFF), 2) << at;
            }
            assertEquals(expected, GaloisField.twice(bytes), "seed " + seed);
        }
    }
}
