package io.farheap.bench.peers;

import java.nio.file.Path;
import net.rubyeye.xmemcached.MemcachedClient;

/** memcached over loopback TCP, the only way that its Java clients know, through XMemcached's binary protocol. */
public final class MemcachedProvider implements PeerProvider {

    @Override
    public String name() {
        return Peers.MEMCACHED;
    }

    @Override
    public Peer open(Path directory) throws Exception {
        MemcachedServer server = MemcachedServer.start(directory, 64);
        try {
            return new MemcachedPeer(server, server.connect());
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    private static final class MemcachedPeer implements Peer {

        private static final String KEY = "value";

        private final MemcachedServer server;
        private final MemcachedClient client;
        private byte[] value;
        private byte[] fetched;

        MemcachedPeer(MemcachedServer server, MemcachedClient client) {
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
