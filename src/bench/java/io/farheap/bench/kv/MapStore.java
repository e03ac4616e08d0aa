package io.farheap.bench.kv;

import io.farheap.bench.child.ProcessorTime;
import io.farheap.bench.report.SideSetup;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.measure.SoftverbsModel;
import io.farheap.verbs.Devices;
import java.util.List;

/** A map of a memory server. */
record MapStore(FarMap map, ServerProcess server) implements YcsbStore {

    /** As {@link FarMap#openSession(int)} states it. */
    private static final long REQUEST_BYTES = 32 << 10;

    /**
     * Creates a map, and sets the objects.
     *
     * @param bytes of the map
     */
    static MapStore open(ServerProcess server, long bytes, long objects) {
        FarMap map = BenchMaps.create(server, "ycsb", bytes, 4 * objects);
        try {
            BenchMaps.fill(map, objects);
            return new MapStore(map, server);
        } catch (Throwable e) {
            map.drop();
            throw e;
        }
    }

    @Override
    public String engine() {
        return "disaggregated";
    }

    @Override
    public String model() {
        return SoftverbsModel.of(Devices.library());
    }

    @Override
    public long serverCpuNanos() {
        return ProcessorTime.nanos(ProcessHandle.of(server.pid()).stream());
    }

    /** The server's cores are idle. */
    @Override
    public SideSetup setup(int sessions) {
        return new SideSetup(sessions * bytesOfSession(MapClient.REQUESTS), ClosedLoop.threads(sessions), sessions, 1);
    }

    /** Returns the local memory of a session for so many requests: its frequency counters and its buffers. */
    static long bytesOfSession(int requests) {
        return EvictionSettings.ADAPTIVE.frequencyBytes() + requests * REQUEST_BYTES;
    }

    @Override
    public ClosedLoop.LoopClientFactory clients(List<YcsbRequests> requests) {
        return thread -> () -> client(requests.get(thread));
    }

    private ClosedLoop.LoopClient client(YcsbRequests requests) {
        return new MapClient(map, BenchMaps.VALUE_BYTES) {
            @Override
            public void begin() {
                requests.next();
                if (requests.set()) {
                    caller.beginSet(requests.key());
                } else {
                    get(requests.key());
                }
            }
        };
    }

    @Override
    public void close() {
        map.drop();
    }
}
