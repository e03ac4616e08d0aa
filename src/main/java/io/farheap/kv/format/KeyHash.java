package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

/**
 * The 64-bit hash of a map's keys, which determines a key's bucket and fingerprint: SipHash-1-3. Its 128-bit key is
 * drawn when the map is made, and stands in the descriptor that each client of the map reads. So a stranger who can
 * choose the map's keys but cannot read the descriptor cannot choose their hashes.
 */
public record KeyHash(long first, long second) {

    private static final int LAST_ROUNDS = 3;
    /** Makes another key of this one, so that a secret is the hash of no key of the map. */
    private static final long OF_SECRETS = 0x626C6F636B73756DL;

    /** Draws a key. */
    public static KeyHash random(RandomGenerator random) {
        return new KeyHash(random.nextLong(), random.nextLong());
    }

    /**
     * @param bytes of the key, which is padded to 8 bytes with zeros
     * @return the hash of {@code bytes} bytes that begin at {@code at}, at any alignment
     */
    public long of(MemorySegment memory, long at, int bytes) {
        long v0 = first ^ 0x736F6D6570736575L;
        long v1 = second ^ 0x646F72616E646F6DL;
        long v2 = first ^ 0x6C7967656E657261L;
        long v3 = second ^ 0x7465646279746573L;
        int words = bytes >>> 3;
        long last = (bytes & 7) == 0 ? 0 : memory.get(JAVA_LONG_UNALIGNED, at + (long) words * Long.BYTES);
        for (int i = 0; i <= words; i++) {
            long word =
                    i < words ? memory.get(JAVA_LONG_UNALIGNED, at + (long) i * Long.BYTES) : last | (long) bytes << 56;
            v3 ^= word;
            v0 += v1;
            v1 = Long.rotateLeft(v1, 13) ^ v0;
            v0 = Long.rotateLeft(v0, 32);
            v2 += v3;
            v3 = Long.rotateLeft(v3, 16) ^ v2;
            v0 += v3;
            v3 = Long.rotateLeft(v3, 21) ^ v0;
            v2 += v1;
            v1 = Long.rotateLeft(v1, 17) ^ v2;
            v2 = Long.rotateLeft(v2, 32);
            v0 ^= word;
        }
        v2 ^= 0xFF;
        for (int round = 0; round < LAST_ROUNDS; round++) {
            v0 += v1;
            v1 = Long.rotateLeft(v1, 13) ^ v0;
            v0 = Long.rotateLeft(v0, 32);
            v2 += v3;
            v3 = Long.rotateLeft(v3, 16) ^ v2;
            v0 += v3;
            v3 = Long.rotateLeft(v3, 21) ^ v0;
            v2 += v1;
            v1 = Long.rotateLeft(v1, 17) ^ v2;
            v2 = Long.rotateLeft(v2, 32);
        }
        return v0 ^ v1 ^ v2 ^ v3;
    }

    /** A secret of the map, for another purpose than its keys; a different one for each number. */
    long secret(int number) {
        MemorySegment word = MemorySegment.ofArray(new long[] {number});
        return new KeyHash(first ^ OF_SECRETS, second).of(word, 0, Long.BYTES);
    }

    /** The top 8 bits of a hash, which do not take part in choosing the bucket. */
    public static int fingerprint(long hash) {
        return (int) (hash >>> 56);
    }

    /** Does not reveal the 128-bit key, which only clients of the map may know. */
    @Override
    public String toString() {
        return "a hash of keys";
    }
}
