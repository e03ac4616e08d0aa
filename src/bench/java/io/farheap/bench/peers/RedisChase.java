package io.farheap.bench.peers;

import java.io.EOFException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A chain of pointers in Redis: a string for each node, which is the key of the next node. It is followed by one FCALL
 * of a Lua function (Redis 7), or by a GET for each hop; over a Unix socket, by a client that only writes a request and
 * reads its answer. One thread.
 */
public final class RedisChase implements AutoCloseable {

    private static final int NODES = 1024;
    private static final int BUFFER_BYTES = 64 << 10;
    private static final String LIBRARY = """
            #!lua name=farheap
            redis.register_function{function_name='chase', flags={'no-writes'}, callback=function(keys, args)
              local node = keys[1]
              for i = 1, tonumber(args[1]) do node = redis.call('GET', node) end
              return node
            end}
            """;

    private final ChildProcess server;
    private final SocketChannel channel;
    private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final SplittableRandom random = new SplittableRandom(3);

    private RedisChase(ChildProcess server, SocketChannel channel) {
        this.server = server;
        this.channel = channel;
    }

    /**
     * Starts a server of its own and fills it.
     *
     * @param directory for its socket and its log
     * @throws PeerAbsentException if there is no Redis 7, with what to install
     */
    public static RedisChase open(Path directory) throws IOException, InterruptedException, PeerAbsentException {
        Path socket = directory.resolve("redis-chase.socket");
        ChildProcess server = ChildProcess.start(
                directory.resolve("redis-chase.log"),
                List.of(
                        ChildProcess.program("redis-server", "redis-server"),
                        "--port",
                        "0",
                        "--unixsocket",
                        socket.toString(),
                        "--save",
                        "",
                        "--dir",
                        directory.toString()));
        try {
            server.await(() -> ChildProcess.accepts(socket));
            RedisChase chase = new RedisChase(server, SocketChannel.open(UnixDomainSocketAddress.of(socket)));
            chase.fill();
            return chase;
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    private void fill() throws IOException, PeerAbsentException {
        try {
            request("FUNCTION", "LOAD", LIBRARY);
        } catch (IllegalStateException e) {
            throw new PeerAbsentException(
                    "this Redis has no functions; it needs version 7 (" + e.getMessage() + ")", e);
        }
        // One cycle through all nodes, in random order (Sattolo).
        int[] next = new int[NODES];
        for (int i = 0; i < NODES; i++) {
            next[i] = i;
        }
        for (int i = NODES - 1; i > 0; i--) {
            int other = random.nextInt(i);
            int swapped = next[i];
            next[i] = next[other];
            next[other] = swapped;
        }
        for (int i = 0; i < NODES; i++) {
            request("SET", key(i), key(next[i]));
        }
    }

    private static String key(int node) {
        return "n" + node;
    }

    /** Follows the chain from a random node in one call. */
    public void call(int hops) {
        send("FCALL", "chase", "1", key(random.nextInt(NODES)), Integer.toString(hops));
    }

    /** Follows the chain by a request for each hop. */
    public void gets(int hops) {
        String node = key(random.nextInt(NODES));
        for (int i = 0; i < Math.max(1, hops); i++) {
            node = send("GET", node);
        }
    }

    private String send(String... words) {
        try {
            return request(words);
        } catch (IOException e) {
            throw new IllegalStateException("Redis ended the connection: " + e.getMessage(), e);
        }
    }

    /** Returns the answer: a string or a status. */
    private String request(String... words) throws IOException {
        out.clear();
        put("*" + words.length + "\r\n");
        for (String word : words) {
            put("$" + word.length() + "\r\n" + word + "\r\n");
        }
        out.flip();
        while (out.hasRemaining()) {
            channel.write(out);
        }
        in.clear().limit(0);
        String line = line();
        return switch (line.charAt(0)) {
            case '$' -> line();
            case '+' -> line.substring(1);
            default -> throw new IllegalStateException("Redis answered: " + line);
        };
    }

    private void put(String text) {
        out.put(text.getBytes(StandardCharsets.US_ASCII));
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (char next = next(); next != '\r'; next = next()) {
            line.append(next);
        }
        next();
        return line.toString();
    }

    private char next() throws IOException {
        if (!in.hasRemaining()) {
            in.clear();
            if (channel.read(in) < 0) {
                throw new EOFException("the server is gone");
            }
            in.flip();
        }
        return (char) in.get();
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            server.close();
        }
    }
}
