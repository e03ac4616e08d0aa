package io.farheap.manager.state;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/** A proxy between a ZooKeeper client and its server, which loses the connection at a transaction if a test wants. */
final class CuttingProxy implements AutoCloseable {

    enum Cut {
        NOT,
        /** The server never receives the request. */
        REQUEST,
        /** The server has executed the request, and the client does not receive the answer. */
        ANSWER
    }

    /** ZooKeeper's number of a transaction that writes. */
    private static final int MULTI = 14;

    private final int target;
    private final ServerSocket listener;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Cut> cut = new AtomicReference<>(Cut.NOT);
    private volatile boolean thenRefuse;
    private volatile boolean refuse;

    CuttingProxy(String connection) throws IOException {
        target = Integer.parseInt(connection.substring(connection.indexOf(':') + 1));
        listener = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        Thread.startVirtualThread(this::accept);
    }

    String connection() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /**
     * Loses the connection at the next transaction.
     *
     * @param forNow whether no connection succeeds from then on, until {@link #mend}
     */
    void cut(Cut where, boolean forNow) {
        thenRefuse = forNow;
        cut.set(where);
    }

    boolean wasCut() {
        return cut.get() == Cut.NOT;
    }

    /** Loses all connections, and no other succeeds until {@link #mend}. */
    void refuse() throws IOException {
        refuse = true;
        closeAll();
    }

    void mend() {
        refuse = false;
    }

    private interface Pump {
        void run(Socket client, Socket server) throws IOException;
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                if (refuse) {
                    client.close();
                    continue;
                }
                sockets.add(client);
                Socket server = new Socket(InetAddress.getByName("127.0.0.1"), target);
                sockets.add(server);
                Connection connection = new Connection();
                Thread.startVirtualThread(() -> pump(client, server, connection::requests));
                Thread.startVirtualThread(() -> pump(client, server, connection::answers));
            } catch (IOException e) {
                // The proxy is closed, or the server has ended: the client tries again.
            }
        }
    }

    private void pump(Socket client, Socket server, Pump pump) {
        try (client;
                server) {
            pump.run(client, server);
        } catch (IOException e) {
            // The connection is lost, as this proxy intends.
        } finally {
            sockets.remove(client);
            sockets.remove(server);
        }
    }

    private final class Connection {

        /** The number of the request whose answer gets lost; no request has 0. */
        private volatile int lost;

        private void requests(Socket client, Socket server) throws IOException {
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(server.getOutputStream());
            forward(in, out);
            while (true) {
                byte[] frame = frame(in);
                if (ByteBuffer.wrap(frame).getInt(4) == MULTI) {
                    Cut where = cut.get();
                    if (where != Cut.NOT) {
                        refuse = thenRefuse;
                        cut.set(Cut.NOT);
                    }
                    if (where == Cut.REQUEST) {
                        return;
                    }
                    if (where == Cut.ANSWER) {
                        lost = ByteBuffer.wrap(frame).getInt(0);
                    }
                }
                write(out, frame);
            }
        }

        private void answers(Socket client, Socket server) throws IOException {
            DataInputStream in = new DataInputStream(server.getInputStream());
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            forward(in, out);
            while (true) {
                byte[] frame = frame(in);
                if (lost != 0 && ByteBuffer.wrap(frame).getInt(0) == lost) {
                    return;
                }
                write(out, frame);
            }
        }

        /** Forwards the messages of connecting, which have another form. */
        private void forward(DataInputStream in, DataOutputStream out) throws IOException {
            write(out, frame(in));
        }
    }

    private static byte[] frame(DataInputStream in) throws IOException {
        return in.readNBytes(in.readInt());
    }

    private static void write(DataOutputStream out, byte[] frame) throws IOException {
        out.write(ByteBuffer.allocate(4 + frame.length)
                .putInt(frame.length)
                .put(frame)
                .array());
        out.flush();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        closeAll();
    }

    private void closeAll() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
