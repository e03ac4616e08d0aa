package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.blocks.Mailbox;
import io.farheap.kv.format.MapCalls;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Segments that a session has received and has not begun to use yet. */
class SegmentsAheadTest {

    private static final long REGION_BYTES = 64 << 20;
    /** A segment has four blocks for such values, so segments are used up before others come. */
    private static final int VALUE_BYTES = 15_000;

    private static final int KEYS = 1000;

    @Test
    void allOfThemAreAccountedFor() {
        try (TestSpace space = new TestSpace(1, 1, REGION_BYTES, KEYS);
                MapSession session = space.map.openSession()) {
            Mailbox mailbox = Fields.get(session.requests(), "mailbox", Mailbox.class);
            long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
            int number = 0;
            while (!(mailbox.hasAhead() && mailbox.given(MapCalls.SEGMENT) && mailbox.givenCount() > 2)) {
                assertTrue(System.nanoTime() - deadline < 0, "it gets one at a time");
                byte[] key = ByteBuffer.allocate(4).putInt(number++ % KEYS).array();
                session.set(key, new byte[VALUE_BYTES]);
            }
            MapAudit audit = space.map.audit();
            assertTrue(audit.quiet() && audit.sound(), audit::toString);
            // No session has given a block back, so a block in a pool would have been taken from this session.
            assertEquals(0, audit.lost() + audit.pooled(), audit::toString);
            session.requests().giveAllBack();
            Audit.of(space, List.of(session));
        }
    }
}
