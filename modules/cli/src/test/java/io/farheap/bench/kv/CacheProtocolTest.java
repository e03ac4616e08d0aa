package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requests are as the servers read them, and answers are taken one by one, however their bytes arrive. */
class CacheProtocolTest {

    private static final byte[] VALUE = "1234\r\n78".getBytes(StandardCharsets.US_ASCII);

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String written(ByteBuffer out) {
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** Takes all answers, as they are when so many bytes arrive at a time. */
    private static List<CacheAnswer> answers(CacheProtocol protocol, String text, int atOnce) {
        ByteBuffer in = ByteBuffer.allocate(1024);
        List<CacheAnswer> answers = new ArrayList<>();
        for (int from = 0; from < text.length(); from += atOnce) {
            in.put(bytes(text.substring(from, Math.min(text.length(), from + atOnce))));
            in.flip();
            for (CacheAnswer answer = protocol.answer(in);
                    answer != CacheAnswer.INCOMPLETE;
                    answer = protocol.answer(in)) {
                answers.add(answer);
            }
            in.compact();
        }
        assertEquals(0, in.position(), "bytes are left");
        return answers;
    }

    @Test
    void requestsToRedis() {
        CacheProtocol redis = new RedisProtocol(VALUE);
        ByteBuffer out = ByteBuffer.allocate(256);
        redis.get(out, 0x0102030405060708L);
        assertEquals("*2\r\n$3\r\nGET\r\n$8\r\n\1\2\3\4\5\6\7\10\r\n", written(out));
        out.clear();
        redis.set(out, 0x0102030405060708L);
        assertEquals("*3\r\n$3\r\nSET\r\n$8\r\n\1\2\3\4\5\6\7\10\r\n$8\r\n1234\r\n78\r\n", written(out));
    }

    @Test
    void requestsToMemcached() {
        CacheProtocol memcached = new MemcachedProtocol(VALUE);
        ByteBuffer out = ByteBuffer.allocate(256);
        memcached.get(out, 0xABCL);
        assertEquals("get 0000000000000abc\r\n", written(out));
        out.clear();
        memcached.set(out, -1);
        assertEquals("set ffffffffffffffff 0 0 8\r\n1234\r\n78\r\n", written(out));
    }

    @Test
    void answersOfRedis() {
        String text = "+OK\r\n$8\r\n1234\r\n78\r\n$-1\r\n$8\r\n1234\r\n78\r\n+OK\r\n";
        List<CacheAnswer> expected =
                List.of(CacheAnswer.DONE, CacheAnswer.DONE, CacheAnswer.ABSENT, CacheAnswer.DONE, CacheAnswer.DONE);
        for (int atOnce : new int[] {1, 2, 3, 7, 1000}) {
            assertEquals(expected, answers(new RedisProtocol(VALUE), text, atOnce), atOnce + " at once");
        }
    }

    @Test
    void answersOfMemcached() {
        String value = "VALUE 0000000000000abc 0 8\r\n1234\r\n78\r\nEND\r\n";
        String text = "STORED\r\n" + value + "END\r\n" + value + "STORED\r\n";
        List<CacheAnswer> expected =
                List.of(CacheAnswer.DONE, CacheAnswer.DONE, CacheAnswer.ABSENT, CacheAnswer.DONE, CacheAnswer.DONE);
        for (int atOnce : new int[] {1, 2, 3, 7, 1000}) {
            assertEquals(expected, answers(new MemcachedProtocol(VALUE), text, atOnce), atOnce + " at once");
        }
    }

    @Test
    void errorsAndOtherValuesEndTheRun() {
        for (String wrong : new String[] {"-ERR full\r\n", ":1\r\n", "$7\r\n1234567\r\n", "\r\n"}) {
            assertThrows(IllegalStateException.class, () -> new RedisProtocol(VALUE).answer(bytes(wrong)), wrong);
        }
        for (String wrong : new String[] {
            "ERROR\r\n", "SERVER_ERROR out of memory\r\n", "NOT_STORED\r\n", "VALUE k 0 7\r\n1234567\r\nEND\r\n", "\r\n"
        }) {
            assertThrows(IllegalStateException.class, () -> new MemcachedProtocol(VALUE).answer(bytes(wrong)), wrong);
        }
        IllegalStateException full = assertThrows(
                IllegalStateException.class, () -> new RedisProtocol(VALUE).answer(bytes("-ERR full\r\n")));
        assertEquals("the server answered: -ERR full", full.getMessage());
    }
}
