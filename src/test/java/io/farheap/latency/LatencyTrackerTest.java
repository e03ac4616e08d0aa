package io.farheap.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;

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
        for (EncodableHistogram next = reader.nextIntervalHistogram();
                next != null;
                next = reader.nextIntervalHistogram()) {
            read.computeIfAbsent(next.getTag(), ignored -> new Histogram(3)).add((Histogram) next);
        }
        assertEquals(6, read.get("read").getTotalCount());
        assertEquals(3, read.get("write").getTotalCount());
        assertEquals(tracker.total().reads().getMaxValue(), read.get("read").getMaxValue());
    }

    @Test
    void sumsGoOnWhereIntervalsEndAndSessionsClose() {
        OperationLatency first = tracker.newSource(LatencyTracking.EVERY);
        OperationLatency second = tracker.newSource(LatencyTracking.EVERY);
        first.read(100, 1);
        first.read(300, 1);
        second.write(50, 2);
        assertEquals(new LatencySums(2, 400, 2, 100), tracker.sums());
        tracker.endInterval();
        tracker.remove(first);
        second.read(1_000, 1);
        LatencySums sums = tracker.sums();
        assertEquals(new LatencySums(3, 1_400, 2, 100), sums);
        assertEquals(new LatencySums(1, 1_000, 0, 0), sums.minus(new LatencySums(2, 400, 2, 100)));
        assertEquals(50, sums.writeLatencyNanos());
        assertEquals(0, LatencySums.NONE.readLatencyNanos());
    }

    @Test
    void aSparseSampleCountsAllAndTimesFewHoweverLongTheyTake() {
        OperationLatency source = tracker.newSource(LatencyTracking.SPARSE);
        int requests = 1_000_000;
        int timed = 0;
        for (int i = 0; i < requests; i++) {
            int due = source.due();
            if (due > 0) {
                timed++;
                source.read(i % 2 == 0 ? 10_000 : 30_000, due);
            }
        }
        LatencySums sums = tracker.sums();
        assertEquals(requests / 64.0, timed, requests / 64.0 * 0.05);
        assertEquals(requests, sums.reads(), requests * 0.05);
        assertEquals(20_000, sums.readLatencyNanos(), 1_000);
        assertEquals(sums.reads(), tracker.endInterval().reads().getTotalCount());
    }

    @Test
    void requestsThatAreIssuedTogetherAreSampledAsManyAsTheyAre() {
        OperationLatency every = tracker.newSource(LatencyTracking.EVERY);
        assertEquals(7, every.due(7));
        OperationLatency source = tracker.newSource(LatencyTracking.SPARSE);
        SplittableRandom random = new SplittableRandom(1);
        long requests = 0;
        long standFor = 0;
        for (int i = 0; i < 100_000; i++) {
            int together = 1 + random.nextInt(200);
            requests += together;
            standFor += source.due(together);
        }
        assertEquals(requests, standFor, requests * 0.01);
    }
}
