package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.Validity;
import io.farheap.remote.contract.VerbCounts;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A row says how it was measured; if too many operations were late it has no rate and no time. */
class YcsbRowTest {

    private static final List<String> FIGURES = List.of(
            "ops_per_s",
            "ops_per_s_p25",
            "ops_per_s_p75",
            "ops_per_s_least",
            "ops_per_s_most",
            "p50_ns",
            "p99_ns",
            "cpu_ns",
            "server_cpu_ns",
            "p999_ns",
            "max_ns");

    @TempDir
    Path directory;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    /** A store that nothing is asked of. */
    private record Store(String model) implements YcsbStore {

        @Override
        public String engine() {
            return "store";
        }

        @Override
        public long serverCpuNanos() {
            throw new UnsupportedOperationException();
        }

        @Override
        public SideSetup setup(int sessions) {
            return new SideSetup(1024L * sessions, 2, sessions, 1);
        }

        @Override
        public ClosedLoop.LoopClientFactory clients(List<YcsbRequests> requests) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }

    private static ClosedLoop.LoopResult result() {
        Samples rates = new Samples();
        for (double rate : new double[] {100, 300, 200}) {
            rates.add(rate);
        }
        Histogram latency = new Histogram(3);
        latency.recordValue(1000);
        latency.recordValue(2000);
        return new ClosedLoop.LoopResult(10, rates, latency, new VerbCounts(20, 10, 0, 5, 0, 0, 0), 8, 2, 5000, 20);
    }

    private JsonObject row(double latePercent, boolean settled) throws Exception {
        TestReport report = new TestReport(directory);
        try (PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
            new YcsbRow(
                            new YcsbPoint(KvWorkload.B, true, 8),
                            new Store("connectx5"),
                            1 << 20,
                            result(),
                            3000,
                            new Validity(latePercent),
                            settled)
                    .put(report.report(), out);
        }
        return report.rows().getFirst();
    }

    private String printed() {
        return printed.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aRowHasTheMeansOfItsSide() throws Exception {
        JsonObject row = row(0, true);
        assertEquals("ycsb", row.get("part").getAsString());
        assertEquals("store", row.get("engine").getAsString());
        assertEquals("B", row.get("workload").getAsString());
        assertEquals("zipfian", row.get("keys").getAsString());
        assertEquals("connectx5", row.get("model").getAsString());
        assertEquals(8, row.get("sessions").getAsLong());
        assertEquals(8, row.get("in_flight").getAsLong());
        assertEquals(1, row.get("group").getAsLong());
        assertEquals(2, row.get("cores").getAsLong());
        assertEquals(8 * 1024, row.get("bytes_local").getAsLong());
        assertEquals(1 << 20, row.get("bytes_remote").getAsLong());
        assertTrue(row.get("settled").getAsBoolean());
        assertFalse(row.get("invalid").getAsBoolean());
        assertEquals(0, row.get("late_pct").getAsDouble());
        assertEquals(200, row.get("ops_per_s").getAsDouble());
        assertEquals(150, row.get("ops_per_s_p25").getAsDouble());
        assertEquals(250, row.get("ops_per_s_p75").getAsDouble());
        assertEquals(500, row.get("cpu_ns").getAsDouble());
        // Of all requests that the server has served, and not of those alone that count.
        assertEquals(150, row.get("server_cpu_ns").getAsDouble());
        assertEquals(75, row.get("hit_pct").getAsDouble());
        assertEquals(2, row.get("reads").getAsDouble());
        // The paper measured maps alone.
        assertTrue(row.get("paper_ops_per_s").isJsonNull());
        assertFalse(printed().contains("INVALID"), this::printed);
        assertFalse(printed().contains("settled"), this::printed);
    }

    @Test
    void aRowWithLateOperationsIsInvalid() throws Exception {
        JsonObject row = row(1.5, true);
        assertTrue(row.get("invalid").getAsBoolean());
        assertEquals(1.5, row.get("late_pct").getAsDouble());
        FIGURES.forEach(name -> assertTrue(row.get(name).isJsonNull(), name));
        // Neither depends on time.
        assertEquals(75, row.get("hit_pct").getAsDouble());
        assertEquals(2, row.get("reads").getAsDouble());
        assertTrue(printed().contains("INVALID: 1.50% late"), this::printed);
    }

    @Test
    void oneInAHundredMayBeLate() throws Exception {
        JsonObject row = row(1, false);
        assertFalse(row.get("invalid").getAsBoolean());
        assertFalse(row.get("settled").getAsBoolean());
        FIGURES.forEach(name -> assertFalse(row.get(name).isJsonNull(), name));
        assertTrue(printed().contains("not settled"), this::printed);
    }
}
