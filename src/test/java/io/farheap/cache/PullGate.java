package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.plane.ControlPlane;
import io.farheap.testing.PlaneProxy;
import io.farheap.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Stops pulls at the servers, so that a migration stops where a test needs it, for a few seconds until it gives up.
 * Records the regions that clients release.
 */
final class PullGate {

    private final Semaphore arrived = new Semaphore(0);
    private final List<String> released = new CopyOnWriteArrayList<>();
    private volatile CountDownLatch shut = new CountDownLatch(0);

    void shut() {
        shut = new CountDownLatch(1);
    }

    void open() {
        shut.countDown();
    }

    /** @return the regions that clients asked servers to take back, as SERVER/REGION, in order, also if refused */
    List<String> released() {
        return released;
    }

    /** Returns when a pull has arrived at the gate. */
    void awaitPull() throws InterruptedException {
        assertTrue(arrived.tryAcquire(TestDevice.patience(30), TimeUnit.SECONDS), "no pull comes");
    }

    /** @return the control plane of a server behind the gate */
    ControlPlane before(ControlPlane server) {
        return PlaneProxy.around(server, (method, arguments, rest) -> {
            if (method.equals("pull")) {
                arrived.release();
                shut.await();
            }
            if (method.equals("release")) {
                released.add(server.hello(ControlPlane.PROTOCOL_VERSION).serverId() + "/" + arguments[1]);
            }
            return rest.call();
        });
    }
}
