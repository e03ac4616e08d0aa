package io.farheap.cache.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.objective.SloWatch;
import io.farheap.latency.LatencySums;
import io.farheap.slo.Configuration;
import io.farheap.slo.Objective;
import io.farheap.slo.Performance;
import io.farheap.slo.Slo;
import org.junit.jupiter.api.Test;

class SloReportTest {

    private static final long SECOND = 1_000_000_000L;
    private static final Slo SLO = new Slo(new Objective(5_000, 1e6), new Objective(4_000, 0));
    private static final Configuration EIGHT = new Configuration(1, 0, 1, 8);

    @Test
    void averagesAreOverThePeriod() {
        SloReport report =
                SloWatch.report(SLO, EIGHT, new LatencySums(2_000_000, 8_000_000_000L, 100, 200_000), 2 * SECOND);
        assertEquals(4_000, report.readLatencyNanos());
        assertEquals(1e6, report.readsPerSecond());
        assertEquals(2_000, report.writeLatencyNanos());
        assertEquals(50, report.writesPerSecond());
        assertEquals(4, report.inFlight(), 1e-3);
        assertTrue(report.latencyMet() && report.throughputMet() && !report.missed());
        assertTrue(report.toString().startsWith("met: reads 4.000 us at 1.000 M/s"), report::toString);
    }

    @Test
    void aLatencyThatIsTooLongIsAMiss() {
        SloReport report = SloWatch.report(SLO, EIGHT, new LatencySums(1_000_000, 4_000_000_000L, 10, 50_000), SECOND);
        assertFalse(report.latencyMet());
        assertTrue(report.throughputMet());
        assertTrue(report.missed());
        assertTrue(report.toString().startsWith("missed: "), report::toString);
    }

    @Test
    void aThroughputThatNobodyAskedForIsNoMiss() {
        SloReport idle = SloWatch.report(SLO, EIGHT, new LatencySums(1_000, 3_000_000L, 0, 0), SECOND);
        assertFalse(idle.throughputMet());
        assertFalse(idle.loaded());
        assertFalse(idle.missed());
        SloReport nothing = SloWatch.report(SLO, EIGHT, LatencySums.NONE, SECOND);
        assertTrue(nothing.latencyMet() && !nothing.missed());
    }

    @Test
    void aThroughputThatFullQueuesDoNotReachIsAMiss() {
        // By Little's law 8 requests of 2 us are in flight: the queues are full, but the throughput is too low.
        Slo more = new Slo(new Objective(5_000, 5e6), Objective.NONE);
        SloReport report = SloWatch.report(more, EIGHT, new LatencySums(4_000_000, 8_000_000_000L, 0, 0), SECOND);
        assertTrue(report.loaded() && report.latencyMet() && !report.throughputMet() && report.missed());
    }

    @Test
    void theShortfallIsTheWorstOfWhatWasPromised() {
        Performance promised = new Performance(1_000, 6e6, 1_000, 6e6);
        SloReport loaded = SloWatch.report(
                SLO, EIGHT, new LatencySums(4_000_000, 5_000_000_000L, 2_000_000, 3_000_000_000L), SECOND);
        assertEquals(2, SloWatch.shortfall(loaded, promised), 1e-9);
        SloReport idle = SloWatch.report(SLO, EIGHT, new LatencySums(4_000, 5_000_000L, 0, 0), SECOND);
        assertEquals(0.25, SloWatch.shortfall(idle, promised), 1e-9);
        assertEquals(0, SloWatch.shortfall(idle, new Performance(9_000, 1, 9_000, 1)));
    }
}
