package io.farheap.bench.kv;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The bytes of requests to a {@link CacheServer} and of their answers; all values are the same. One thread. */
abstract class CacheProtocol {

    private static final int DECIMAL = 10;

    /** Writes a get. */
    abstract void get(ByteBuffer out, long key);

    /** Writes a set. */
    abstract void set(ByteBuffer out, long key);

    /**
     * Takes the next answer out of the received bytes, which stay as they are if it is incomplete.
     *
     * @throws IllegalStateException if it is an error, or a value of another length
     */
    abstract CacheAnswer answer(ByteBuffer in);

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns the end of the next line, behind its line feed; -1 if it has not arrived. */
    static int lineEnd(ByteBuffer in) {
        for (int at = in.position(); at < in.limit(); at++) {
            if (in.get(at) == '\n') {
                return at + 1;
            }
        }
        return -1;
    }

    /**
     * Returns the decimal number that ends a line.
     *
     * @param end of the line, as {@link #lineEnd} returns it
     */
    static int numberAtEnd(ByteBuffer in, int end) {
        int number = 0;
        int factor = 1;
        int at = end - 3;
        for (; at >= in.position() && in.get(at) >= '0' && in.get(at) <= '9'; at--) {
            number += factor * (in.get(at) - '0');
            factor *= DECIMAL;
        }
        return in.get(at) == '-' ? -number : number;
    }

    /**
     * Takes a value and the end of its line.
     *
     * @param at its first byte
     * @param bytes of the value, by the answer
     * @param expected the bytes that each value has
     * @param tail bytes of the answer behind the value's line
     */
    static CacheAnswer value(ByteBuffer in, int at, int bytes, int expected, int tail) {
        if (bytes != expected) {
            throw new IllegalStateException("a value of " + bytes + " bytes; each was set with " + expected);
        }
        int end = at + bytes + 2 + tail;
        if (end > in.limit()) {
            return CacheAnswer.INCOMPLETE;
        }
        in.position(end);
        return CacheAnswer.DONE;
    }

    /** Takes a line, up to its end. */
    static CacheAnswer line(ByteBuffer in, int end, CacheAnswer answer) {
        in.position(end);
        return answer;
    }

    static IllegalStateException error(ByteBuffer in, int end) {
        StringBuilder line = new StringBuilder();
        for (int at = in.position(); at < end; at++) {
            line.append((char) in.get(at));
        }
        return new IllegalStateException(
                "the server answered: " + line.toString().strip());
    }
}
