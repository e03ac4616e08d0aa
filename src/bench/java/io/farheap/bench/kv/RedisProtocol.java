package io.farheap.bench.kv;

import java.nio.ByteBuffer;

/** Redis's protocol (RESP), with keys of 8 bytes. */
final class RedisProtocol extends CacheProtocol {

    private static final byte[] GET = ascii("*2\r\n$3\r\nGET\r\n$8\r\n");
    private static final byte[] SET = ascii("*3\r\n$3\r\nSET\r\n$8\r\n");
    private static final byte[] END = ascii("\r\n");

    private final byte[] value;
    private final byte[] length;

    RedisProtocol(byte[] value) {
        this.value = value;
        length = ascii("\r\n$" + value.length + "\r\n");
    }

    @Override
    void get(ByteBuffer out, long key) {
        out.put(GET).putLong(key).put(END);
    }

    @Override
    void set(ByteBuffer out, long key) {
        out.put(SET).putLong(key).put(length).put(value).put(END);
    }

    @Override
    CacheAnswer answer(ByteBuffer in) {
        int end = lineEnd(in);
        if (end < 0) {
            return CacheAnswer.INCOMPLETE;
        }
        char kind = (char) in.get(in.position());
        if (kind == '+') {
            return line(in, end, CacheAnswer.DONE);
        }
        if (kind != '$') {
            throw error(in, end);
        }
        int bytes = numberAtEnd(in, end);
        return bytes < 0 ? line(in, end, CacheAnswer.ABSENT) : value(in, end, bytes, value.length, 0);
    }
}
