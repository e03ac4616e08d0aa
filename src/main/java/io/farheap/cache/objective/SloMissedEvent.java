package io.farheap.cache.objective;

import io.farheap.cache.contract.SloReport;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * In a flight recording: a cache missed its objective in one period of its watch. Without a recording it costs nothing.
 */
@Name("io.farheap.SloMissed")
@Label("SLO Missed")
@Category("Farheap")
@Description("A cache missed its objective in one period")
@StackTrace(false)
final class SloMissedEvent extends Event {

    @Label("Cache")
    String cache = "";

    @Label("Configuration")
    String configuration = "";

    @Label("Read Latency")
    @Timespan(Timespan.NANOSECONDS)
    long readLatency;

    @Label("Read Latency Asked")
    @Description("0 if the objective does not bound it")
    @Timespan(Timespan.NANOSECONDS)
    long readLatencyAsked;

    @Label("Reads per Second")
    double readsPerSecond;

    @Label("Reads per Second Asked")
    double readsPerSecondAsked;

    @Label("Write Latency")
    @Timespan(Timespan.NANOSECONDS)
    long writeLatency;

    @Label("Write Latency Asked")
    @Description("0 if the objective does not bound it")
    @Timespan(Timespan.NANOSECONDS)
    long writeLatencyAsked;

    @Label("Writes per Second")
    double writesPerSecond;

    @Label("Writes per Second Asked")
    double writesPerSecondAsked;

    @Label("In Flight")
    @Description("Requests between issue and callback, on average")
    double inFlight;

    static void emit(String cache, String configuration, SloReport report) {
        SloMissedEvent event = new SloMissedEvent();
        if (!event.isEnabled()) {
            return;
        }
        event.cache = cache;
        event.configuration = configuration;
        event.readLatency = (long) report.readLatencyNanos();
        event.readLatencyAsked = asked(report.slo().reads().latencyNanos());
        event.readsPerSecond = report.readsPerSecond();
        event.readsPerSecondAsked = report.slo().reads().perSecond();
        event.writeLatency = (long) report.writeLatencyNanos();
        event.writeLatencyAsked = asked(report.slo().writes().latencyNanos());
        event.writesPerSecond = report.writesPerSecond();
        event.writesPerSecondAsked = report.slo().writes().perSecond();
        event.inFlight = report.inFlight();
        event.commit();
    }

    private static long asked(double nanos) {
        return nanos < Double.POSITIVE_INFINITY ? (long) nanos : 0;
    }
}
