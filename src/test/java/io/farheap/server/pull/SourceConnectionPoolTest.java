package io.farheap.server.pull;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.grpc.ControlClient;
import io.farheap.server.MemoryServer;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Connections to the sources of pulls, some of which never serve again. */
class SourceConnectionPoolTest {

    private static final long REGION = 1 << 20;
    private static final long LEASE_NANOS = TimeUnit.MINUTES.toNanos(5);

    private static MemoryServer server() {
        return MemoryServer.start(
                new ServerOptions(REGION, REGION, LEASE_NANOS, TestDevice.server(), "source"), "127.0.0.1:0");
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(20));
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it has not happened in time");
            Thread.sleep(1);
        }
    }

    @Test
    void anIdleConnectionIsClosedOnceItsServerHasEnded() throws Exception {
        try (SourceConnectionPool pool = new SourceConnectionPool();
                MemoryServer stays = server()) {
            ControlClient kept = pool.take(stays.address());
            try (MemoryServer ends = server()) {
                pool.giveBack(pool.take(ends.address()));
                pool.giveBack(kept);
                assertEquals(2, pool.idle());
            }
            await(() -> pool.idle() == 1);
            assertSame(kept, pool.take(stays.address()));
            kept.close();
        }
    }

    @Test
    void aConnectionThatEndsWhileAPullHasItIsClosedOnceItIsGivenBack() throws Exception {
        try (SourceConnectionPool pool = new SourceConnectionPool()) {
            ControlClient used;
            try (MemoryServer ends = server()) {
                ControlClient first = pool.take(ends.address());
                pool.giveBack(first);
                used = pool.take(ends.address());
                assertSame(first, used);
            }
            pool.giveBack(used);
            await(() -> pool.idle() == 0);
        }
    }
}
