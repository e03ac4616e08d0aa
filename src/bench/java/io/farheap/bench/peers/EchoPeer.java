package io.farheap.bench.peers;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;

/** A bare exchange over a Unix socket: the least cost of every peer behind a socket, most of it for two wake-ups. */
final class EchoPeer implements Peer {

    private final ChildProcess server;
    private final SocketChannel channel;
    private final ByteBuffer put = ByteBuffer.allocateDirect(Integer.BYTES + EchoServer.MAX_BYTES);
    private final ByteBuffer get = ByteBuffer.allocateDirect(Integer.BYTES);
    private final ByteBuffer acknowledgement = ByteBuffer.allocateDirect(1);
    private final ByteBuffer fetched = ByteBuffer.allocateDirect(EchoServer.MAX_BYTES);

    private EchoPeer(ChildProcess server, SocketChannel channel) {
        this.server = server;
        this.channel = channel;
    }

    static EchoPeer open(Path directory) throws Exception {
        Path socket = directory.resolve("echo.socket");
        ChildProcess server = ChildProcess.start(
                directory.resolve("echo.log"),
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        EchoServer.class.getName(),
                        socket.toString()));
        try {
            server.await(() -> ChildProcess.accepts(socket));
            return new EchoPeer(server, SocketChannel.open(UnixDomainSocketAddress.of(socket)));
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    @Override
    public void use(byte[] value) {
        put.clear().putInt(value.length).put(value).flip();
        get.clear().putInt(-value.length).flip();
        fetched.clear().limit(value.length);
    }

    @Override
    public void put(int times) throws IOException {
        for (int i = 0; i < times; i++) {
            EchoServer.write(channel, put.rewind());
            receive(acknowledgement.clear());
        }
    }

    @Override
    public void get(int times) throws IOException {
        for (int i = 0; i < times; i++) {
            EchoServer.write(channel, get.rewind());
            receive(fetched.rewind());
        }
    }

    @Override
    public byte[] got() {
        byte[] bytes = new byte[fetched.limit()];
        fetched.get(0, bytes);
        return bytes;
    }

    private void receive(ByteBuffer into) throws IOException {
        if (!EchoServer.read(channel, into, into.limit())) {
            throw new IOException("the echo server has ended");
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
        server.close();
    }
}
