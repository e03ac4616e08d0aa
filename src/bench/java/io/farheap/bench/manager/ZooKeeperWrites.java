package io.farheap.bench.manager;

import io.farheap.bench.report.SideSetup;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** The speed of ZooKeeper alone: its plain client creates nodes, with many requests on their way. */
final class ZooKeeperWrites implements AutoCloseable {

    private static final String ROOT = "/farheap-bench";
    private static final String CACHES = "/farheap/caches";
    /** A node of which each write of a manager raises the version. */
    private static final String WRITES = "/farheap/writes";

    private static final int SESSION_MILLIS = 30_000;
    private static final int CREATES_ON_THEIR_WAY = 2_000;
    private static final int MULTI_CREATES = 50;
    private static final int MULTIS_ON_THEIR_WAY = 16;

    private final ZooKeeper zookeeper;

    ZooKeeperWrites(String connection) throws IOException, InterruptedException, KeeperException {
        CountDownLatch connected = new CountDownLatch(1);
        zookeeper = new ZooKeeper(connection, SESSION_MILLIS, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        if (!connected.await(SESSION_MILLIS, TimeUnit.MILLISECONDS)) {
            zookeeper.close();
            throw new IllegalStateException("ZooKeeper at " + connection + " does not answer");
        }
        zookeeper.create(ROOT, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    /** Returns the means of {@link #single}. */
    static SideSetup singles(long bytesLocal, int cores) {
        return new SideSetup(bytesLocal, cores, CREATES_ON_THEIR_WAY, 1);
    }

    /** Returns the means of {@link #multi}. */
    static SideSetup multis(long bytesLocal, int cores) {
        return new SideSetup(bytesLocal, cores, MULTIS_ON_THEIR_WAY * MULTI_CREATES, MULTI_CREATES);
    }

    /** Returns a cache's record, as the manager writes it. */
    byte[] record() throws InterruptedException, KeeperException {
        for (String bucket : zookeeper.getChildren(CACHES, false)) {
            for (String cache : zookeeper.getChildren(CACHES + "/" + bucket, false)) {
                return zookeeper.getData(CACHES + "/" + bucket + "/" + cache, false, null);
            }
        }
        throw new IllegalStateException("there is no cache in the manager's state");
    }

    /** Returns how often managers have written so far, each time as many changes as there were. */
    int managersWrites() throws InterruptedException, KeeperException {
        return zookeeper.exists(WRITES, false).getVersion();
    }

    /** @return writes a second, each a request of its own */
    double single(int count, byte[] data) throws InterruptedException, KeeperException {
        double perSecond = timed(
                count,
                1,
                CREATES_ON_THEIR_WAY,
                (first, done) -> zookeeper.create(
                        path(first),
                        data,
                        Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT,
                        (code, path, context, name) -> done.accept(code),
                        null));
        clear(count);
        return perSecond;
    }

    /** @return writes a second, {@value #MULTI_CREATES} in a request */
    double multi(int count, byte[] data) throws InterruptedException, KeeperException {
        double perSecond = timed(count, MULTI_CREATES, MULTIS_ON_THEIR_WAY, (first, done) -> {
            List<Op> creates = new ArrayList<>();
            for (int i = first; i < Math.min(count, first + MULTI_CREATES); i++) {
                creates.add(Op.create(path(i), data, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
            }
            zookeeper.multi(creates, (code, path, context, results) -> done.accept(code), null);
        });
        clear(count);
        return perSecond;
    }

    private void clear(int count) throws InterruptedException, KeeperException {
        timed(count, MULTI_CREATES, MULTIS_ON_THEIR_WAY, (first, done) -> {
            List<Op> deletes = new ArrayList<>();
            for (int i = first; i < Math.min(count, first + MULTI_CREATES); i++) {
                deletes.add(Op.delete(path(i), -1));
            }
            zookeeper.multi(deletes, (code, path, context, results) -> done.accept(code), null);
        });
    }

    private interface Request {
        /** @param done receives ZooKeeper's code when the request is answered */
        void send(int first, IntConsumer done);
    }

    private static double timed(int count, int step, int onTheirWay, Request request)
            throws InterruptedException, KeeperException {
        Semaphore window = new Semaphore(onTheirWay);
        AtomicReference<Code> failure = new AtomicReference<>(Code.OK);
        long started = System.nanoTime();
        for (int first = 0; first < count && failure.get() == Code.OK; first += step) {
            window.acquire();
            request.send(first, code -> {
                if (code != Code.OK.intValue()) {
                    failure.set(Code.get(code));
                }
                window.release();
            });
        }
        window.acquire(onTheirWay);
        double seconds = (System.nanoTime() - started) / 1e9;
        if (failure.get() != Code.OK) {
            throw KeeperException.create(failure.get());
        }
        return count / seconds;
    }

    private static String path(int node) {
        return ROOT + "/%08d".formatted(node);
    }

    @Override
    public void close() {
        try {
            zookeeper.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
