package io.farheap.bench.manager;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.manager.service.ClusterManager;
import io.farheap.manager.service.ManagerOptions;
import io.farheap.manager.service.grant.GrantClock;
import io.farheap.manager.service.grant.GrantSigner;
import io.farheap.manager.service.grpc.ManagerServer;
import io.farheap.manager.state.ZooKeeperStore;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A manager in this process, on an existing ZooKeeper. */
final class InProcessManager implements AutoCloseable {

    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(5);
    private static final long AGAIN_NANOS = 5_000_000;

    private final CloseStack opened = new CloseStack();
    private final ClusterManager cluster;
    private final ManagerServer server;

    /** @param connection of ZooKeeper */
    InProcessManager(String connection) {
        try {
            ZooKeeperStore store = opened.add(new ZooKeeperStore(connection));
            cluster = new ClusterManager(store, ManagerOptions.DEFAULT, System::nanoTime, System::currentTimeMillis);
            KeyPair keys = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
            GrantSigner grants =
                    new GrantSigner(keys, store.epoch(), new GrantClock(System::nanoTime, System::currentTimeMillis));
            server = opened.add(ManagerServer.start("127.0.0.1:0", cluster, grants));
        } catch (GeneralSecurityException e) {
            Closeables.after(e, opened);
            throw new IllegalStateException("no keys to sign grants with: " + e, e);
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    ClusterManager cluster() {
        return cluster;
    }

    String address() {
        return server.address();
    }

    /** Asks through gRPC until servers for a cache are found: there is no room before servers have reported. */
    void awaitAllocation(long cacheId) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        try (ManagerClient client = ManagerClient.connect(address())) {
            while (true) {
                try {
                    client.allocate(SyntheticCluster.request(cacheId));
                    return;
                } catch (ControlException e) {
                    boolean soon = e.code() == Code.OUT_OF_MEMORY || e.code() == Code.DEADLINE_EXCEEDED;
                    if (!soon || System.nanoTime() - deadline > 0) {
                        throw e;
                    }
                }
                LockSupport.parkNanos(AGAIN_NANOS);
            }
        }
    }

    @Override
    public void close() {
        opened.close();
    }
}
