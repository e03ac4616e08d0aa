package io.farheap.control.grpc;

import io.farheap.control.plane.HostPort;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

/** A relay between clients and a server. Connections that it swallows stay open, but no bytes come through. */
final class Relay implements AutoCloseable {

    private final HostPort server;
    private final ServerSocket listener;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    /** Shared by the connections since the last {@link #swallow}. */
    private volatile AtomicBoolean swallows = new AtomicBoolean();

    Relay(String server) throws IOException {
        this.server = HostPort.parse(server);
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().name("test-relay").unstarted(this::accept).start();
    }

    String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** Swallows all connections that are open now; the relay passes on the bytes of later ones. */
    void swallow() {
        swallows.set(true);
        swallows = new AtomicBoolean();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                Socket target = new Socket(server.host(), server.port());
                sockets.add(client);
                sockets.add(target);
                AtomicBoolean swallowed = swallows;
                Thread.ofPlatform()
                        .daemon()
                        .name("test-relay")
                        .unstarted(() -> copy(client, target, swallowed))
                        .start();
                Thread.ofPlatform()
                        .daemon()
                        .name("test-relay")
                        .unstarted(() -> copy(target, client, swallowed))
                        .start();
            } catch (IOException e) {
                // The test has ended.
            }
        }
    }

    private static void copy(Socket from, Socket to, AtomicBoolean swallowed) {
        byte[] bytes = new byte[8192];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                if (!swallowed.get()) {
                    out.write(bytes, 0, count);
                }
            }
            if (!swallowed.get()) {
                to.close();
            }
        } catch (IOException e) {
            // One of them is closed.
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
