package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.remote.RpcOptions;
import io.farheap.server.contract.CallInterleaving;
import io.farheap.thread.idle.Idle;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long a thread runs calls of one batch before it looks at its other rings. */
@Timeout(60)
class FirstSlicesTest {

    private static final int CALLS = 256;
    private static final int SPIN = 1;

    private long now = Long.MAX_VALUE - 1_000;
    private final FirstSlices slices = new FirstSlices(() -> now);

    private int run(double estimate, long nanos) {
        slices.begin();
        int ran = 0;
        while (ran < 10_000 && slices.mayRun()) {
            slices.ran(estimate);
            now += nanos;
            ran++;
        }
        return ran;
    }

    @Test
    void theyEndByTheEstimate() {
        assertEquals(20, run(2_000, 0));
        assertFalse(slices.mayRun());
        assertEquals(20, run(2_000, 2_000));
        assertEquals(1, run(1e9, 0));
    }

    /** Code that costs more than its fuel says is noticed by the clock, within a few calls. */
    @Test
    void theyEndByTheClock() {
        assertEquals(24, run(1, 2_000));
        assertEquals(8, run(0, 1_000_000));
        assertEquals(10_000, run(0, 0));
    }

    /** The procedure's time is unknown yet, and so taken as long: most of the calls wait for slices of their own. */
    @Test
    void mostOfALargeBatchIsPutOff() {
        RpcOptions options = RpcOptions.DEFAULT.with(1, CALLS).withRecordBytes(64);
        try (RawCalls.Server server = new RawCalls.Server(1, 1, Idle.BACK_OFF, CallInterleaving.OFF);
                RawCalls client = server.client(1, options)) {
            byte[] file = Procs.file(Procs.Spin.class);
            for (int at = 0; at < file.length; at += 40) {
                client.piece(
                        SPIN,
                        CallFormat.READS,
                        file.length,
                        at,
                        Arrays.copyOfRange(file, at, Math.min(file.length, at + 40)));
            }
            client.mapAll(1);
            int length = client.prepare(SPIN, 0, RawCalls.REGION, 1, 7);
            for (int i = 0; i < CALLS; i++) {
                assertTrue(client.post(CallFormat.CALL, length, 24, i));
            }
            client.queue().send();
            int[] ended = new int[1];
            while (ended[0] < CALLS) {
                client.queue().poll((tag, outcome, bytes) -> {
                    assertEquals(CallStatus.DONE, client.in.get(JAVA_INT_UNALIGNED, 0));
                    assertEquals(7, client.result());
                    ended[0]++;
                });
            }
            long putOff = server.memory.counters().get("procedures.put off");
            assertTrue(putOff > CALLS / 2, putOff + " calls");
        }
    }
}
