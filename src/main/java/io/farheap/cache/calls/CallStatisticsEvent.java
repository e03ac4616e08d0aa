package io.farheap.cache.calls;

import io.farheap.cache.contract.CallCounts;
import io.farheap.procedure.CallStatus;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** In a flight recording, periodically: the {@link CallCounts} of a cache that has procedures. */
@Name("io.farheap.CallStatistics")
@Label("Call Statistics")
@Description("Outcomes of the procedure calls that this process has made since the cache was opened")
@Category("Farheap")
@Period("1 s")
@Enabled
@StackTrace(false)
final class CallStatisticsEvent extends Event {

    @Label("Cache")
    String cache = "";

    @Label("Done")
    long done;

    @Label("Refused")
    long refused;

    @Label("Lost")
    long lost;

    @Label("Stopped")
    @Description("Calls that needed memory of another server and were not allowed to continue there")
    long stopped;

    @Label("Failed")
    @Description("Calls that ended in another way")
    long failed;

    @Label("Moved On")
    @Description("How often a call continued on another server")
    long movedOn;

    @Label("Held")
    @Description("How often a call waited for a region that moved")
    long held;

    @Label("Here")
    @Description("How often a call ran in this process, since no server runs it")
    long here;

    @Label("Average Latency")
    @Description("From issue to callback, of a random sample; 0 if no call was timed")
    @Timespan(Timespan.NANOSECONDS)
    long averageLatency;

    static void emit(String cache, CallCounts counts) {
        CallStatisticsEvent event = new CallStatisticsEvent();
        event.cache = cache;
        event.done = counts.ended(CallStatus.DONE);
        event.refused = counts.ended(CallStatus.REFUSED);
        event.lost = counts.ended(CallStatus.LOST);
        event.stopped = counts.ended(CallStatus.STOPPED);
        event.failed = counts.ended() - event.done - event.refused - event.lost - event.stopped;
        event.movedOn = counts.movedOn();
        event.held = counts.held();
        event.here = counts.here();
        event.averageLatency = counts.timed() == 0 ? 0 : (long) counts.latencyNanos();
        event.commit();
    }
}
