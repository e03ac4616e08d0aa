package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The endpoint that a peer sends is checked before a device gets it. */
class EndpointTest {

    @ParameterizedTest
    @CsvSource({
        "16777216, 0, 0, 16, 5, 16, 16, queue pair number 16777216",
        "-1, 0, 0, 16, 5, 16, 16, queue pair number -1",
        "1, 16777216, 0, 16, 5, 16, 16, packet sequence number 16777216",
        "1, 0, 65536, 16, 5, 16, 16, LID 65536",
        "1, 0, 0, 15, 5, 16, 16, a GID of 15 bytes",
        "1, 0, 0, 16, 0, 16, 16, path MTU code 0",
        "1, 0, 0, 16, 6, 16, 16, path MTU code 6",
        "1, 0, 0, 16, 5, 0, 16, an initiator depth of 0",
        "1, 0, 0, 16, 5, 256, 16, an initiator depth of 256",
        "1, 0, 0, 16, 5, 16, 0, responder resources for 0 READs",
        "1, 0, 0, 16, 5, 16, 256, responder resources for 256 READs",
        "1, 0, 0, 16, 5, 16, -1, responder resources for -1 READs"
    })
    void whatIsNoneIsNamed(
            int queuePair, int sequence, int lid, int gidBytes, int mtu, int initiator, int responder, String message) {
        String said = assertThrows(
                        IllegalArgumentException.class,
                        () -> new Endpoint(queuePair, sequence, lid, new byte[gidBytes], mtu, initiator, responder))
                .getMessage();
        assertTrue(said.startsWith(message), said);
    }

    @Test
    void aListOfGidsHasWholeEntries() {
        String list = "; it has up to 32 entries of 18 bytes";
        refused("a list of GIDs of 17 bytes" + list, 17, 0);
        refused("a list of GIDs of " + 33 * 18 + " bytes" + list, 33 * 18, 0);
        refused("the peer's GID has 16 bytes; an entry has 18, or none if there is no choice", 0, 16);
        GidEntries.endpoint(new byte[16], new byte[32 * 18], new byte[18]);
    }

    private static void refused(String message, int gidsBytes, int peerGidBytes) {
        assertEquals(
                message,
                assertThrows(
                                IllegalArgumentException.class,
                                () -> GidEntries.endpoint(new byte[16], new byte[gidsBytes], new byte[peerGidBytes]))
                        .getMessage());
    }
}
