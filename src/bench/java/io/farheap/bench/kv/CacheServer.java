package io.farheap.bench.kv;

import io.farheap.bench.machine.ScratchDirectory;
import io.farheap.bench.peers.ChildProcess;
import io.farheap.bench.peers.PeerAbsentException;
import io.farheap.lifetime.CloseStack;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A Redis or memcached on a Unix socket, in a process that ends with this one. */
record CacheServer(ScratchDirectory directory, Path socket, ChildProcess process) implements AutoCloseable {

    /**
     * Starts a server, and returns when it accepts connections.
     *
     * @param bytes that it may keep
     * @throws PeerAbsentException if its program is not installed, or does not start
     */
    static CacheServer start(CacheSystem system, long bytes) throws PeerAbsentException {
        String program = system.program();
        try (CloseStack opened = new CloseStack()) {
            ScratchDirectory directory = opened.add(new ScratchDirectory("farheap-kv"));
            Path socket = directory.path().resolve("socket");
            List<String> command = new ArrayList<>(List.of(program));
            command.addAll(system.options(directory.path(), socket, bytes));
            ChildProcess process =
                    opened.add(ChildProcess.start(directory.path().resolve("log"), command));
            process.await(() -> ChildProcess.accepts(socket));
            opened.keep();
            return new CacheServer(directory, socket, process);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + program, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while " + program + " started", e);
        }
    }

    /** Opens a connection, which blocks. */
    SocketChannel connect() throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(socket));
    }

    @Override
    public void close() {
        try (directory) {
            process.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot end a server", e);
        }
    }
}
