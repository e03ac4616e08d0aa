package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients of one connection get their own answers, in whatever order they ask. */
class PipelinedConnectionTest {

    private static final long OBJECTS = 10;
    private static final byte[] VALUE = new byte[8];

    @TempDir
    Path directory;

    /** Answers each get as absent, and each set as stored, until its client ends. */
    private static void serve(ServerSocketChannel server) {
        try (SocketChannel client = server.accept();
                BufferedReader in = new BufferedReader(Channels.newReader(client, StandardCharsets.ISO_8859_1))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith("set ")) {
                    in.readLine();
                }
                String answer = line.startsWith("set ") ? "STORED\r\n" : "END\r\n";
                client.write(ByteBuffer.wrap(answer.getBytes(StandardCharsets.ISO_8859_1)));
            }
        } catch (IOException e) {
            // The client ended during a request.
        }
    }

    private static void end(ClosedLoop.LoopClient client, List<ClosedLoop.LoopClient> others) {
        while (!client.ended()) {
            others.forEach(ClosedLoop.LoopClient::ended);
        }
    }

    @Test
    void answersComeToTheirClients() throws Exception {
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("socket"));
        for (boolean spins : new boolean[] {false, true}) {
            try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                server.bind(address);
                Thread serving = Thread.ofPlatform().start(() -> serve(server));
                PipelinedConnection connection =
                        new PipelinedConnection(SocketChannel.open(address), new MemcachedProtocol(VALUE), spins);
                connection.fill(OBJECTS);
                List<ClosedLoop.LoopClient> clients = Stream.of(KvWorkload.C, KvWorkload.A, KvWorkload.C)
                        .map(workload -> connection.client(new YcsbRequests(workload, false, OBJECTS, 0)))
                        .toList();
                clients.forEach(client -> assertTrue(client.ended()));
                for (int i = 0; i < 100; i++) {
                    clients.forEach(ClosedLoop.LoopClient::begin);
                    assertFalse(clients.getLast().ended(), "it is not the oldest, so it has not looked");
                    clients.reversed().forEach(client -> end(client, clients));
                }
                assertEquals(100, clients.getFirst().gets());
                assertEquals(100, clients.getFirst().absent());
                assertEquals(clients.get(1).gets(), clients.get(1).absent());
                assertTrue(clients.get(1).gets() < 100, "no set was drawn");
                assertEquals(0, clients.getFirst().posted().operations());
                clients.forEach(ClosedLoop.LoopClient::close);
                serving.join();
            }
            Files.delete(address.getPath());
        }
    }

    @Test
    void aServerThatEndsIsNoticed() throws Exception {
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("socket"));
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(address);
            PipelinedConnection connection =
                    new PipelinedConnection(SocketChannel.open(address), new MemcachedProtocol(VALUE), false);
            server.accept().close();
            assertThrows(RuntimeException.class, () -> connection.fill(OBJECTS));
            connection.close();
        }
    }
}
