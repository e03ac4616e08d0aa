package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A program that is not a client of Farheap connects to a command's port. */
@Tag("full")
class WrongPortTest {

    /** gRPC itself would log it with a stack of thirty lines. */
    @Test
    void anHttpRequestIsLoggedInOneLine() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        String address = "127.0.0.1:" + port;
        CommandProcess manager = CommandProcess.start(Map.of(), "manager", "--temporary", "--listen", address);
        try {
            manager.awaitLine("listening on " + address);
            try (Socket browser = new Socket("127.0.0.1", port)) {
                browser.getOutputStream()
                        .write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                manager.awaitLine("a connection to this process has failed (Unexpected HTTP/1.x request: GET /");
            }
            manager.terminate();
            String printed = manager.awaitEnd(0);
            assertFalse(printed.contains("\tat "), printed);
        } finally {
            manager.kill();
        }
    }
}
