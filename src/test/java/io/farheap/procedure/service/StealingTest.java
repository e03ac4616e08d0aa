package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.remote.RpcOptions;
import io.farheap.remote.contract.Outcome;
import io.farheap.server.contract.CallInterleaving;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A thread without rings executes calls of a thread that has too many. */
class StealingTest {

    private static final int SPIN = 1;
    private static final int CALLS = 64;
    /** The turns of one call, which are at least some 50 slices. */
    private static final long TURNS = 300_000;

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("farheap-srv-1"))
                .toList();
    }

    /** Rounds of calls are repeated until the other thread has taken some of them from the ring's thread. */
    @ParameterizedTest
    @EnumSource(names = {"PARK", "SPIN"})
    void anotherThreadHelps(Idle idle) throws InterruptedException {
        List<Thread> others = threads();
        List<Thread> started;
        RpcOptions options = RpcOptions.DEFAULT.with(CALLS / 16, 16).withRecordBytes(2048);
        try (RawCalls.Server server = new RawCalls.Server(1, 2, idle, CallInterleaving.MEASURED);
                RawCalls client = server.client(1, options)) {
            client.mapAll(1);
            assertEquals(CallFormat.REGISTERED, register(client));
            started = threads().stream()
                    .filter(thread -> !others.contains(thread))
                    .toList();
            long stolen = 0;
            for (int round = 0; stolen == 0; round++) {
                assertTrue(round < TestDevice.patience(100), "no call was executed by another thread than the ring's");
                run(client);
                stolen = server.memory.counters().getOrDefault("procedures.stolen", 0L);
            }
            assertTrue(server.memory.counters().get("procedures.calls.done") >= CALLS);
        }
        for (Thread thread : started) {
            thread.join(TestDevice.patience(300_000));
            assertTrue(!thread.isAlive(), "a thread is left");
        }
    }

    private static int register(RawCalls client) {
        byte[] file = Procs.file(Procs.Spin.class);
        assertTrue(file.length < 2000, "in one piece");
        return client.piece(SPIN, CallFormat.READS, file.length, 0, file);
    }

    private static void run(RawCalls client) {
        int length = client.prepare(SPIN, 0, RawCalls.REGION, TURNS, 7);
        int[] ended = new int[1];
        for (int i = 0; i < CALLS; i++) {
            assertTrue(client.post(CallFormat.CALL, length, 24, i));
        }
        client.queue().send();
        while (ended[0] < CALLS) {
            int before = ended[0];
            client.queue().poll((tag, outcome, bytes) -> {
                assertEquals(Outcome.DONE, outcome);
                assertEquals(CallStatus.DONE, client.in.get(JAVA_INT_UNALIGNED, 0));
                ended[0]++;
            });
            if (ended[0] == before) {
                // The client sleeps, so that the server's threads have the cores.
                client.queue().await(10_000_000);
            }
        }
    }
}
