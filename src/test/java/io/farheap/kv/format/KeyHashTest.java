package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.MapSession;
import io.farheap.kv.TestSpace;
import io.farheap.rpc.message.BatchFormat;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class KeyHashTest {

    /** Lengths, and a reference's hashes of the bytes 0, 1, 2 and so on under the key 0, 1, 2 to 15. */
    private static final long[][] SIPHASH_1_3 = {
        {0, 0xABAC0158050FC4DCL},
        {1, 0xC9F49BF37D57CA93L},
        {2, 0x82CB9B024DC7D44DL},
        {3, 0x8BF80AB8E7DDF7FBL},
        {4, 0xCF75576088D38328L},
        {5, 0xDEF9D52F49533B67L},
        {6, 0xC50D2B50C59F22A7L},
        {7, 0xD3927D989BB11140L},
        {8, 0x369095118D299A8EL},
        {9, 0x25A48EB36C063DE4L},
        {15, 0xD320D86D2A519956L},
        {16, 0xCC4FDD1A7D908B66L},
        {17, 0x9CF2689063DBD80CL},
        {31, 0x2370DD1F8C21D1BCL},
        {32, 0x81157B6C16A7B60DL},
        {63, 0x9D199062B7BBB3A8L},
        {1024, 0x998A8122A6CB5A94L}
    };

    // The constants that the mixing of batches adds to words; keys were hashed with the same mixing before.
    private static final long FIRST = 0xC91DC3ABC2C85351L;
    private static final long SECOND = 0xEE8CE25C188C1BCBL;

    private static final int KEYS = 200;

    @Test
    void isSipHash() {
        for (long[] each : SIPHASH_1_3) {
            byte[] key = new byte[(int) each[0]];
            for (int i = 0; i < key.length; i++) {
                key[i] = (byte) i;
            }
            assertEquals(each[1], TestKeys.hash(key), key.length + " bytes");
        }
    }

    @Test
    void anotherMapHasAnother() {
        byte[] key = TestKeys.bytes(1);
        KeyHash other = KeyHash.random(new SplittableRandom(1));
        assertNotEquals(TestKeys.hash(key), other.of(MemorySegment.ofArray(key), 0, key.length));
        assertFalse(other.toString().contains(Long.toString(other.first())), "it is a secret");
    }

    /**
     * @return a key of 16 bytes for which the mixing multiplies these factors, or the same ones exchanged, if its seed
     *     is known or is in both factors
     */
    private static byte[] crafted(long first, long second) {
        long start = BatchFormat.mix(BatchFormat.start(), 0, 2 * Long.BYTES);
        byte[] key = new byte[2 * Long.BYTES];
        MemorySegment words = MemorySegment.ofArray(key);
        words.set(JAVA_LONG_UNALIGNED, 0, (first ^ start) - FIRST);
        words.set(JAVA_LONG_UNALIGNED, Long.BYTES, (second ^ start) - SECOND);
        return key;
    }

    /** The hash of a key of 16 bytes that the mixing gives. */
    private static long mixed(byte[] key) {
        MemorySegment words = MemorySegment.ofArray(key);
        return BatchFormat.mix(
                BatchFormat.mix(BatchFormat.start(), 0, key.length),
                words.get(JAVA_LONG_UNALIGNED, 0),
                words.get(JAVA_LONG_UNALIGNED, Long.BYTES));
    }

    @Test
    void keysThatAreMadeToCollideDoNot() {
        byte[] one = crafted(1, 0x1234_5678_9ABC_DEF0L);
        byte[] two = crafted(0x1234_5678_9ABC_DEF0L, 1);
        assertEquals(mixed(one), mixed(two));
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 1000);
                MapSession session = space.map.openSession()) {
            assertTrue(session.add(one, new byte[] {1}, 0));
            assertFalse(session.replace(two, new byte[] {2}, 0));
            assertNull(session.get(two));
            assertTrue(session.add(two, new byte[] {2}, 0));
            session.set(two, new byte[] {3});
            assertArrayEquals(new byte[] {1}, session.get(one));
            assertArrayEquals(new byte[] {3}, session.get(two));
        }
    }

    @Test
    void keysThatAreMadeForOneBucketFillNone() {
        try (TestSpace space = new TestSpace(1, 1, 4 << 20, 10_000);
                MapSession session = space.map.openSession()) {
            for (int i = 0; i < KEYS; i++) {
                byte[] key = crafted(1, (long) i << 56);
                assertEquals(0, (int) mixed(key));
                session.set(key, new byte[] {(byte) i});
            }
            for (int i = 0; i < KEYS; i++) {
                assertArrayEquals(new byte[] {(byte) i}, session.get(crafted(1, (long) i << 56)), "key " + i);
            }
        }
    }
}
