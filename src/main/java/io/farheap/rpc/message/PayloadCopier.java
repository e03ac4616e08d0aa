package io.farheap.rpc.message;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies payloads into and out of batches, in which they are padded to whole words, and hashes them on the way. Each
 * aligned 8-byte word of a region is read by one load and written by one store, however a payload lies in the region:
 * aligned words never tear.
 *
 * <p>All places are addresses that the caller has checked: one check for each payload, none for each word.
 */
public final class PayloadCopier {

    private static final MemorySegment ALL = NativeMemory.ALL;
    private static final ValueLayout.OfLong ANYWHERE = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final int PAIR = 16;
    private static final int QUAD = 32;
    private static final int WORD = 8;

    private PayloadCopier() {}

    /**
     * From a region, at any address, into a batch.
     *
     * @return the hash of the batch so far
     */
    public static long fromRegion(long from, long to, int bytes, long hash) {
        // The common case: records of 16 aligned bytes.
        if (bytes == PAIR && (from & 7) == 0) {
            return pair(from, to, hash);
        }
        return (from & 7) == 0 ? copy(from, to, bytes, hash) : fromUnalignedRegion(from, to, bytes, hash);
    }

    /**
     * From the application's memory, at any address, into a batch.
     *
     * @return the hash of the batch so far
     */
    public static long fromMemory(long from, long to, int bytes, long hash) {
        return bytes == PAIR ? pair(from, to, hash) : copy(from, to, bytes, hash);
    }

    /**
     * From a batch to the application's memory, at any address.
     *
     * @return the hash of the batch so far
     */
    public static long toMemory(long from, long to, int bytes, long hash) {
        if (bytes == PAIR) {
            return pair(from, to, hash);
        }
        int words = bytes & -WORD;
        hash = copy(from, to, words, hash);
        return words == bytes ? hash : storeTail(from + words, to + words, bytes - words, hash);
    }

    private static long storeTail(long from, long to, int bytes, long hash) {
        long value = word(from);
        for (int i = 0; i < bytes; i++) {
            ALL.set(JAVA_BYTE, to + i, (byte) (value >>> i * 8));
        }
        return BatchFormat.mix(hash, value);
    }

    /** The hash of a payload in a batch, whose padding must be zero. */
    public static long hash(long from, int bytes, long hash) {
        int at = 0;
        if (bytes >= QUAD) {
            hash = quad(from, hash);
            at = QUAD;
            if (bytes >= 2 * QUAD) {
                hash = quad(from + QUAD, hash);
                at = 2 * QUAD;
                if (bytes >= 3 * QUAD) {
                    hash = quads(from + at, (bytes - at) & -QUAD, hash);
                    at = bytes & -QUAD;
                }
            }
        }
        if (at <= bytes - PAIR) {
            hash = BatchFormat.mix(hash, word(from + at), word(from + at + 8));
            at += PAIR;
        }
        if (at <= bytes - WORD) {
            hash = BatchFormat.mix(hash, word(from + at));
            at += WORD;
        }
        return at == bytes ? hash : BatchFormat.mix(hash, word(from + at));
    }

    // A loop that seldom iterates costs more than its body, so the callers unroll the first iterations.
    private static long quads(long from, int bytes, long hash) {
        long end = from + bytes;
        while (from < end) {
            hash = quad(from, hash);
            from += QUAD;
        }
        return hash;
    }

    private static long quad(long from, long hash) {
        return BatchFormat.mix(hash, word(from), word(from + 8), word(from + 16), word(from + 24));
    }

    private static long copy(long from, long to, int bytes, long hash) {
        int at = 0;
        if (bytes >= QUAD) {
            hash = quad(from, to, hash);
            at = QUAD;
            if (bytes >= 2 * QUAD) {
                hash = quad(from + QUAD, to + QUAD, hash);
                at = 2 * QUAD;
                if (bytes >= 3 * QUAD) {
                    hash = quads(from + at, to + at, (bytes - at) & -QUAD, hash);
                    at = bytes & -QUAD;
                }
            }
        }
        if (at <= bytes - PAIR) {
            hash = pair(from + at, to + at, hash);
            at += PAIR;
        }
        if (at <= bytes - WORD) {
            long value = ALL.get(ANYWHERE, from + at);
            ALL.set(ANYWHERE, to + at, value);
            hash = BatchFormat.mix(hash, value);
            at += WORD;
        }
        return at == bytes ? hash : tail(from + at, to + at, bytes - at, hash);
    }

    private static long quads(long from, long to, int bytes, long hash) {
        long end = from + bytes;
        while (from < end) {
            hash = quad(from, to, hash);
            from += QUAD;
            to += QUAD;
        }
        return hash;
    }

    private static long quad(long from, long to, long hash) {
        long first = ALL.get(ANYWHERE, from);
        long second = ALL.get(ANYWHERE, from + 8);
        long third = ALL.get(ANYWHERE, from + 16);
        long fourth = ALL.get(ANYWHERE, from + 24);
        ALL.set(ANYWHERE, to, first);
        ALL.set(ANYWHERE, to + 8, second);
        ALL.set(ANYWHERE, to + 16, third);
        ALL.set(ANYWHERE, to + 24, fourth);
        return BatchFormat.mix(hash, first, second, third, fourth);
    }

    private static long pair(long from, long to, long hash) {
        long first = ALL.get(ANYWHERE, from);
        long second = ALL.get(ANYWHERE, from + 8);
        ALL.set(ANYWHERE, to, first);
        ALL.set(ANYWHERE, to + 8, second);
        return BatchFormat.mix(hash, first, second);
    }

    /** Reads no byte beyond: the next page may not be there. */
    private static long tail(long from, long to, int bytes, long hash) {
        long value = 0;
        for (int i = bytes - 1; i >= 0; i--) {
            value = value << 8 | Byte.toUnsignedLong(ALL.get(JAVA_BYTE, from + i));
        }
        ALL.set(JAVA_LONG, to, value);
        return BatchFormat.mix(hash, value);
    }

    private static long fromUnalignedRegion(long from, long to, int bytes, long hash) {
        int shift = (int) (from & 7) * Byte.SIZE;
        long next = from & -WORD;
        long end = from + bytes;
        long carried = word(next);
        for (int at = 0; at < bytes; at += WORD) {
            long value = carried >>> shift;
            next += WORD;
            if (next < end) {
                carried = word(next);
                value |= carried << Long.SIZE - shift;
            }
            int left = bytes - at;
            ALL.set(JAVA_LONG, to + at, left >= WORD ? value : value & (1L << left * Byte.SIZE) - 1);
        }
        return hash(to, bytes, hash);
    }

    /** From a batch into a region, at any address. */
    public static void toRegion(long from, long to, int bytes) {
        if (bytes == PAIR && (to & 7) == 0) {
            ALL.set(JAVA_LONG, to, word(from));
            ALL.set(JAVA_LONG, to + 8, word(from + 8));
            return;
        }
        int at = 0;
        for (; at < bytes && (to + at & 7) != 0; at++) {
            ALL.set(JAVA_BYTE, to + at, ALL.get(JAVA_BYTE, from + at));
        }
        for (; at <= bytes - WORD; at += WORD) {
            ALL.set(JAVA_LONG, to + at, ALL.get(ANYWHERE, from + at));
        }
        for (; at < bytes; at++) {
            ALL.set(JAVA_BYTE, to + at, ALL.get(JAVA_BYTE, from + at));
        }
    }

    private static long word(long address) {
        return ALL.get(JAVA_LONG, address);
    }
}
