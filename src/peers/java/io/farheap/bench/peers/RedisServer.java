package io.farheap.bench.peers;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import java.nio.file.Path;
import java.util.List;

/** A Redis that keeps nothing on a disk, and a client of it over a Unix socket. */
record RedisServer(ChildProcess process, RedisClient client) implements AutoCloseable {

    static RedisServer start(Path directory) throws Exception {
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
            return new RedisServer(server, client);
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    @Override
    public void close() throws Exception {
        client.shutdown();
        process.close();
    }
}
