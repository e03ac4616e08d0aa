package io.farheap.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException.Code;
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
