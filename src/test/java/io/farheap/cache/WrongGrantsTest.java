package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheException;
import io.farheap.control.RegionGrant;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ControlPlane;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.PlaneProxy;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** If a server grants other regions than it was asked for, no cache is created, and create throws and returns all. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WrongGrantsTest {

    private static final long REGION = 64 * 1024;
    private static final int REGIONS = 4;

    @SuppressWarnings("unchecked")
    private static ControlPlane granting(ControlPlane server, UnaryOperator<List<RegionGrant>> change) {
        return PlaneProxy.around(server, (method, arguments, rest) -> {
            Object result = rest.call();
            return method.equals("allocate") ? change.apply((List<RegionGrant>) result) : result;
        });
    }

    private static void refused(String why, UnaryOperator<List<RegionGrant>> change) {
        try (MemoryServer server = MemoryServer.open(new ServerOptions(
                        REGIONS * REGION, REGION, TestDevice.patience(30_000_000_000L), TestDevice.server(), "test"));
                ControlServer control = ControlServer.start("127.0.0.1:0", granting(Planes.of(server), change))) {
            CacheException e = assertThrows(CacheException.class, () -> Cache.builder()
                    .capacity(2 * REGION)
                    .servers(List.of(control.address()))
                    .create()
                    .close());
            assertTrue(e.getMessage().contains(why), e.getMessage());
            awaitAllFree(server);
            assertEquals(REGIONS, freeRegions(server));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Waits for regions that are still on their way back when create has thrown, for a shorter time than the lease,
     * whose end must not be the reason that they are free.
     */
    private static void awaitAllFree(MemoryServer server) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(20));
        while (freeRegions(server) != REGIONS && System.nanoTime() - deadline < 0) {
            Thread.sleep(10);
        }
    }

    private static int freeRegions(MemoryServer server) {
        return server.description().freeRegions();
    }

    @Test
    void fewerRegions() {
        refused("1 regions, asked for 2", grants -> grants.subList(0, 1));
    }

    @Test
    void moreRegions() {
        refused("3 regions, asked for 2", grants -> {
            List<RegionGrant> more = new ArrayList<>(grants);
            more.add(new RegionGrant(0, 0, 0, REGION));
            return more;
        });
    }

    @Test
    void theSameRegionTwice() {
        refused("twice", grants -> List.of(grants.getFirst(), grants.getFirst()));
    }
}
