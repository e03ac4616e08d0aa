package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ServerStatus.LeaseStatus;
import io.farheap.metrics.ServerMetrics;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.remote.contract.Outcome;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;

/** A server's counters, as the server, Micrometer and recordings give them. */
class CountersTest {

    private static final int HOPS = 1;
    private static final int SPIN = 2;

    @Test
    void callsAreCountedByWhatBecameOfThem() throws Exception {
        Path file = Files.createTempFile("farheap", ".jfr");
        try (RawCalls.Server server = new RawCalls.Server(2, 1);
                RawCalls client = server.client(1);
                Recording recording = new Recording()) {
            recording.enable("io.farheap.ProcedureStatistics").with("period", "endChunk");
            recording.enable("io.farheap.ProcedureLeaseTime").with("period", "endChunk");
            recording.start();
            SimpleMeterRegistry registry = new SimpleMeterRegistry();
            ServerMetrics metrics = new ServerMetrics(server.memory, "s");
            metrics.bindTo(registry);
            client.mapAll(1);
            assertEquals(CallFormat.REGISTERED, client.register(HOPS, CallFormat.READS, Procs.file(Procs.Hops.class)));
            assertEquals(CallFormat.REGISTERED, client.register(SPIN, CallFormat.READS, Procs.file(Procs.Spin.class)));
            assertEquals(CallFormat.REFUSED, client.register(3, CallFormat.READS, Procs.file(Procs.Add.class)));
            for (int i = 0; i < 5; i++) {
                assertEquals(CallStatus.DONE, client.call(HOPS, 0, 3));
            }
            assertEquals(CallStatus.REFUSED, client.call(9, 0, 3));
            assertEquals(CallStatus.OUT_OF_RANGE, client.call(HOPS, RawCalls.REGION, 3));
            assertEquals(CallStatus.OUT_OF_FUEL, client.call(SPIN, -1, 0));
            client.map(2, 1, 0, -1);
            assertEquals(CallFormat.LEFT, client.call(HOPS, 0, 3));

            assertEquals(5, count(server, "calls.done"));
            assertEquals(1, count(server, "calls.refused"));
            assertEquals(1, count(server, "calls.out of range"));
            assertEquals(1, count(server, "calls.out of fuel"));
            assertEquals(1, count(server, "calls.left"));
            assertEquals(0, count(server, "calls.fault"));
            assertTrue(count(server, "put off") >= 1);
            assertEquals(2, count(server, "registered"));
            assertEquals(1, count(server, "refused"));
            assertTrue(count(server, "fuel") >= CallFormat.FUEL_LIMIT);
            assertTrue(count(server, "slices") > 0 && count(server, "slice nanos") > 0);
            long sliceNanos = count(server, "slice nanos");
            LeaseStatus lease = server.memory.describe().leases().getFirst();
            assertTrue(lease.callNanos() >= sliceNanos, "the one lease has used all slices, and more at once");
            metrics.refresh();
            double gauge = registry.get("farheap.procedures.lease.time")
                    .tags("server", "s", "client", "raw")
                    .gauge()
                    .value();
            // A server answers a call before it charges the call's last slice, so the time may still grow a little.
            assertTrue(gauge >= lease.callNanos() && gauge <= callNanos(server), "the gauge says " + gauge);
            FunctionCounter done = registry.get("farheap.procedures.calls")
                    .tags("server", "s", "outcome", "done")
                    .functionCounter();
            assertEquals(5, done.count());
            long slices = count(server, "slices");
            double counted =
                    registry.get("farheap.procedures.slices").functionCounter().count();
            assertTrue(counted >= slices && counted <= count(server, "slices"), "the counter says " + counted);

            recording.stop();
            recording.dump(file);
            List<RecordedEvent> all = RecordingFile.readAllEvents(file);
            RecordedEvent time = all.stream()
                    .filter(event -> event.getEventType().getName().equals("io.farheap.ProcedureLeaseTime"))
                    .toList()
                    .getLast();
            assertEquals("raw", time.getString("client"));
            assertTrue(
                    time.getLong("time") >= lease.callNanos() && time.getLong("time") <= callNanos(server),
                    "the event says " + time.getLong("time"));
            List<RecordedEvent> events = all.stream()
                    .filter(event -> event.getEventType().getName().equals("io.farheap.ProcedureStatistics"))
                    .filter(event -> event.getLong("done") == 5 && event.getLong("left") == 1)
                    .toList();
            assertTrue(!events.isEmpty(), "no event tells of them");
            assertEquals(1, events.getLast().getLong("failed"));
            assertEquals(1, events.getLast().getLong("outOfFuel"));
            assertEquals(1, events.getLast().getLong("refused"));
        } finally {
            Files.delete(file);
        }
    }

    /** A lease that has nothing to unregister pays for nothing. */
    @Test
    void aLeaseWithoutProceduresUsesNoTime() {
        try (RawCalls.Server server = new RawCalls.Server(1, 1);
                RawCalls client = server.client(1)) {
            client.unregister(HOPS);
            assertEquals(Outcome.DONE, client.outcome);
            assertEquals(0, server.memory.describe().leases().getFirst().callNanos());
        }
    }

    private static long callNanos(RawCalls.Server server) {
        return server.memory.describe().leases().getFirst().callNanos();
    }

    private static long count(RawCalls.Server server, String name) {
        return server.memory.counters().get("procedures." + name);
    }
}
