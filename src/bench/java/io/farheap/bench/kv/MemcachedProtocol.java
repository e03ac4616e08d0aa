package io.farheap.bench.kv;

import java.nio.ByteBuffer;

/** memcached's text protocol, with keys of 16 hexadecimal digits. */
final class MemcachedProtocol extends CacheProtocol {

    private static final byte[] GET = ascii("get ");
    private static final byte[] SET = ascii("set ");
    private static final byte[] END = ascii("\r\n");
    private static final byte[] DIGITS = ascii("0123456789abcdef");
    /** Behind a value. */
    private static final int TAIL_BYTES = ascii("END\r\n").length;

    private static final int DIGIT_BITS = 4;

    private final byte[] value;
    private final byte[] length;

    MemcachedProtocol(byte[] value) {
        this.value = value;
        length = ascii(" 0 0 " + value.length + "\r\n");
    }

    @Override
    void get(ByteBuffer out, long key) {
        out.put(GET);
        key(out, key);
        out.put(END);
    }

    @Override
    void set(ByteBuffer out, long key) {
        out.put(SET);
        key(out, key);
        out.put(length).put(value).put(END);
    }

    private static void key(ByteBuffer out, long key) {
        for (int shift = Long.SIZE - DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
            out.put(DIGITS[(int) (key >>> shift & DIGITS.length - 1)]);
        }
    }

    @Override
    CacheAnswer answer(ByteBuffer in) {
        int end = lineEnd(in);
        if (end < 0) {
            return CacheAnswer.INCOMPLETE;
        }
        if (begins(in, end, "VALUE ")) {
            return value(in, end, numberAtEnd(in, end), value.length, TAIL_BYTES);
        }
        if (begins(in, end, "STORED\r\n")) {
            return line(in, end, CacheAnswer.DONE);
        }
        if (begins(in, end, "END\r\n")) {
            return line(in, end, CacheAnswer.ABSENT);
        }
        throw error(in, end);
    }

    private static boolean begins(ByteBuffer in, int end, String text) {
        if (end - in.position() < text.length()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (in.get(in.position() + i) != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
