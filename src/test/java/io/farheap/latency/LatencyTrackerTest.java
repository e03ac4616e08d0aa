package io.farheap.latency;

import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;

class LatencyTrackerTest {

    private final LatencyTracker tracker = new LatencyTracker();

    @Test
    void intervalsAddUpToTheTotalOverAllSessions() {
        OperationLatency first = tracker.newSource(LatencyTracking.EVERY);
        OperationLatency second = tracker.newSource(LatencyTracking.EVERY);
        first.read(100, 1);
        second.read(200, 1);
        second.write(300, 1);
        LatencyInterval one = tracker.endInterval();
        assertEquals(2, one.reads().getTotalCount());
        assertEquals(1, one.writes().getTotalCount());
        assertEquals(200, one.reads().getMaxValue());

        first.read(5_000, 1);
        LatencyInterval two = tracker.endInterval();
        assertEquals(1, two.reads().getTotalCount());
        assertEquals(0, two.writes().getTotalCount());
        assertEquals(3, tracker.total().reads().getTotalCount());
        assertEquals(1, tracker.total().writes().getTotalCount());
        assertEquals(0, tracker.endInterval().reads().getTotalCount());
    }

    @Test
    void implausibleValuesAreClampedAndDoNotThrow() {
        OperationLatency source = tracker.newSource(LatencyTracking.EVERY);
        source.read(-1, 1);
        source.write(Long.MAX_VALUE, 1);
        LatencyInterval interval = tracker.endInterval();
        assertEquals(0, interval.reads().getMaxValue());
        assertEquals(1, interval.writes().getTotalCount());
    }

    @Test
    void theLogHoldsEveryIntervalAsHdrHistogramReadsIt() {
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        tracker.logTo(new PrintStream(log, true));
        OperationLatency source = tracker.newSource(LatencyTracking.EVERY);
        for (int interval = 1; interval <= 3; interval++) {
            for (int i = 0; i < interval; i++) {
                source.read(1000L * interval, 1);
            }
            source.write(7, 1);
            tracker.endInterval();
        }
        Map<String, Histogram> read = new HashMap<>();
        HistogramLogReader reader = new HistogramLogReader(new ByteArrayInputStream(log.toByteArray()));
        for (EncodableHistogram next = reader.nextIntervalHistogram(); next != null; next = reader.nextIntervalHistogram()) {
            read.computeIfAbsent(next.getTag(), ignored -> new Histogram(3)).add((Histogram) next);
        }
        assertEquals(6, read.get("read").getTotalCount());
        assertEquals(3, read.get("write").getTotalCount());
        assertEquals(tracker.total().reads().getMaxValue(), read.get("read").getMaxValue());
    }
}
