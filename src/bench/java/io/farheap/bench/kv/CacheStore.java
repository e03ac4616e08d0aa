package io.farheap.bench.kv;

import io.farheap.bench.peers.PeerAbsentException;
import io.farheap.bench.report.SideSetup;
import io.farheap.measure.SoftverbsModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** Redis or memcached, with as much memory as a map has; each thread has one connection. */
record CacheStore(CacheSystem system, CacheServer server) implements YcsbStore {

    /**
     * Starts a server, and sets the objects.
     *
     * @param bytes that it may keep
     * @throws PeerAbsentException if it is not installed
     */
    static CacheStore open(CacheSystem system, long bytes, long objects) throws PeerAbsentException {
        CacheStore store = new CacheStore(system, CacheServer.start(system, bytes));
        try {
            PipelinedConnection connection = store.connect(false);
            try {
                connection.fill(objects);
            } finally {
                connection.close();
            }
            return store;
        } catch (Throwable e) {
            store.close();
            throw e;
        }
    }

    private PipelinedConnection connect(boolean spins) {
        try {
            return new PipelinedConnection(server.connect(), system.protocol(new byte[BenchMaps.VALUE_BYTES]), spins);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot connect to " + system.engine, e);
        }
    }

    @Override
    public String engine() {
        return system.engine;
    }

    /** Its requests do not pass the NIC that softverbs emulates. */
    @Override
    public String model() {
        return SoftverbsModel.NONE;
    }

    @Override
    public long serverCpuNanos() {
        return server.process().cpuNanos();
    }

    /** The server has one thread. */
    @Override
    public SideSetup setup(int sessions) {
        int threads = ClosedLoop.threads(sessions);
        return new SideSetup(threads * PipelinedConnection.bytes(), threads + 1, sessions, 1);
    }

    @Override
    public ClosedLoop.LoopClientFactory clients(List<YcsbRequests> requests) {
        // If all cores have a client's thread, these sleep while the server works.
        boolean spins = requests.size() < Runtime.getRuntime().availableProcessors();
        return thread -> {
            PipelinedConnection connection = connect(spins);
            return () -> connection.client(requests.get(thread));
        };
    }

    @Override
    public void close() {
        server.close();
    }
}
