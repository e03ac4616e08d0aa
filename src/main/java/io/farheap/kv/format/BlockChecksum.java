package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * The 64-bit checksum of a block's bytes, by which a reader tells whether it has read all of them. It is fast for long
 * values: a product of 128 bits for each 16 bytes, in four chains if there are many.
 *
 * <p>A client without the map's token chooses values, so the constants that are added to words are secrets, which every
 * client of the map derives from the key of its {@link KeyHash}. With known constants a seed would not help: the two
 * factors of a product can be exchanged, so a value made of parts of two others could have the checksum of one of them
 * under every seed, and a torn copy would count as whole. Nor can a value be the image of a block. No client without
 * the map's token sees a checksum.
 */
public final class BlockChecksum {

    private static final int LANES_FROM = 128;

    private final long start;
    /** Added to the first, and to the second, of two words. */
    private final long first;

    private final long second;
    /** Make the other chains begin otherwise than the first one, so that chains with equal words differ. */
    private final long secondChain;

    private final long thirdChain;
    private final long fourthChain;

    public BlockChecksum(KeyHash key) {
        start = key.secret(0);
        first = key.secret(1);
        second = key.secret(2);
        secondChain = key.secret(3);
        thirdChain = key.secret(4);
        fourthChain = key.secret(5);
    }

    /** The seed of a block's checksum, from the words of its header. */
    long seed(int incarnation, long lengths, long version, long hash) {
        return mix(mix(start, incarnation, lengths), version, hash);
    }

    /**
     * @param seed makes the checksums of equal bytes differ
     * @return the checksum of {@code bytes} bytes that begin at {@code at}, at any alignment
     */
    public long of(MemorySegment memory, long at, int bytes, long seed) {
        long hash = mix(start, seed, bytes);
        long end = at + bytes;
        long next = at;
        if (bytes >= LANES_FROM) {
            // Four independent chains of multiplications run in parallel, each from its own start value.
            long one = hash;
            long two = hash ^ secondChain;
            long three = hash ^ thirdChain;
            long four = hash ^ fourthChain;
            for (; next + 64 <= end; next += 64) {
                one = mix(memory, next, one);
                two = mix(memory, next + 16, two);
                three = mix(memory, next + 32, three);
                four = mix(memory, next + 48, four);
            }
            hash = mix(mix(start, one, two), three, four);
        }
        for (; next + 16 <= end; next += 16) {
            hash = mix(memory, next, hash);
        }
        if (next == end) {
            return hash;
        }
        long word = 0;
        long last = 0;
        if (next + 8 <= end) {
            word = memory.get(JAVA_LONG_UNALIGNED, next);
            next += 8;
            last = rest(memory, next, end);
        } else {
            word = rest(memory, next, end);
        }
        return mix(hash, word, last);
    }

    private long mix(MemorySegment memory, long at, long hash) {
        return mix(hash, memory.get(JAVA_LONG_UNALIGNED, at), memory.get(JAVA_LONG_UNALIGNED, at + 8));
    }

    /**
     * The hash of words that are followed by two more: the 128-bit product of two factors, folded. The hash so far is
     * in both factors, so a factor that happens to be 0 hides no earlier words. The secrets are added, not XORed: a
     * compiler would reassociate two XORs, which puts the word's XOR on the chain on which every later step waits.
     */
    private long mix(long hash, long one, long two) {
        long a = one + first ^ hash;
        long b = two + second ^ hash;
        return a * b ^ Math.unsignedMultiplyHigh(a, b);
    }

    private static long rest(MemorySegment memory, long from, long end) {
        long word = 0;
        for (long at = end - 1; at >= from; at--) {
            word = word << 8 | memory.get(JAVA_BYTE, at) & 0xFF;
        }
        return word;
    }

    /** Does not reveal the secrets. */
    @Override
    public String toString() {
        return "a checksum of blocks";
    }
}
