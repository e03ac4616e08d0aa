package io.farheap.rpc.message;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The words of request and response batches. All fields are little-endian; every part starts at a multiple of 8 bytes.
 *
 * <pre>
 * header      0  u64  sequence of the batch on its connection, from 1
 *             8  u32  bytes of the batch, header included
 *            12  u16  requests in it
 *            14  u16  flags
 *            16  u64  checksum of everything but itself
 * request     0  u32  region
 *             4  u24  bytes to read or write
 *             7  u8   {@link #READ} or {@link #WRITE}
 *             8  u64  offset in the region
 *            16       a write's payload, padded to 8 bytes
 * call        0  u32  operation
 *             4  u24  bytes of arguments
 *             7  u8   {@link #CALL}
 *             8  u64  bytes that a reply may have
 *            16       the arguments, padded to 8 bytes
 * response         what the requests give, in order: a read its payload, a call 8 bytes with the
 *                  length of its reply and the reply, each padded to 8 bytes; with the flag
 *                  {@link #STATUSES}, one byte for each request, padded to 8 bytes
 * later            a header, whose bytes are those of the reply, whose requests are the call's place
 *                  in its batch, and whose flags are its status; the reply, padded to 8 bytes
 * </pre>
 *
 * A call with the status {@link #LATER} is answered by a message of its own, in a place of its own behind the response:
 * {@link io.farheap.rpc.RingShape#laterAt}.
 *
 * <p>The bytes of a batch may become visible in any order. So the sequence says only that the batch has begun to
 * arrive; the checksum says that all of it has.
 */
public final class BatchFormat {

    public static final int HEADER_BYTES = 24;
    public static final int REQUEST_BYTES = 16;

    public static final int READ = 1;
    public static final int WRITE = 2;
    public static final int CALL = 3;

    /** A request batch: answer with an immediate, which wakes a client that sleeps. */
    public static final int NOTIFY = 1;
    /** A response batch: not every request succeeded, and its statuses are at its end. */
    public static final int STATUSES = 1;

    /** A request's status. */
    public static final byte DONE = 0;
    /** A request's status: the client does not hold that region. */
    public static final byte NOT_HELD = 1;
    /** A call's status: its handler threw, or put an end to it. */
    public static final byte FAILED = 2;
    /** A call's status: the server has no such operation. */
    public static final byte NO_OPERATION = 3;
    /** A call's status: its answer comes by itself. */
    public static final byte LATER = 4;

    private static final long SUMMARY = 8;
    private static final long CHECKSUM = 16;
    private static final int COUNT_SHIFT = 32;
    private static final int FLAGS_SHIFT = 48;
    private static final int LENGTH_SHIFT = 32;
    private static final int OPERATION_SHIFT = 56;

    // Random constants without a pattern, used nowhere else: neither real data nor their differences and sums are
    // related to them.
    private static final long START = 0x29D83473BB5D20DFL;
    private static final long FIRST = 0xC91DC3ABC2C85351L;
    private static final long SECOND = 0xEE8CE25C188C1BCBL;
    private static final long ALONE = 0xAFDEDA31689C0033L;
    private static final long BESIDE = 0xCA6B67144F04F4F5L;
    /** Odd, so that only all zeros and all ones are rotated into themselves. */
    private static final int BESIDE_ROTATION = 29;

    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private BatchFormat() {}

    /** A length, padded to whole words. */
    public static int padded(int bytes) {
        return bytes + 7 & ~7;
    }

    /** Zeroes the bytes between the end of a payload at an address and the next whole word. */
    public static void pad(long at, int length) {
        for (int i = length; i < padded(length); i++) {
            NativeMemory.ALL.set(JAVA_BYTE, at + i, (byte) 0);
        }
    }

    /** Loads the sequence of a slot with acquire, so that words loaded after it are at least as new. */
    public static long sequence(MemorySegment memory, long slot) {
        return (long) WORD.getAcquire(memory, slot);
    }

    /** The header's second word. */
    public static long summary(MemorySegment memory, long slot) {
        return memory.get(JAVA_LONG, slot + SUMMARY);
    }

    public static long summary(int bytes, int count, int flags) {
        return bytes | (long) count << COUNT_SHIFT | (long) flags << FLAGS_SHIFT;
    }

    public static int bytes(long summary) {
        return (int) summary;
    }

    public static int count(long summary) {
        return (int) (summary >>> COUNT_SHIFT) & 0xFFFF;
    }

    public static int flags(long summary) {
        return (int) (summary >>> FLAGS_SHIFT);
    }

    public static long checksum(MemorySegment memory, long slot) {
        return memory.get(JAVA_LONG, slot + CHECKSUM);
    }

    /**
     * Writes a header.
     *
     * @param hash of the body, from {@link #start} on
     */
    public static void header(MemorySegment memory, long slot, long sequence, long summary, long hash) {
        memory.set(JAVA_LONG, slot, sequence);
        memory.set(JAVA_LONG, slot + SUMMARY, summary);
        memory.set(JAVA_LONG, slot + CHECKSUM, mix(hash, sequence, summary));
    }

    /** Whether a header's checksum is that of the header and a body of this hash. */
    public static boolean complete(MemorySegment memory, long slot, long sequence, long summary, long hash) {
        return checksum(memory, slot) == mix(hash, sequence, summary);
    }

    /** A request's first word. */
    public static long request(int operation, int region, int length) {
        return Integer.toUnsignedLong(region) | (long) length << LENGTH_SHIFT | (long) operation << OPERATION_SHIFT;
    }

    public static int operation(long request) {
        return (int) (request >>> OPERATION_SHIFT);
    }

    public static int region(long request) {
        return (int) request;
    }

    public static int length(long request) {
        return (int) (request >>> LENGTH_SHIFT) & 0xFFFFFF;
    }

    /** The hash of an empty body. */
    public static long start() {
        return START;
    }

    /**
     * The hash of a body that is followed by two words: the 128-bit product of two factors, folded. It misses a torn
     * batch in about one case in 2^60; it is no defence against a party that wants a collision.
     *
     * <p>If one factor is 0, the product does not depend on the other. The hash so far is in both factors, so only
     * words chosen for it make one 0; and the constants are in both, so words that follow a hash of 0 count, zeros too.
     * The constants are added, not XORed: a compiler would reassociate two XORs, which puts the word's XOR behind the
     * hash, on the chain on which every later step waits.
     */
    public static long mix(long hash, long first, long second) {
        return product(first + FIRST ^ hash, second + SECOND ^ hash);
    }

    /** The hash of a body that is followed by one word, which differs from that of the word and a 0. */
    public static long mix(long hash, long word) {
        return product(word + FIRST ^ hash, ALONE ^ hash);
    }

    /**
     * The hash of a body that is followed by four words, with half of the work outside the chain of products. Equal
     * pairs of words must not give equal halves: the second half starts from a hash of its own, and is rotated.
     */
    public static long mix(long hash, long first, long second, long third, long fourth) {
        return mix(hash, first, second) ^ Long.rotateLeft(mix(BESIDE, third, fourth), BESIDE_ROTATION);
    }

    private static long product(long a, long b) {
        return a * b ^ Math.unsignedMultiplyHigh(a, b);
    }
}
