package io.farheap.testing;

import io.farheap.control.plane.HostPort;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The connections to a server's control plane, which can be cut and mended. While they are cut, no bytes come through
 * in either direction, and neither end is notified: as with TCP, bytes that were sent meanwhile arrive when they are
 * mended. New connections can be opened meanwhile and are silent, too.
 */
public final class ControlCable implements AutoCloseable {

    private final HostPort server;
    private final ServerSocket listener;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private boolean cut;
    private boolean closed;

    /** @param server HOST:PORT */
    public ControlCable(String server) throws IOException {
        this.server = HostPort.parse(server);
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    /** The address at which clients reach the server through this cable. */
    public String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** Cuts the connections; bytes that are on their way at this moment may still arrive. */
    public synchronized void cut() {
        cut = true;
    }

    public synchronized void mend() {
        cut = false;
        notifyAll();
    }

    private synchronized void awaitMended() throws InterruptedException {
        while (cut && !closed) {
            wait();
        }
    }

    private static void start(Runnable body) {
        Thread.ofPlatform().daemon().name("test-control-cable").start(body);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                sockets.add(client);
                start(() -> connect(client));
            } catch (IOException e) {
                // The test has ended.
            }
        }
    }

    private void connect(Socket client) {
        try (client) {
            awaitMended();
            try (Socket target = new Socket(server.host(), server.port())) {
                sockets.add(target);
                start(() -> copy(target, client));
                copy(client, target);
            }
        } catch (IOException e) {
            // There is no server: the client's connection ends.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void copy(Socket from, Socket to) {
        byte[] bytes = new byte[8192];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                awaitMended();
                out.write(bytes, 0, count);
            }
            awaitMended();
            to.close();
        } catch (IOException e) {
            // One of them is closed.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() throws IOException {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
