package io.farheap.manager.state;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.server.DatadirCleanupManager;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.util.ServiceUtils;

/** A thread for one of ZooKeeper's servers, and another that deletes the server's old files. */
final class ZooKeeperServerThread implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 60;
    private static final int SNAPSHOTS_KEPT = 3;
    private static final int PURGE_HOURS = 1;

    /** The server that runs on the thread. */
    interface Body {

        /** Serves until it is stopped; it calls {@link ZooKeeperServerThread#serves} as soon as it accepts clients. */
        void run() throws Exception;

        /** Called after {@link #run}, also if that has failed halfway: gives back the resources that are left. */
        void cleanUp();

        /** Makes {@link #run} return. Called by another thread. */
        void stop();
    }

    private final Path directory;
    private final Body body;
    private final DatadirCleanupManager purge;
    private final CompletableFuture<Integer> started = new CompletableFuture<>();
    private final Thread thread;

    /** Creates a server that has not started. */
    ZooKeeperServerThread(Path directory, QuorumPeerConfig config, Body body) {
        this.directory = directory;
        this.body = body;
        purge = new DatadirCleanupManager(config.getDataDir(), config.getDataLogDir(), SNAPSHOTS_KEPT, PURGE_HOURS);
        thread = new Thread(this::run, "farheap-zookeeper");
        thread.setDaemon(true);
    }

    /**
     * @return its port
     * @throws StateException if it does not start; it must be closed nevertheless
     */
    int start() {
        // ZooKeeper's default procedure ends the JVM.
        ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
        thread.start();
        try {
            int port = started.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            purge.start();
            return port;
        } catch (ExecutionException e) {
            throw new StateException("ZooKeeper does not start on " + directory + ": " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new StateException(
                    "ZooKeeper has not started on " + directory + " in " + PATIENCE_SECONDS
                            + " s: is the disk very slow, or the machine overloaded?",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StateException("interrupted while ZooKeeper was starting on " + directory, e);
        }
    }

    /** The server accepts clients on a port. */
    void serves(int port) {
        started.complete(port);
    }

    boolean running() {
        return started.isDone() && !started.isCompletedExceptionally() && thread.isAlive();
    }

    private void run() {
        Throwable failure = null;
        try {
            body.run();
        } catch (Throwable e) {
            failure = e;
        }
        try {
            body.cleanUp();
        } finally {
            started.completeExceptionally(failure != null ? failure : new StateException("it has stopped"));
        }
    }

    /**
     * Stops the server and waits until its files are closed. Threads that only wait for their next tick may end a
     * moment later.
     *
     * @throws StateException if it does not stop, and may still write
     */
    @Override
    public void close() {
        // Both calls below would return at once on a thread that is interrupted.
        boolean interrupted = Thread.interrupted();
        try {
            purge.shutdown();
            if (running()) {
                body.stop();
            } else if (!started.isDone()) {
                // The start has taken too long.
                thread.interrupt();
            }
            interrupted |= join();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        if (thread.isAlive()) {
            throw new StateException("ZooKeeper does not stop on " + directory + ": end this process");
        }
    }

    /** @return whether this thread was interrupted; it has waited nevertheless */
    private boolean join() {
        boolean interrupted = false;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        for (long left = end - System.nanoTime(); left > 0 && thread.isAlive(); left = end - System.nanoTime()) {
            try {
                thread.join(left / 1_000_000 + 1);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        return interrupted;
    }
}
