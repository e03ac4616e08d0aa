package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.WcStatus;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/**
 * A client that asks to be woken up but posts no receive, like a stopped client: its answers stay in the server's send
 * queue.
 */
class SilentClientTest {

    private static final int REGION = 64 << 10;
    private static final int CALM = 10;
    private static final long LEASE = TestDevice.patience(30_000_000_000L);

    @Test
    @Needs(Need.HOST)
    void itsServerThreadSleepsAndServesOthers() throws Exception {
        try (ServerPlane server = ServerPlane.open(new ServerOptions(
                        4L * REGION, REGION, LEASE, TestDevice.server(), "test", 1, false, Idle.PARK));
                HostileClient silent = new HostileClient(server);
                BatchClient good = new BatchClient(server, new RingShape(4, 32), 1)) {
            int region = good.allocate().regionId();
            int slots = HostileClient.SHAPE.slots();
            for (int batch = 1; batch <= 2 * slots; batch++) {
                silent.message().fill((byte) 0);
                silent.seal(batch, BatchFormat.HEADER_BYTES, 0, BatchFormat.NOTIFY);
                assertEquals(
                        WcStatus.SUCCESS,
                        silent.write(
                                RingShape.CONTROL_BYTES
                                        + (long) (batch % slots) * HostileClient.SHAPE.requestSlotBytes(),
                                BatchFormat.HEADER_BYTES));
                // Wakes the thread up: it announces to all clients that it is awake, and then that it sleeps.
                assertEquals(0, good.write(region, 0, 8, 0));
                assertEquals(0, good.read(region, 0, 8, 8));
                awaitCalm();
            }
        }
    }

    /** Waits until the server's thread uses no processor time: a thread that kept looking would use a core. */
    private static void awaitCalm() throws InterruptedException {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        long used = -1;
        for (int calm = 0; calm < CALM; calm++) {
            long now = cpuOfServerThreads();
            if (now != used) {
                used = now;
                calm = 0;
            }
            assertTrue(System.nanoTime() - deadline < 0, "the thread does not sleep");
            Thread.sleep(10);
        }
    }

    private static long cpuOfServerThreads() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long nanos = 0;
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("farheap-srv-")) {
                nanos += Math.max(0, threads.getThreadCpuTime(thread.threadId()));
            }
        }
        return nanos;
    }
}
