package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import org.junit.jupiter.api.Test;

class SoftverbsPlaceTest {

    private static final SoftverbsPlace OWN = SoftverbsPlace.own(VerbsLibrary.SOFT);

    private static String refusal(SoftverbsPlace other) {
        return assertThrows(VerbsException.class, () -> OWN.checkReaches(other, "QP 7"))
                .getMessage();
    }

    @Test
    void anotherUserIsNamed() {
        assertNotEquals(0, OWN.host());
        String said = refusal(new SoftverbsPlace(-2, OWN.host()));
        assertTrue(
                said.startsWith(
                        "cannot reach QP 7: softverbs reaches processes of one user, and that is user 4294967294's"),
                said);
        assertTrue(said.contains("this one user " + OWN.user() + "'s; run both as one user"), said);
    }

    @Test
    void anotherNamespaceIsNamed() {
        String said = refusal(new SoftverbsPlace(OWN.user(), OWN.host() + 1));
        assertTrue(said.contains("one pid and one network namespace"), said);
    }

    @Test
    void whatIsNotKnownIsTried() {
        OWN.checkReaches(OWN, "QP 7");
        OWN.checkReaches(SoftverbsPlace.UNKNOWN, "QP 7");
        SoftverbsPlace.UNKNOWN.checkReaches(new SoftverbsPlace(7, 7), "QP 7");
        assertEquals(SoftverbsPlace.UNKNOWN, SoftverbsPlace.own(VerbsLibrary.SYSTEM));
    }

    /** Otherwise the first request would fail with an exceeded retry counter. */
    @Test
    @Needs(Need.SOFTVERBS)
    void aQueuePairIsNotConnectedToWhatItCannotReach() throws Exception {
        try (ConnectedPair pair = ConnectedPair.open(TestDevice.client(), TestDevice.server(), 4096)) {
            Endpoint peer = pair.server.queuePair.endpoint();
            assertEquals(OWN, peer.place());
            Endpoint strangers = new Endpoint(
                    peer.queuePairNumber(),
                    peer.packetSequenceNumber(),
                    peer.lid(),
                    peer.gid(),
                    peer.pathMtu(),
                    peer.initiatorDepth(),
                    peer.responderResources(),
                    OWN.user() + 1,
                    OWN.host(),
                    peer.gids(),
                    peer.peerGid());
            assertTrue(assertThrows(VerbsException.class, () -> pair.client.queuePair.connect(strangers))
                    .getMessage()
                    .startsWith("cannot reach QP "));
            pair.client.queuePair.connect(peer);
        }
    }
}
