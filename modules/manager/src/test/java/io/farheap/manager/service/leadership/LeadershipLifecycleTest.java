package io.farheap.manager.service.leadership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.manager.Tenant;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.manager.service.ClusterManager;
import io.farheap.manager.service.ManagerOptions;
import io.farheap.manager.service.commands.KeyFile;
import io.farheap.manager.service.grant.GrantClock;
import io.farheap.manager.service.grant.GrantSigner;
import io.farheap.manager.state.EmbeddedZooKeeper;
import io.farheap.manager.state.ExternalZooKeeper;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.StateCopy;
import io.farheap.manager.state.StateLocation;
import io.farheap.manager.state.TenantRecord;
import io.farheap.manager.state.ZooKeeperHost;
import io.farheap.manager.state.ZooKeeperStore;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The state of a leading manager, which has nothing to write, is copied to another place, or replaced by a copy. */
class LeadershipLifecycleTest {

    private static final long PATIENCE_SECONDS = 60;
    private static final TenantRecord ACME = new TenantRecord("acme", 5, 7);

    @TempDir
    private Path directory;

    private EmbeddedZooKeeper zookeeper;
    private StateLocation shared;
    private StateLocation alone;
    private final CountDownLatch end = new CountDownLatch(1);
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private Thread thread;

    @BeforeEach
    void start() throws Exception {
        zookeeper = EmbeddedZooKeeper.start(directory.resolve("server"));
        shared = new StateLocation.ExternalLocation(zookeeper.connection());
        alone = new StateLocation.StandaloneLocation(directory.resolve("alone"));
        thread = Thread.ofPlatform().start(this::run);
        awaitLine("leads at");
    }

    @AfterEach
    void stop() throws InterruptedException {
        end.countDown();
        thread.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
        assertFalse(thread.isAlive());
        zookeeper.close();
    }

    private void run() {
        Path keys = directory.resolve("manager");
        try (ZooKeeperHost host = ExternalZooKeeper.use(keys, zookeeper.connection())) {
            new LeadershipLifecycle(
                            host,
                            "a test",
                            "127.0.0.1:0",
                            millis -> end.await(millis, TimeUnit.MILLISECONDS),
                            store -> new ClusterManager(
                                    store, ManagerOptions.DEFAULT, System::nanoTime, System::currentTimeMillis),
                            epoch -> new GrantSigner(
                                    KeyFile.read(keys),
                                    epoch,
                                    new GrantClock(System::nanoTime, System::currentTimeMillis)),
                            _ -> new Idle(),
                            said::add)
                    .run();
        } catch (InterruptedException e) {
            said.add("interrupted");
        }
    }

    private static final class Idle implements LeadershipLifecycle.Duty {
        @Override
        public void serves(String address) {}

        @Override
        public void look() {}

        @Override
        public void close() {}
    }

    private String awaitLine(String what) throws InterruptedException {
        while (true) {
            @Nullable String line = said.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            assertNotNull(line, "it does not say: " + what);
            if (line.contains(what)) {
                return line;
            }
        }
    }

    private static String address(String line) {
        return line.replaceAll(".*(127\\.0\\.0\\.1:\\d+).*", "$1");
    }

    private void put(StateLocation place) {
        try (ZooKeeperHost host = place.start();
                ZooKeeperStore store = new ZooKeeperStore(host.connection())) {
            store.write(List.of(new StateChange.PutTenant(ACME)));
        }
    }

    private static List<String> tenants(String address) {
        try (ManagerClient client = ManagerClient.connect(address)) {
            return client.tenants("", 10).stream().map(Tenant::name).toList();
        }
    }

    @Test
    void whatIsCopiedToItsPlaceItLeadsAfterwards() throws Exception {
        put(alone);
        StateCopy.run(alone, shared);
        String address = address(awaitLine("leads at"));
        assertTrue(tenants(address).contains("acme"), () -> tenants(address).toString());
    }

    @Test
    void whereTheStateHasGoneItLeadsNoMore() throws Exception {
        // Another leader writes this, so that the manager leads again afterwards.
        put(shared);
        String address = address(awaitLine("leads at"));
        assertTrue(tenants(address).contains("acme"));
        StateCopy.run(shared, alone);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        ControlException.Code refused = null;
        int cancelled = 0;
        while (refused == null) {
            assertTrue(System.nanoTime() - deadline < 0, "it leads, though its state is elsewhere");
            try {
                tenants(address);
                Thread.sleep(20);
            } catch (ControlException e) {
                // The call that was in progress when it stopped to lead is cancelled; all later ones are refused.
                if (e.code() != ControlException.Code.CANCELLED || cancelled++ > 0) {
                    refused = e.code();
                }
            }
        }
        assertEquals(ControlException.Code.UNAVAILABLE, refused);
        assertEquals(List.of(), List.copyOf(said));
    }
}
