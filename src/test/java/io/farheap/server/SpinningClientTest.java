package io.farheap.server;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.rpc.RingShape;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A client that spins looks at answers while they are being written, so it sees many torn ones: those that it takes
 * must be whole. Each batch fills some words with its number and reads them, so a word with another number comes from
 * the answer that was in the slot before.
 *
 * <p>{@code -Dfarheap.batches=N} runs N batches of each form, without a limit of time.
 */
class SpinningClientTest {

    private static final int REGION = 64 << 10;
    private static final RingShape SHAPE = new RingShape(2, 16);
    private static final Long ASKED = Long.getLong("farheap.batches");
    private static final long BATCHES = ASKED != null ? ASKED : Effort.count(300_000);
    /** The limit of time without the property, because a batch may cost a time slice if cores are shared. */
    private static final long MOST_NANOS = Effort.either(1, 10) * 1_000_000_000L;

    private static final int MOST_EXAMPLES = 3;

    private final ServerPlane server = ServerPlane.open(new ServerOptions(
            REGION, REGION, TestDevice.patience(10_000_000_000L), TestDevice.server(), "test", 1, false, Idle.SPIN));

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void oneRecordOfFiveWordsThenSingleOnes() {
        run(40, 8, 8, 8, 8, 8, 8);
    }

    @Test
    void fiveWordsAndOne() {
        run(40, 8);
    }

    @Test
    void oneLongRecord() {
        run(232);
    }

    @Test
    void pairs() {
        run(16, 16, 16, 16, 16, 16, 16, 16);
    }

    private void run(int... lengths) {
        int bytes = Arrays.stream(lengths).sum();
        long stale = 0;
        long staleBatches = 0;
        long done = 0;
        StringBuilder examples = new StringBuilder();
        try (BatchClient client = new BatchClient(server, SHAPE, 1)) {
            BatchConnection batches = client.batches;
            int region = client.allocate().regionId();
            long source = bytes;
            long end = System.nanoTime() + MOST_NANOS;
            while (done < BATCHES && (ASKED != null || System.nanoTime() - end < 0)) {
                done++;
                for (int at = 0; at < bytes; at += 8) {
                    client.memory().set(JAVA_LONG, source + at, done);
                }
                batches.addWrite(region, 0, bytes, client.address() + source);
                for (int i = 0, at = 0; i < lengths.length; at += lengths[i++]) {
                    batches.addRead(region, at, lengths[i], client.address() + at);
                }
                while (!batches.send()) {
                    batches.receive();
                }
                while (batches.receive() == 0) {
                    assertTrue(!batches.failed(), "the connection failed after " + done + " batches");
                }
                assertEquals(0, client.finishAll());
                long before = stale;
                for (int at = 0; at < bytes; at += 8) {
                    long there = client.memory().get(JAVA_LONG, at);
                    if (there != done && ++stale <= MOST_EXAMPLES) {
                        examples.append("; word ")
                                .append(at / 8)
                                .append(" of batch ")
                                .append(done)
                                .append(" is of batch ")
                                .append(there);
                    }
                }
                staleBatches += stale > before ? 1 : 0;
                if (ASKED != null && done % Math.max(1, BATCHES / 10) == 0) {
                    report(staleBatches, done, lengths);
                }
            }
        }
        assertEquals(0, stale, "stale words in " + staleBatches + " of " + done + " batches" + examples);
    }

    private static void report(long stale, long done, int... lengths) {
        System.out.println("reads of " + Arrays.toString(lengths) + " bytes: stale words in " + stale + " of " + done
                + " batches");
    }
}
