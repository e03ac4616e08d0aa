package io.farheap.procedure.service;

import java.util.Map;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** The counts of procedure calls on a memory server, every second of a recording. */
@Name("io.farheap.ProcedureStatistics")
@Label("Procedure Statistics")
@Description("Outcomes of the calls of stored procedures on a memory server since it started")
@Category("Farheap")
@Period("1 s")
@Enabled
@StackTrace(false)
final class ProcedureStatisticsEvent extends Event {

    @Label("Server")
    String server = "";

    @Label("Done")
    long done;

    @Label("Left")
    @Description("Went back to their sessions, since they needed memory of another server")
    long left;

    @Label("Out of Fuel")
    long outOfFuel;

    @Label("Refused")
    long refused;

    @Label("Ended Otherwise")
    @Description(
            "An address out of range, across two regions or not aligned, no room for the result, a division by zero")
    long failed;

    @Label("Put Off")
    @Description("Took longer than the batch that they came in")
    long putOff;

    @Label("Stolen")
    @Description("Executed by a thread other than their ring's")
    long stolen;

    @Label("In Turns")
    long inTurns;

    @Label("Fuel")
    long fuel;

    @Label("Slices")
    long slices;

    @Label("Time of Slices")
    @Timespan(Timespan.NANOSECONDS)
    long sliceTime;

    @Label("JVM's Time")
    @Description(
            "Of slices and batches of 100 us or more, beyond what their fuel has taken before: first runs of code, "
                    + "deoptimization")
    @Timespan(Timespan.NANOSECONDS)
    long jvmTime;

    @Label("Registered")
    long registered;

    @Label("Registrations Refused")
    long registrationsRefused;

    static void emit(String server, Map<String, Long> counters) {
        ProcedureStatisticsEvent event = new ProcedureStatisticsEvent();
        event.server = server;
        event.done = counters.getOrDefault("procedures.calls.done", 0L);
        event.left = counters.getOrDefault("procedures.calls.left", 0L);
        event.outOfFuel = counters.getOrDefault("procedures.calls.out of fuel", 0L);
        event.refused = counters.getOrDefault("procedures.calls.refused", 0L);
        event.failed = counters.entrySet().stream()
                        .filter(each -> each.getKey().startsWith("procedures.calls."))
                        .mapToLong(Map.Entry::getValue)
                        .sum()
                - event.done
                - event.left
                - event.outOfFuel
                - event.refused;
        event.putOff = counters.getOrDefault("procedures.put off", 0L);
        event.stolen = counters.getOrDefault("procedures.stolen", 0L);
        event.inTurns = counters.getOrDefault("procedures.in turns", 0L);
        event.fuel = counters.getOrDefault("procedures.fuel", 0L);
        event.slices = counters.getOrDefault("procedures.slices", 0L);
        event.jvmTime = counters.getOrDefault("procedures.jvm nanos", 0L);
        event.sliceTime = counters.getOrDefault("procedures.slice nanos", 0L);
        event.registered = counters.getOrDefault("procedures.registered", 0L);
        event.registrationsRefused = counters.getOrDefault("procedures.refused", 0L);
        event.commit();
    }
}
