package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.server.MemoryServer;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** An application without a listener learns of a lost server from its log, once, and from each exception. */
@Isolated("it reads the log of all caches")
class LostServerMessageTest {

    private static final long REGION_BYTES = 64 << 10;
    private static final long LEASE_NANOS = 3_000_000_000L;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);

    private final Logger log = Logger.getLogger(RegionCache.class.getName());
    private final BlockingQueue<String> logged = new LinkedBlockingQueue<>();

    @BeforeEach
    void readLog() {
        log.setFilter(each -> {
            logged.add(each.getMessage());
            return false;
        });
    }

    @AfterEach
    void leaveLog() {
        log.setFilter(null);
    }

    @Test
    void logAndExceptionNameTheServerAndTheRemedy() throws Exception {
        ServerOptions options = new ServerOptions(REGION_BYTES, REGION_BYTES, LEASE_NANOS, TestDevice.server(), "test");
        try (MemoryServer server = MemoryServer.start(options, "127.0.0.1:0")) {
            String address = server.address();
            try (Cache cache = Cache.builder()
                            .name("alone")
                            .capacity(REGION_BYTES)
                            .servers(address)
                            .device(TestDevice.client())
                            .create();
                    CacheSession session = cache.openSession();
                    Buffer buffer = cache.allocate(8)) {
                session.writeBlocking(0, buffer, 0, 8);
                server.close();
                String said = String.valueOf(logged.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
                assertTrue(
                        said.startsWith("cache alone has lost 1 of its 1 region with memory server " + address + " ("),
                        said);
                assertTrue(said.contains("create another"), said);
                CacheException refused =
                        assertThrows(CacheException.class, () -> session.readBlocking(0, buffer, 0, 8));
                assertEquals(Status.LOST, refused.status());
                String why = refused.getMessage();
                assertTrue(why.contains("memory server " + address + " ("), why);
                assertTrue(why.contains("create another"), why);
                assertEquals(List.of(), List.copyOf(logged));
            }
        }
    }
}
