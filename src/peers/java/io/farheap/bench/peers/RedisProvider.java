package io.farheap.bench.peers;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Redis over a Unix socket, through Lettuce's synchronous commands. */
public final class RedisProvider implements PeerProvider {

    @Override
    public String name() {
        return Peers.REDIS;
    }

    @Override
    public Peer open(Path directory) throws Exception {
        return new RedisPeer(RedisServer.start(directory));
    }

    private static final class RedisPeer implements Peer {

        private static final byte[] KEY = "value".getBytes(StandardCharsets.US_ASCII);

        private final RedisServer server;
        private final StatefulRedisConnection<byte[], byte[]> connection;
        private final RedisCommands<byte[], byte[]> commands;
        private byte[] value;
        private byte[] fetched;

        RedisPeer(RedisServer server) {
            this.server = server;
            this.connection = server.client().connect(ByteArrayCodec.INSTANCE);
            this.commands = connection.sync();
        }

        @Override
        public void use(byte[] newValue) {
            value = newValue;
        }

        @Override
        public void put(int times) {
            for (int i = 0; i < times; i++) {
                commands.set(KEY, value);
            }
        }

        @Override
        public void get(int times) {
            for (int i = 0; i < times; i++) {
                fetched = commands.get(KEY);
            }
        }

        @Override
        public byte[] got() {
            return fetched;
        }

        @Override
        public void close() throws Exception {
            connection.close();
            server.close();
        }
    }
}
