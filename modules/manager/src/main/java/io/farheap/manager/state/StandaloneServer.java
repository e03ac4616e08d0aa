package io.farheap.manager.state;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.server.DatadirCleanupManager;
import org.apache.zookeeper.server.ServerConfig;
import org.apache.zookeeper.server.ZooKeeperServerMain;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig.ConfigException;
import org.apache.zookeeper.util.ServiceUtils;

/**
 * ZooKeeper's server on a thread. ZooKeeper's own {@code ZooKeeperServerEmbedded} does the same, but a start that fails
 * makes it wait until the time is up and hides the cause, and it leaves threads and files behind.
 */
final class StandaloneServer extends ZooKeeperServerMain implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 60;
    private static final int SNAPSHOTS_KEPT = 3;
    private static final int PURGE_HOURS = 1;

    private final Path directory;
    private final ServerConfig config;
    private final DatadirCleanupManager purge;
    private final CompletableFuture<Integer> started = new CompletableFuture<>();
    private final Thread thread;

    /** Has not started. */
    StandaloneServer(Path directory) {
        this.directory = directory;
        config = config(directory);
        purge = new DatadirCleanupManager(config.getDataDir(), config.getDataLogDir(), SNAPSHOTS_KEPT, PURGE_HOURS);
        thread = new Thread(this::run, "farheap-zookeeper");
        thread.setDaemon(true);
    }

    private static ServerConfig config(Path directory) {
        Properties properties = new Properties();
        properties.setProperty("dataDir", directory.toAbsolutePath().toString());
        properties.setProperty("clientPortAddress", "127.0.0.1");
        // Any that is free.
        properties.setProperty("clientPort", "0");
        properties.setProperty("maxClientCnxns", "0");
        // Milliseconds. A stopped server's threads look once a tick whether they are to end.
        properties.setProperty("tickTime", "500");
        properties.setProperty("maxSessionTimeout", "60000");
        // These two become system properties, which is the only way to tell. It answers to srvr all the same.
        properties.setProperty("admin.enableServer", "false");
        properties.setProperty("4lw.commands.whitelist", "");
        QuorumPeerConfig parsed = new QuorumPeerConfig();
        try {
            parsed.parseProperties(properties);
        } catch (IOException | ConfigException e) {
            throw new StateException("ZooKeeper refuses its configuration for " + directory + ": " + e.getMessage(), e);
        }
        ServerConfig config = new ServerConfig();
        config.readFrom(parsed);
        return config;
    }

    /**
     * @return its port
     * @throws StateException it does not start; it has to be closed all the same
     */
    int start() {
        // Its default is to end the JVM.
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

    boolean running() {
        return started.isDone() && !started.isCompletedExceptionally() && thread.isAlive();
    }

    @Override
    protected void serverStarted() {
        started.complete(getClientPort());
    }

    private void run() {
        Throwable failure = null;
        try {
            runFromConfig(config);
        } catch (Throwable e) {
            failure = e;
        }
        try {
            // Where the start failed halfway nobody has; the usual close() would wait for threads that nobody stops.
            shutdown();
        } finally {
            started.completeExceptionally(failure != null ? failure : new StateException("it has stopped"));
        }
    }

    /**
     * Waits until its files are closed. Threads that only wait for their next tick may end a moment later.
     *
     * @throws StateException it does not stop, and may still write
     */
    @Override
    public void close() {
        // Both wait, and would wait for nothing.
        boolean interrupted = Thread.interrupted();
        try {
            purge.shutdown();
            if (running()) {
                super.close();
            } else if (!started.isDone()) {
                // It has taken too long on its way up.
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

    /** @return whether it was interrupted; it has waited all the same */
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
