package io.farheap.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.control.plane.ControlPlane;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.testing.PlaneProxy;
import io.farheap.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Servers are attached, or the memory is closed, while the opening of a queue waits for a server. */
class OpeningQueueTest {

    private final CountDownLatch connecting = new CountDownLatch(1);
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private TestServers servers;
    private RemoteMemory memory;
    private FutureTask<RpcQueue> opening;

    @BeforeEach
    void open() throws Exception {
        servers = TestServers.behind(this::waiting, 1, 1);
        memory = RemoteMemory.open(TestDevice.client(), "test");
        memory.attach(servers.address(0));
        opening = new FutureTask<>(() -> memory.openRpcQueue(RpcOptions.DEFAULT));
        Thread.ofPlatform().daemon().start(opening);
        connecting.await();
    }

    @AfterEach
    void close() {
        goesOn.countDown();
        memory.close();
        servers.close();
    }

    private ControlPlane waiting(ControlPlane server) {
        return PlaneProxy.around(server, (method, arguments, rest) -> {
            if (method.equals("connectRing")) {
                connecting.countDown();
                goesOn.await();
            }
            return rest.call();
        });
    }

    private RpcQueue opened() throws Exception {
        return opening.get(TestDevice.patience(60), TimeUnit.SECONDS);
    }

    @Test
    void itReachesAServerThatIsAttachedMeanwhile() throws Exception {
        RemoteServer second = memory.attach(servers.address(1));
        goesOn.countDown();
        try (RegisteredBuffer buffer = memory.register(64);
                RpcQueue queue = opened()) {
            assertEquals(PostResult.OK, queue.call(second, 1, buffer, 0, 8, 8, 8, 1));
            queue.send();
        }
    }

    /** The closing thread ends the connection: the thread that opens the queue no longer touches it. */
    @Test
    void itIsRefusedWhereItsMemoryIsClosedMeanwhile() throws Exception {
        Thread closing = Thread.ofPlatform().daemon().start(memory::close);
        while (closing.isAlive() && !(LockSupport.getBlocker(closing) instanceof AbstractOwnableSynchronizer)) {
            Thread.sleep(1);
        }
        goesOn.countDown();
        Throwable refusal = assertThrows(ExecutionException.class, this::opened).getCause();
        assertInstanceOf(IllegalStateException.class, refusal);
        assertEquals(List.of(), List.of(refusal.getSuppressed()));
        closing.join();
    }
}
