package io.farheap.rpc.batch;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The trace of answers, in JVMs of their own, because it is on or off for a whole JVM. */
class AnswerTraceTest {

    private static final RingShape SHAPE = new RingShape(2, 16);
    private static final int[] LENGTHS = {40, 8, 13, 8};
    private static final int WORDS = BatchFormat.HEADER_BYTES / 8 + 5 + 1 + 2 + 1;

    /** The trace compares the slot later: a word that changed after the answer was taken counts as missing from it. */
    @Test
    void aWordThatCameLaterIsNoticed() throws Exception {
        int[] words = {2, WORDS - 1, 3, 7, 8, 10};
        for (int i = 0; i < Effort.either(2, words.length); i++) {
            int word = words[i];
            String said = run(true, word);
            assertTrue(
                    said.contains("the answer to batch 1 was accepted before all of it was there: word " + word + " of "
                            + WORDS),
                    said);
        }
    }

    @Test
    void answersThatAreWholePass() throws Exception {
        assertEquals("passed", run(true, -1));
    }

    @Test
    void itIsOffUnlessAskedFor() throws Exception {
        assertEquals("passed", run(false, 5));
    }

    private static String run(boolean traced, int word) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        TestDevice.compilerFlag(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dfarheap.verbs=" + System.getProperty("farheap.verbs"),
                        "-Dfarheap.test.clientDevice=" + TestDevice.client(),
                        "-Dfarheap.trace.answers=" + traced,
                        "-cp",
                        System.getProperty("java.class.path"),
                        AnswerTraceTest.class.getName(),
                        Integer.toString(word))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            process.waitFor();
            return said;
        } finally {
            process.destroyForcibly();
        }
    }

    /** Answers each slot's batch and, in the first one, changes a word after the client has taken it. */
    public static void main(String[] arguments) {
        int word = Integer.parseInt(arguments[0]);
        try (HostileServer server = new HostileServer(SHAPE)) {
            for (long sequence = 1; sequence <= 3L * SHAPE.slots(); sequence++) {
                for (int i = 0; i < LENGTHS.length; i++) {
                    // One read has no destination, so its bytes stay in the slot.
                    server.client.addRead(0, 0, LENGTHS[i], i == 1 ? 0 : server.destinationAddress() + 64L * i);
                }
                server.client.send();
                server.fill(BatchFormat.HEADER_BYTES, WORDS * 8 - BatchFormat.HEADER_BYTES, 0);
                server.message().set(JAVA_LONG, BatchFormat.HEADER_BYTES, sequence);
                server.seal(sequence, LENGTHS);
                server.send(sequence);
                while (server.client.receive() == 0) {
                    Thread.onSpinWait();
                }
                // The application may use the memory for something else now.
                server.destination().fill((byte) sequence);
                if (sequence == 1 && word >= 0) {
                    server.message().set(JAVA_LONG, word * 8L, 42);
                    server.send(1);
                }
                server.client.finish(LENGTHS.length);
            }
            System.out.println("passed");
        } catch (IllegalStateException e) {
            System.out.println(e.getMessage());
        }
    }
}
