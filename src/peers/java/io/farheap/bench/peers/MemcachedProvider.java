package io.farheap.bench.peers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import net.rubyeye.xmemcached.MemcachedClient;
import net.rubyeye.xmemcached.XMemcachedClientBuilder;
import net.rubyeye.xmemcached.command.BinaryCommandFactory;

/** memcached over loopback TCP, the only way that its Java clients know, through XMemcached's binary protocol. */
public final class MemcachedProvider implements PeerProvider {

    @Override
    public String name() {
        return Peers.MEMCACHED;
    }

    @Override
    public Peer open(Path directory) throws Exception {
        int port = ChildProcess.freePort();
        // As root it insists on a user.
        ChildProcess server = ChildProcess.start(
                directory.resolve("memcached.log"),
                List.of(
                        ChildProcess.program("memcached", "memcached"),
                        "-l",
                        "127.0.0.1",
                        "-p",
                        Integer.toString(port),
                        "-U",
                        "0",
                        "-t",
                        "1",
                        "-u",
                        System.getProperty("user.name")));
        try {
            server.await(() -> answers(port));
            XMemcachedClientBuilder builder =
                    new XMemcachedClientBuilder(List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
            builder.setCommandFactory(new BinaryCommandFactory());
            return new MemcachedPeer(server, builder.build());
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    private static boolean answers(int port) {
        try (Socket ignored = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static final class MemcachedPeer implements Peer {

        private static final String KEY = "value";

        private final ChildProcess server;
        private final MemcachedClient client;
        private byte[] value;
        private byte[] fetched;

        MemcachedPeer(ChildProcess server, MemcachedClient client) {
            this.server = server;
            this.client = client;
        }

        @Override
        public void use(byte[] newValue) {
            value = newValue;
        }

        @Override
        public void put(int times) throws Exception {
            for (int i = 0; i < times; i++) {
                client.set(KEY, 0, value);
            }
        }

        @Override
        public void get(int times) throws Exception {
            for (int i = 0; i < times; i++) {
                fetched = client.get(KEY);
            }
        }

        @Override
        public byte[] got() {
            return fetched;
        }

        @Override
        public void close() throws Exception {
            client.shutdown();
            server.close();
        }
    }
}
