package io.farheap.procedure.service;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** How long a memory server's threads have worked for the calls of one lease so far, every second of a recording. */
@Name("io.farheap.ProcedureLeaseTime")
@Label("Procedure Time of a Lease")
@Description("How long a memory server's threads have worked for the calls of a client since its lease began")
@Category("Farheap")
@Period("1 s")
@Enabled
@StackTrace(false)
final class ProcedureLeaseTimeEvent extends Event {

    @Label("Server")
    String server = "";

    @Label("Client")
    String client = "";

    @Label("Lease")
    long lease;

    @Label("Time")
    @Description("Of calls that end at once one in 32 is timed, for all")
    @Timespan(Timespan.NANOSECONDS)
    long time;

    static void emit(String server, String client, long lease, long nanos) {
        ProcedureLeaseTimeEvent event = new ProcedureLeaseTimeEvent();
        event.server = server;
        event.client = client;
        event.lease = lease;
        event.time = nanos;
        event.commit();
    }
}
