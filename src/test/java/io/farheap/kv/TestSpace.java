package io.farheap.kv;

import io.farheap.control.ControlServer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteRegion;
import io.farheap.server.MemoryServer;
import io.farheap.server.ServerOptions;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Memory servers in this process, and a map on all of their regions. */
final class TestSpace implements AutoCloseable {

    private static final long LEASE_NANOS = TestDevice.patience(30_000_000_000L);

    private final List<MemoryServer> servers = new ArrayList<>();
    private final List<ControlServer> controls = new ArrayList<>();
    final RemoteMemory memory;
    final FarMap map;
    final List<RemoteRegion> regions;
    final SpaceShape shape;
    final TestClock clock = new TestClock();

    /** @param regionsOfEach regions of each server */
    TestSpace(int serverCount, int regionsOfEach, long regionBytes, long objects) {
        this(serverCount, regionsOfEach, regionBytes, objects, CachePolicy.ADAPTIVE);
    }

    TestSpace(int serverCount, int regionsOfEach, long regionBytes, long objects, CachePolicy policy) {
        List<RemoteRegion> all = new ArrayList<>();
        memory = RemoteMemory.open(TestDevice.client(), "kv");
        for (int i = 0; i < serverCount; i++) {
            MemoryServer server = MemoryServer.open(new ServerOptions(
                    regionsOfEach * regionBytes, regionBytes, LEASE_NANOS, TestDevice.server(), "kv" + i));
            servers.add(server);
            controls.add(ControlServer.start("127.0.0.1:0", server));
            all.addAll(memory.allocate(memory.attach(controls.get(i).address()), regionsOfEach));
        }
        regions = List.copyOf(all);
        shape = SpaceShape.of(regionBytes, regions.size(), objects);
        map = new FarMap(
                memory, List.of(), new SpaceMemory(shape, regions.toArray(RemoteRegion[]::new)), clock, policy);
    }

    @Override
    public void close() {
        memory.close();
        controls.forEach(ControlServer::close);
        servers.forEach(MemoryServer::close);
    }

    /** A tick for each look; the milliseconds are what a test says. */
    static final class TestClock implements MapClock {

        private final AtomicLong ticks = new AtomicLong();
        volatile long millis;

        @Override
        public long ticks() {
            return ticks.incrementAndGet();
        }

        @Override
        public long millis() {
            return millis;
        }
    }
}
