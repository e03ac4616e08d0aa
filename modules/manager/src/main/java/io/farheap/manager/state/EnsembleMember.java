package io.farheap.manager.state;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * One server of a ZooKeeper ensemble in this process, for managers that form the ensemble themselves. Each has a
 * directory of its own, with a file {@code lock}, and ZooKeeper's files below {@code ensemble}. Its manager reaches it
 * on 127.0.0.1, and it serves while more than half of the ensemble is up.
 *
 * <p>While it runs, ZooKeeper's admin server is off in this JVM, and ZooKeeper does not end the JVM when it fails.
 */
public final class EnsembleMember implements ZooKeeperHost {

    private final CloseStack opened;
    private final PeerServer server;
    private final String connection;

    private EnsembleMember(CloseStack opened, PeerServer server, int port) {
        this.opened = opened;
        this.server = server;
        connection = "127.0.0.1:" + port;
    }

    /**
     * Starts a server; it is searching for the other servers when this returns.
     *
     * @param directory of its files, for it alone; created if it does not exist
     * @param id of the member that it is
     * @throws IllegalArgumentException if there is no member of that id
     * @throws StateException if another process has the directory or the ports, it cannot be written, it is that of
     *     another member or of a manager that was alone, or its files are damaged
     */
    public static EnsembleMember start(Path directory, int id, Ensemble ensemble) {
        ensemble.peer(id);
        CloseStack opened = new CloseStack();
        try {
            opened.add(DirectoryLock.take(directory));
            DirectoryKind.ENSEMBLE.require(directory);
            Path files = DirectoryKind.ENSEMBLE.files(directory);
            beMember(files, id);
            ensemble.requirePorts(id);
            PeerServer server = opened.add(new PeerServer(files, ensemble));
            return new EnsembleMember(opened, server, server.start());
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    private static void beMember(Path files, int id) {
        Path file = files.resolve("myid");
        try {
            Files.createDirectories(files);
            if (!Files.exists(file)) {
                Files.writeString(file, Integer.toString(id));
            }
            String known = Files.readString(file).strip();
            if (!known.equals(Integer.toString(id))) {
                throw new StateException("the directory " + files + " is that of member " + known
                        + " of an ensemble, not of member " + id + ": start it as that, or on a directory of its own");
            }
        } catch (IOException e) {
            throw new StateException(
                    "cannot write to the directory " + files + " (" + e
                            + "): make it writable for this user, or name another",
                    e);
        }
    }

    @Override
    public String connection() {
        return connection;
    }

    @Override
    public boolean running() {
        return server.running();
    }

    @Override
    public boolean shared() {
        return true;
    }

    @Override
    public void close() {
        opened.close();
    }
}
