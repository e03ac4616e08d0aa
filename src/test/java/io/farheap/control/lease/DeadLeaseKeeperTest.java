package io.farheap.control.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A lease keeper that cannot continue. */
class DeadLeaseKeeperTest {

    /** No thread would renew the lease any more, so its listener is called with the loss. */
    @Test
    void anErrorLosesTheLease() throws Exception {
        ControlPlane plane = (ControlPlane) Proxy.newProxyInstance(
                ControlPlane.class.getClassLoader(),
                new Class<?>[] {ControlPlane.class},
                (proxy, method, arguments) -> {
                    throw new OutOfMemoryError("injected");
                });
        CompletableFuture<ControlException> lost = new CompletableFuture<>();
        try (LeaseKeeper _ =
                new LeaseKeeper(plane, new Lease(1, 30_000_000L), (lease, cause) -> lost.complete(cause))) {
            ControlException cause = lost.get(30, TimeUnit.SECONDS);
            assertEquals(ControlException.Code.INTERNAL, cause.code());
            assertTrue(cause.getMessage().contains("injected"), cause.getMessage());
        }
    }
}
