package io.farheap.bench.kv;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * The work of clients in a window of 0.1 s. A window lasts until a request has ended, so it is longer if the clients'
 * threads get no processor.
 *
 * @param latency of their requests, in ns
 * @param ended its end, by {@link System#nanoTime}
 */
record MapLoadWindow(Histogram latency, double operationsPerSecond, long ended) {

    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Measures a window from now. Requests that the clients have ended since the last window count in it, too. */
    static MapLoadWindow measure(Collection<LoadClient> clients) {
        long begun = System.nanoTime();
        for (long left = NANOS; left > 0; left = begun + NANOS - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        Histogram latency = new Histogram(3);
        add(clients, latency);
        while (latency.getTotalCount() == 0 && clients.stream().anyMatch(LoadClient::isAlive)) {
            LockSupport.parkNanos(LOOK_NANOS);
            add(clients, latency);
        }
        long ended = System.nanoTime();
        return new MapLoadWindow(latency, latency.getTotalCount() * 1e9 / (ended - begun), ended);
    }

    private static void add(Collection<LoadClient> clients, Histogram latency) {
        clients.forEach(client -> latency.add(client.latency()));
    }
}
