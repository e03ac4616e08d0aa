package io.farheap.control.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.HostPort;
import io.farheap.control.plane.Lease;
import io.farheap.testing.PlaneProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers that are not there, do not answer, or send no valid messages. */
class ControlFailureTest {

    private static Code codeOf(Runnable call) {
        return assertThrows(ControlException.class, call::run).code();
    }

    @Test
    void nobodyListens() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        ControlException e = assertThrows(ControlException.class, () -> ControlClient.connect("127.0.0.1:" + port));
        assertEquals(Code.UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("127.0.0.1:" + port), e.getMessage());
        assertTrue(e.getMessage().contains("refused"), e.getMessage());
    }

    @Test
    void anHttpServerIsNoMemoryServer() throws IOException {
        byte[] answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        try (ServerSocket http = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().daemon().start(() -> {
                try (Socket client = http.accept()) {
                    client.getOutputStream().write(answer);
                    client.getInputStream().readAllBytes();
                } catch (IOException e) {
                    // The client has closed the connection, or the test has ended.
                }
            });
            String address = "127.0.0.1:" + http.getLocalPort();
            ControlException e = assertThrows(ControlException.class, () -> ControlClient.connect(address));
            assertTrue(e.getMessage().startsWith(address + " is not a memory server: "), e.getMessage());
        }
    }

    @Test
    void theHostHasNoAddress() {
        ControlException e =
                assertThrows(ControlException.class, () -> ControlClient.connect("no-such-host.invalid:1"));
        assertEquals(Code.UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("no-such-host.invalid"), e.getMessage());
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void aListenerThatNeverAnswersEndsInADeadline() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertEquals(
                    Code.DEADLINE_EXCEEDED, codeOf(() -> ControlClient.connect("127.0.0.1:" + silent.getLocalPort())));
        }
    }

    /** The server has answered; an operator must not look for a network that is broken. */
    @ParameterizedTest
    @ValueSource(strings = {"the connection has not ended yet: on purpose", "it cannot do that now: on purpose"})
    void aServerThatAnswersThatItIsUnavailableIsReached(String message) {
        ControlPlane plane = PlaneProxy.around(new InMemoryPlane(), (method, arguments, rest) -> {
            if (method.equals("disconnect")) {
                throw new ControlException(Code.UNAVAILABLE, message);
            }
            return rest.call();
        });
        try (ControlServer server = ControlServer.start("127.0.0.1:0", plane);
                ControlClient client = ControlClient.connect(server.address())) {
            ControlException e = assertThrows(ControlException.class, () -> client.disconnect(1, 2));
            assertEquals(Code.UNAVAILABLE, e.code());
            assertEquals("memory server " + server.address() + ": " + message, e.getMessage());
        }
    }

    @Test
    void theAddressIsTaken() {
        try (ControlServer first = ControlServer.start("127.0.0.1:0", new InMemoryPlane())) {
            ControlException e = assertThrows(
                    ControlException.class, () -> ControlServer.start(first.address(), new InMemoryPlane()));
            assertEquals(Code.UNAVAILABLE, e.code());
            assertTrue(e.getMessage().contains(first.address()), e.getMessage());
        }
    }

    @Test
    void aServerThatIsGoneIsUnavailableAndItsSuccessorIsFound() throws Exception {
        InMemoryPlane plane = new InMemoryPlane();
        ControlServer server = ControlServer.start("127.0.0.1:0", plane);
        String address = server.address();
        try (ControlClient client = ControlClient.connect(address)) {
            server.close();
            for (int i = 0; i < 3; i++) {
                assertEquals(Code.UNAVAILABLE, codeOf(() -> client.openLease("c")));
            }
            try (ControlServer _ = ControlServer.start(address, plane)) {
                Lease lease = null;
                for (int i = 0; lease == null; i++) {
                    try {
                        lease = client.openLease("c");
                    } catch (ControlException e) {
                        assertTrue(i < 6_000, e::getMessage);
                        Thread.sleep(10);
                    }
                }
            }
        }
    }

    @Test
    void nonsenseOnTheWireHarmsNobodyElse() throws Exception {
        InMemoryPlane plane = new InMemoryPlane();
        try (ControlServer server = ControlServer.start("127.0.0.1:0", plane);
                ControlClient good = ControlClient.connect(server.address())) {
            HostPort at = HostPort.parse(server.address());
            byte[] noise = new byte[100_000];
            new Random(1).nextBytes(noise);
            byte[] http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
            for (List<byte[]> talk : List.of(
                    List.of(noise),
                    List.of(http2Preface, noise),
                    List.of("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII)),
                    List.<byte[]>of())) {
                try (Socket bad = new Socket(at.host(), at.port())) {
                    for (byte[] bytes : talk) {
                        bad.getOutputStream().write(bytes);
                    }
                } catch (IOException e) {
                    // The server may have closed the connection already.
                }
                good.renewLease(1);
            }
        }
    }

    @Test
    void anOversizedMessageIsRefused() {
        try (ControlServer server = ControlServer.start("127.0.0.1:0", new InMemoryPlane());
                ControlClient client = ControlClient.connect(server.address())) {
            assertThrows(ControlException.class, () -> client.openLease("x".repeat(1 << 20)));
            client.openLease("x");
        }
    }

    @Test
    void closingLeavesNoThread() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        InMemoryPlane plane = new InMemoryPlane();
        ControlServer server = ControlServer.start("127.0.0.1:0", plane);
        ControlClient client = ControlClient.connect(server.address());
        CompletableFuture<Void> pull = CompletableFuture.runAsync(() -> client.pull(1, 1, "h:1", new byte[16]));
        assertTrue(plane.pullHasBegun.await(60, TimeUnit.SECONDS));
        LeaseKeeper keeper = new LeaseKeeper(client, client.openLease("c"), (lease, cause) -> {});

        keeper.close();
        client.close();
        server.close();
        client.close();
        server.close();
        assertTrue(pull.handle((done, e) -> e != null).get(60, TimeUnit.SECONDS));

        // Netty's own global executor lingers for a second.
        Set<String> left = names(before);
        for (int i = 0; i < 600 && !left.isEmpty(); i++) {
            Thread.sleep(100);
            left = names(before);
        }
        assertEquals(Set.of(), left);
    }

    private static Set<String> names(Set<Thread> before) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread))
                .map(Thread::getName)
                .filter(name -> !name.startsWith("ForkJoinPool"))
                .collect(Collectors.toSet());
    }
}
