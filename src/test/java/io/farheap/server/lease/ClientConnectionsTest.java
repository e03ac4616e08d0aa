package io.farheap.server.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.posix.Errno;
import io.farheap.server.budget.LentResource;
import io.farheap.server.fence.RetiredResources;
import io.farheap.testing.Fields;
import io.farheap.verbs.VerbsException;
import java.util.List;
import org.agrona.collections.Long2ObjectHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections that the device does not release when a client asks for the fence. */
class ClientConnectionsTest {

    private static final long ID = 7;

    private final RetiredResources retired = new RetiredResources();
    private final ClientConnections connections =
            new ClientConnections(null, null, null, null, retired, ClientLease::notOpen);
    private RuntimeException failure;
    private int closed;

    @BeforeEach
    @SuppressWarnings("unchecked")
    void add() {
        retired.patienceNanos = 0;
        Long2ObjectHashMap<LentResource> all = Fields.get(connections, "connections", Long2ObjectHashMap.class);
        all.put(ID, new LentResource(this::closeOnce, List.of()));
    }

    @AfterEach
    void close() throws Exception {
        retired.close();
    }

    private void closeOnce() {
        if (failure != null) {
            throw failure;
        }
        closed++;
    }

    private void refused() {
        ControlException e = assertThrows(ControlException.class, () -> connections.disconnect(ID));
        assertEquals(Code.UNAVAILABLE, e.code());
        assertEquals(1, connections.count(), "it is not fenced");
    }

    /** A client then asks again. INTERNAL would stand for a defect, and end what it does, such as opening a session. */
    @Test
    void aConnectionThatDoesNotEndYetIsUnavailableUntilItHasEnded() {
        failure = new VerbsException("ibv_destroy_qp", Errno.EBUSY);
        refused();
        refused();
        failure = new VerbsException("ibv_destroy_qp is broken");
        refused();
        failure = null;
        connections.disconnect(ID);
        assertEquals(1, closed);
        assertEquals(0, connections.count());
        connections.disconnect(ID);
        assertEquals(1, closed);
    }

    /** The end of the lease withdraws the regions of a client that is not fenced: they would be lost for nothing. */
    @Test
    void aConnectionThatHasEndedAtTheSecondRequestIsFenced() {
        failure = new VerbsException("ibv_destroy_qp is broken");
        refused();
        assertTrue(connections.unfenced());
        failure = null;
        connections.disconnect(ID);
        assertFalse(connections.unfenced());
    }
}
