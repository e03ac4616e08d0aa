package io.farheap.control.plane;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostPortTest {

    @Test
    void namesAndAddresses() {
        assertEquals(new HostPort("localhost", 0), HostPort.parse("localhost:0"));
        assertEquals(new HostPort("192.0.2.7", 65535), HostPort.parse("192.0.2.7:65535"));
        assertEquals(new HostPort("2001:db8::7", 7400), HostPort.parse("[2001:db8::7]:7400"));
    }

    @Test
    void whatIsPrintedCanBeParsed() {
        assertEquals("[2001:db8::7]:7400", HostPort.parse("[2001:db8::7]:7400").toString());
        assertEquals("localhost:7400", HostPort.parse("localhost:7400").toString());
    }

    private static InetAddress loopback(int last) throws IOException {
        return InetAddress.getByAddress("several", new byte[] {127, 0, 0, (byte) last});
    }

    /** For example, a name resolves to ::1 first and the server listens on 127.0.0.1. */
    @Test
    void ofSeveralAddressesTheFirstThatIsListenedOnIsReached() throws IOException {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(new InetSocketAddress(loopback(2), 0));
            HostPort address = new HostPort("several", server.getLocalPort());
            assertEquals(
                    server.getLocalSocketAddress(),
                    address.reach("memory server", List.of(loopback(3), loopback(2), loopback(4))));
            // A single address is returned untried: the call that follows shows whether it answers.
            assertEquals(
                    new InetSocketAddress(loopback(3), address.port()),
                    address.reach("memory server", List.of(loopback(3))));
        }
    }

    @Test
    void ifNoneIsListenedOnAllAreNamed() throws IOException {
        List<InetAddress> addresses = List.of(loopback(3), loopback(4));
        ControlException e = assertThrows(
                ControlException.class, () -> new HostPort("several", 1).reach("memory server", addresses));
        assertEquals(Code.UNAVAILABLE, e.code());
        assertEquals(
                "memory server several:1 cannot be reached at any of its addresses: 127.0.0.3:1 (Connection refused), "
                        + "127.0.0.4:1 (Connection refused)",
                e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":",
                "host",
                "host:",
                ":7400",
                "host:65536",
                "host:-1",
                "host:7400x",
                "2001:db8::7:7400",
                "[]:1"
            })
    void anythingElseIsRefusedWithTheTextInTheMessage(String text) {
        ControlException e = assertThrows(ControlException.class, () -> HostPort.parse(text));
        assertEquals(Code.INVALID_ARGUMENT, e.code());
        assertTrue(e.getMessage().contains("\"" + text + "\""), e.getMessage());
    }
}
