package io.farheap.kv;

import io.farheap.control.SpaceKey;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.SpacePlane;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.keeper.MapKeeper;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.keeper.SynchronizedMapClock;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** Memory servers in this process, and a map on all of their regions. */
public final class TestSpace implements AutoCloseable {

    private static final long LEASE_NANOS = TestDevice.patience(30_000_000_000L);
    private static final SpaceKey KEY = SpaceKey.of("map", "not a secret");

    private final List<MemoryServer> servers = new ArrayList<>();
    private final List<ControlServer> controls = new ArrayList<>();
    public final RemoteMemory memory;
    public final FarMap map;
    final List<RemoteSpace> spaces = new ArrayList<>();
    public final List<RemoteRegion> regions;
    public final SpaceShape shape;
    final SpaceMemory space;
    final TestClock clock = new TestClock();
    final MapServers mapServers;
    final MapKeeper keeper;

    /** @param regionsOfEach regions of each server */
    public TestSpace(int serverCount, int regionsOfEach, long regionBytes, long objects) {
        this(serverCount, regionsOfEach, regionBytes, objects, EvictionSettings.ADAPTIVE);
    }

    public TestSpace(int serverCount, int regionsOfEach, long regionBytes, long objects, EvictionSettings policy) {
        memory = RemoteMemory.open(TestDevice.client(), "kv");
        for (int i = 0; i < serverCount; i++) {
            startServer(regionsOfEach, regionBytes);
            MapDescriptor descriptor = new MapDescriptor(
                    1,
                    i,
                    serverCount,
                    regionsOfEach,
                    regionBytes,
                    objects,
                    System.currentTimeMillis(),
                    0,
                    TestKeys.HASH,
                    0,
                    policy.name());
            spaces.add(memory.createSpace(
                    memory.attach(controls.get(i).address()),
                    KEY,
                    regionsOfEach,
                    SpacePlane.FOR_EVER,
                    descriptor.encode()));
        }
        shape = SpaceShape.of(regionBytes, serverCount * regionsOfEach, objects);
        space = new SpaceMemory(
                shape, TestKeys.HASH, RegionDirectory.of(serverCount, regionsOfEach, shape), spaces::get);
        regions = IntStream.range(0, space.regions()).mapToObj(space::region).toList();
        mapServers = new MapServers(memory, KEY, System.nanoTime(), "");
        TreeMap<Integer, RemoteSpace> byNumber = new TreeMap<>();
        spaces.forEach(each -> byNumber.put(byNumber.size(), each));
        keeper = new MapKeeper(mapServers, byNumber, space, new SynchronizedMapClock(System::nanoTime));
        map = new FarMap(memory, mapServers, space, clock, policy, keeper);
    }

    /**
     * Starts one more server, of which the map has no regions yet.
     *
     * @return the server's address
     */
    String startServer(int serverRegions, long regionBytes) {
        MemoryServer server = MemoryServer.open(new ServerOptions(
                serverRegions * regionBytes, regionBytes, LEASE_NANOS, TestDevice.server(), "kv" + servers.size()));
        servers.add(server);
        controls.add(ControlServer.start("127.0.0.1:0", Planes.of(server)));
        return controls.getLast().address();
    }

    /** Ends a server, which does not notify its clients. */
    void stop(int server) {
        controls.get(server).close();
        servers.get(server).close();
    }

    @Override
    public void close() {
        map.close();
        controls.forEach(ControlServer::close);
        servers.forEach(MemoryServer::close);
    }

    /** A clock that advances by one tick at each look; a test sets its milliseconds. */
    static final class TestClock implements MapClock {

        private final AtomicLong ticks = new AtomicLong();
        volatile long millis;

        @Override
        public long ticks() {
            return ticks.incrementAndGet();
        }

        void advance(long by) {
            ticks.addAndGet(by);
        }

        @Override
        public long millis() {
            return millis;
        }
    }
}
