package io.farheap.store.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.log.Epochs;
import org.junit.jupiter.api.Test;

class SessionGateTest {

    /** Another session may have the place of a closed session in the epochs, and must stay inside. */
    @Test
    void aCallOfAClosedSessionLeavesTheNextOwnerOfItsPlaceAlone() {
        Epochs epochs = new Epochs();
        SessionGate closed = new SessionGate(epochs);
        closed.close();
        closed.giveBack();
        SessionGate next = new SessionGate(epochs);
        assertEquals(closed.epoch(), next.epoch());
        next.enter();
        assertThrows(IllegalStateException.class, closed::enter);
        assertTrue(next.inside());
        assertThrows(IllegalStateException.class, closed::enterUpdate);
        assertTrue(next.inside());
    }
}
