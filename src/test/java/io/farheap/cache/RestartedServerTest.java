package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.grpc.ControlServer;
import io.farheap.migration.MigrationOptions;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A cache continues after one of its memory servers has ended and another was started at the same address. */
class RestartedServerTest {

    private static final long REGION_BYTES = 64 << 10;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);

    private static MemoryServer memory() {
        return MemoryServer.open(
                new ServerOptions(4 * REGION_BYTES, REGION_BYTES, 3_000_000_000L, TestDevice.server(), "test"));
    }

    @Test
    void regionsMoveToTheNewServerAtALostOnesAddress() throws Exception {
        CountDownLatch lost = new CountDownLatch(1);
        try (MemoryServer first = memory();
                ControlServer firstControl = ControlServer.start("127.0.0.1:0", Planes.of(first));
                MemoryServer second = memory()) {
            ControlServer secondControl = ControlServer.start("127.0.0.1:0", Planes.of(second));
            String address = secondControl.address();
            try (Cache cache = Cache.builder()
                            .capacity(2 * REGION_BYTES)
                            .servers(firstControl.address())
                            .device(TestDevice.client())
                            .configuration(Configurations.DIRECT)
                            .onLost((server, why, regions) -> lost.countDown())
                            .create();
                    CacheSession session = cache.openSession();
                    Buffer buffer = cache.allocate(16)) {
                buffer.segment().set(JAVA_LONG, 0, 5);
                session.writeBlocking(REGION_BYTES, buffer, 0, 8);
                cache.addServer(address);
                secondControl.close();
                second.close();
                assertTrue(lost.await(PATIENCE_SECONDS, TimeUnit.SECONDS), "it is lost");

                try (MemoryServer anew = memory();
                        ControlServer _ = ControlServer.start(address, Planes.of(anew))) {
                    cache.addServer(address);
                    assertEquals(List.of(firstControl.address(), address), cache.servers());
                    cache.migrate(List.of(0, 1), address, MigrationOptions.DEFAULT);
                    assertEquals(address, cache.serverOf(1));
                    session.readBlocking(REGION_BYTES, buffer, 8, 8);
                    assertEquals(5, buffer.segment().get(JAVA_LONG, 8));
                    cache.close();
                }
            } finally {
                secondControl.close();
            }
        }
    }
}
