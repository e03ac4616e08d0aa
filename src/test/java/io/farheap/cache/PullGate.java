package io.farheap.cache;

import io.farheap.control.ControlPlane;
import io.farheap.testing.TestDevice;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Stops pulls at the servers, so that a migration stops where a test wants it: for a few seconds, then it gives up. */
final class PullGate {

    private final Semaphore arrived = new Semaphore(0);
    private volatile CountDownLatch shut = new CountDownLatch(0);

    void shut() {
        shut = new CountDownLatch(1);
    }

    void open() {
        shut.countDown();
    }

    /** Returns when a pull has come as far as the gate. */
    void awaitPull() throws InterruptedException {
        assertTrue(arrived.tryAcquire(TestDevice.patience(30), TimeUnit.SECONDS), "no pull comes");
    }

    /** A server behind the gate. */
    ControlPlane before(ControlPlane server) {
        return (ControlPlane) Proxy.newProxyInstance(ControlPlane.class.getClassLoader(), new Class<?>[] {ControlPlane.class},
            (proxy, method, arguments) -> {
                if (method.getName().equals("pull")) {
                    arrived.release();
                    shut.await();
                }
                try {
                    return method.invoke(server, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }
}
