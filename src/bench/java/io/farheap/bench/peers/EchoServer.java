package io.farheap.bench.peers;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * The least that a server behind a Unix socket can do, in a process of its own: it keeps one value. A put is four bytes
 * with its size and the value, answered by one byte; a get is four bytes with the negated size, answered by the value.
 * One client at a time.
 */
final class EchoServer {

    static final int MAX_BYTES = 1 << 20;

    private EchoServer() {}

    public static void main(String[] arguments) throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(Path.of(arguments[0])));
            while (true) {
                try (SocketChannel client = server.accept()) {
                    serve(client);
                }
            }
        }
    }

    private static void serve(SocketChannel client) throws IOException {
        ByteBuffer request = ByteBuffer.allocateDirect(Integer.BYTES + MAX_BYTES);
        ByteBuffer value = ByteBuffer.allocateDirect(MAX_BYTES);
        ByteBuffer acknowledgement = ByteBuffer.allocateDirect(1);
        while (read(client, request.clear(), Integer.BYTES)) {
            int bytes = request.getInt(0);
            if (bytes > 0) {
                if (!read(client, request, Integer.BYTES + bytes)) {
                    return;
                }
                value.clear().put(request.flip().position(Integer.BYTES));
                write(client, acknowledgement.clear());
            } else {
                write(client, value.clear().limit(-bytes));
            }
        }
    }

    /** @return false if the client has closed the connection */
    static boolean read(SocketChannel from, ByteBuffer to, int position) throws IOException {
        while (to.position() < position) {
            if (from.read(to) < 0) {
                return false;
            }
        }
        return true;
    }

    static void write(SocketChannel to, ByteBuffer from) throws IOException {
        while (from.hasRemaining()) {
            to.write(from);
        }
    }
}
