package io.farheap.cache;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.command.ServerProcess;
import io.farheap.latency.LatencyTracking;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;

/** A cache in the memory of one server process, a session of the benchmark's thread and a buffer. */
final class FarCache implements AutoCloseable {

    static final long BYTES = 1 << 20;

    private final ServerProcess server;
    private final Cache cache;
    final CacheSession session;
    final Buffer buffer;
    private int completed;

    final Completion completion = (token, status) -> {
        if (status != Status.OK) {
            throw new IllegalStateException(Status.describe(status));
        }
        completed++;
    };

    FarCache(LatencyTracking trackLatency) {
        VerbsLibrary.choose(VerbsLibrary.AUTO);
        server = ServerProcess.start(Devices.library(), BYTES, BYTES);
        try {
            cache = Cache.builder()
                    .capacity(BYTES)
                    .servers(server.address())
                    .name("jmh")
                    .trackLatency(trackLatency)
                    .create();
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
        session = cache.openSession();
        buffer = cache.allocate(BYTES);
    }

    @Override
    public void close() {
        cache.close();
        server.close();
    }

    /** Polls until {@code count} callbacks have run. */
    void await(int count) {
        while (completed < count) {
            session.poll();
        }
        completed = 0;
    }

    static void accepted(boolean accepted) {
        if (!accepted) {
            throw new IllegalStateException("the queue is full");
        }
    }
}
