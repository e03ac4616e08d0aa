package io.farheap.bench.procedure;

import io.farheap.control.grpc.ControlClient;
import java.util.Map;

/**
 * Counts which share of the calls of a server continued after the answer to their batch, since they ran for longer than
 * a batch waits. Such a call has two messages from the server. With softverbs' model the first of them is executed when
 * the server's thread has run the next part of the call, so it is late. One thread at a time.
 */
final class PutOffCalls implements AutoCloseable {

    private static final String PUT_OFF = "procedures.put off";
    private static final String DONE = "procedures.calls.done";

    private final ControlClient server;
    private Map<String, Long> before;

    /** Counts from now on. */
    PutOffCalls(String address) {
        server = ControlClient.connect(address);
        before = server.describe().counters();
    }

    /** Returns the share since the last call of this method; NaN if no call was done. */
    double share() {
        Map<String, Long> now = server.describe().counters();
        double share = share(before, now);
        before = now;
        return share;
    }

    static double share(Map<String, Long> before, Map<String, Long> now) {
        long done = since(DONE, before, now);
        return done == 0 ? Double.NaN : (double) since(PUT_OFF, before, now) / done;
    }

    private static long since(String name, Map<String, Long> before, Map<String, Long> now) {
        return now.getOrDefault(name, 0L) - before.getOrDefault(name, 0L);
    }

    @Override
    public void close() {
        server.close();
    }
}
