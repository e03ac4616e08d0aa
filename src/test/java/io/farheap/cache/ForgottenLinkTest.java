package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.CallStatus;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.LeasedServer;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Fields;
import io.farheap.testing.StoppedPlane;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Context;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A cache leaves a server that is stopped. Its sessions work meanwhile, and the device is closed as soon as the
 * connections to that server can be closed.
 */
@Timeout(300)
class ForgottenLinkTest {

    /** The session has connections, without and with rings besides, and without and with rings of calls. */
    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true", "true, true"})
    void ofASession(boolean batched, boolean calls) throws Exception {
        CountDownLatch letGo = new CountDownLatch(1);
        StoppedPlane plane = new StoppedPlane();
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA).threads(1)) {
            cluster.behind(plane::before).add(1);
            cluster.behind(server -> server).add(1);
            Cache cache = Cache.builder()
                    .capacity(Cluster.REGION_BYTES)
                    .servers(cluster.address(0))
                    .device(TestDevice.client())
                    .configuration(batched ? Configurations.BATCHED : Configurations.DIRECT)
                    .create();
            try {
                Context context = cache.context();
                Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
                Caller caller = new Caller(cache);
                caller.write(8, 4711);
                if (calls) {
                    assertEquals(CallStatus.DONE, caller.call(load, 0, 8).status());
                }
                RemoteServer stopped =
                        ((RegionCache) cache).table().get(0).copy().server();
                cache.addServer(cluster.address(1));
                cache.migrate(0, cluster.address(1));
                AtomicInteger asked = new AtomicInteger();
                AtomicInteger keptOut = new AtomicInteger();
                plane.stop(() -> {
                    asked.incrementAndGet();
                    boolean claimed = Fields.get(caller.session.core().admission.gate(), "claimed", Boolean.class);
                    keptOut.addAndGet(claimed ? 1 : 0);
                });
                LeasedServer.of(stopped).closeLate(letGo::await);
                cache.retire(cluster.address(0), moved -> {});
                int ends = 1 + (batched ? 1 : 0) + (calls ? 1 : 0);
                assertTrue(asked.get() >= ends, asked.get() + " ends were to be destroyed");
                assertEquals(0, keptOut.get(), "how often the session's thread waited for the server's answer");
                assertEquals(4711, caller.read(8));
                assertEquals(CallStatus.DONE, caller.call(load, 0, 8).status());
                assertEquals(4711, caller.result());
                cache.close();
                assertFalse(context.ports().isEmpty(), "the device is closed, of which rings are left");
                letGo.countDown();
                awaitClosed(context);
            } finally {
                letGo.countDown();
                cache.close();
            }
        }
    }

    private static void awaitClosed(Context context) throws InterruptedException {
        long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
        while (true) {
            try {
                context.ports();
            } catch (IllegalStateException e) {
                return;
            }
            assertTrue(System.nanoTime() - deadline < 0, "the device stays open");
            Thread.sleep(1);
        }
    }
}
