package io.farheap.bench.peers;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Redis over a Unix socket, through Lettuce's synchronous commands. */
public final class RedisProvider implements PeerProvider {

    @Override
    public String name() {
        return Peers.REDIS;
    }

    @Override
    public Peer open(Path directory) throws Exception {
        Path socket = directory.resolve("redis.socket");
        ChildProcess server = ChildProcess.start(
                directory.resolve("redis.log"),
                List.of(
                        ChildProcess.program("redis-server", "redis-server"),
                        "--port",
                        "0",
                        "--unixsocket",
                        socket.toString(),
                        "--save",
                        "",
                        "--appendonly",
                        "no",
                        "--dir",
                        directory.toString()));
        try {
            server.await(() -> ChildProcess.accepts(socket));
            RedisClient client = RedisClient.create(
                    RedisURI.Builder.socket(socket.toString()).build());
            // A Unix socket has no keep-alive: Lettuce would warn of it.
            client.setOptions(ClientOptions.builder()
                    .socketOptions(SocketOptions.builder().keepAlive(false).build())
                    .build());
            return new RedisPeer(server, client);
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    private static final class RedisPeer implements Peer {

        private static final byte[] KEY = "value".getBytes(StandardCharsets.US_ASCII);

        private final ChildProcess server;
        private final RedisClient client;
        private final StatefulRedisConnection<byte[], byte[]> connection;
        private final RedisCommands<byte[], byte[]> commands;
        private byte[] value;
        private byte[] fetched;

        RedisPeer(ChildProcess server, RedisClient client) {
            this.server = server;
            this.client = client;
            this.connection = client.connect(ByteArrayCodec.INSTANCE);
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
            client.shutdown();
            server.close();
        }
    }
}
