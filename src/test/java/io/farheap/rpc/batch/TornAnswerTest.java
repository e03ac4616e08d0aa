package io.farheap.rpc.batch;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Answers that have come in part, with the slot's previous words in the rest: the client does not take them until all
 * words have come, whatever these are. Equal words matter most: memory that was never written, and records that are
 * filled with one value.
 */
class TornAnswerTest {

    private static final RingShape SHAPE = new RingShape(2, 16);
    private static final int WORD = Long.BYTES;
    private static final int LINE = 64;

    /** The contents of answers, by name: each gives the word for a place in the slot. */
    private static final Map<String, LongUnaryOperator> CONTENTS = new LinkedHashMap<>();

    static {
        CONTENTS.put("zeros", at -> 0);
        CONTENTS.put("ones", at -> 1);
        CONTENTS.put("one value", at -> 0x0000_0100_0000_002AL);
        CONTENTS.put("all bits", at -> -1);
        CONTENTS.put("pairs alike", at -> (at / WORD & 1) == 0 ? 7 : 0);
        CONTENTS.put("lines alike", at -> at % LINE);
        CONTENTS.put("all different", at -> at * 0x9E37_79B9_7F4A_7C15L);
    }

    private static int[] lengths(String reads) {
        return Arrays.stream(reads.split(" ")).mapToInt(Integer::parseInt).toArray();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "32",
                "40",
                "64",
                "128",
                "256",
                "40 8 8 8 8 8 8",
                "40 8",
                "32 8",
                "32 32",
                "64 8 8",
                "24 8 8 8",
                "8 8 8 8 8 8 8 8 8",
                "16 16 16 16 16 16",
                "33 33",
                "48 5 5",
                "96 1 2 3",
                "200 40 8"
            })
    void isNotTakenUntilAllOfItIsThere(String reads) {
        int[] lengths = lengths(reads);
        int bytes = BatchFormat.HEADER_BYTES;
        for (int length : lengths) {
            bytes += BatchFormat.padded(length);
        }
        try (HostileServer server = new HostileServer(SHAPE)) {
            long sequence = 0;
            for (String before : CONTENTS.keySet()) {
                for (String after : CONTENTS.keySet()) {
                    // Tear the answer before each word, then at each line: the device may write lines in any order,
                    // and stop anywhere in one.
                    for (int from = BatchFormat.HEADER_BYTES; from < bytes; from += WORD) {
                        tear(server, ++sequence, lengths, before, after, from, bytes);
                    }
                    for (int line = LINE; line < bytes; line += LINE) {
                        tear(server, ++sequence, lengths, before, after, line, Math.min(line + LINE, bytes));
                    }
                }
            }
        }
    }

    /** @param from the start of the bytes that are old at first; they end at {@code to} */
    private static void tear(
            HostileServer server, long sequence, int[] lengths, String before, String after, int from, int to) {
        BatchConnection client = server.client;
        for (int i = 0, at = 0; i < lengths.length; at += BatchFormat.padded(lengths[i++])) {
            client.addRead(0, 0, lengths[i], server.destinationAddress() + at);
        }
        assertTrue(client.send());
        boolean same = true;
        put(server, lengths, CONTENTS.get(before));
        long[] old = server.message().asSlice(from, to - from).toArray(JAVA_LONG);
        server.seal(0, lengths);
        server.send(sequence);
        put(server, lengths, CONTENTS.get(after));
        server.seal(sequence, lengths);
        for (int at = from; at < to; at += WORD) {
            same &= old[(at - from) / WORD] == server.message().get(JAVA_LONG, at);
        }
        String what = before + " before, " + after + " after, bytes " + from + " to " + to + " still old";
        if (!same) {
            server.send(sequence, to, SHAPE.responseSlotBytes() - to);
            server.send(sequence, 0, from);
            // The client looks only once: an answer that stays torn for a second ends the connection.
            assertEquals(0, client.receive(), what);
        }
        server.send(sequence, from, to - from);
        server.send(sequence);
        assertEquals(1, client.receive(), what);
        assertTrue(client.succeeded(), what);
        for (int i = 0, at = 0; i < lengths.length; at += BatchFormat.padded(lengths[i++])) {
            assertEquals(
                    -1,
                    server.destination()
                            .asSlice(at, lengths[i])
                            .mismatch(server.message().asSlice(BatchFormat.HEADER_BYTES + at, lengths[i])),
                    what);
            client.finish(1);
        }
    }

    /** Puts an answer's payloads, with zeros for padding. */
    private static void put(HostileServer server, int[] lengths, LongUnaryOperator words) {
        int at = BatchFormat.HEADER_BYTES;
        for (int length : lengths) {
            int end = at + BatchFormat.padded(length);
            for (; at < end; at += WORD) {
                int left = length - (at - (end - BatchFormat.padded(length)));
                long word = words.applyAsLong(at);
                server.message().set(JAVA_LONG, at, left >= WORD ? word : word & (1L << left * Byte.SIZE) - 1);
            }
        }
    }
}
