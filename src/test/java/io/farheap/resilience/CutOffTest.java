package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * More servers are unreachable than a range can do without, while their leases are kept: sessions and spaces can be
 * closed nevertheless, and no slab is given up for that.
 */
@Needs(Need.SOFTVERBS)
class CutOffTest {

    private static final int PAGE = 4096;
    private static final Resilience CODE = Resilience.failureRecovery(2, 2);

    private final CodedServers servers = CodedServers.onDevices(4, 2);
    private final List<RemoteServer> cut = servers.attached.subList(0, 3);
    private final List<Integer> statuses = new ArrayList<>();

    @AfterEach
    void close() {
        heal();
        servers.close();
    }

    private void heal() {
        cut.forEach(server -> servers.faults(server).heal());
    }

    private static byte[] bytes(int seed) {
        byte[] bytes = new byte[PAGE];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    /** Begins a write of the first page, which has posted its splits; those of the servers cut off do not complete. */
    private void beginWrite(CodedSession session, byte[] page) {
        assertEquals(CodedStatus.OK, session.writeBlocking(0, MemorySegment.ofArray(bytes(1)), 0, PAGE));
        cut.forEach(server -> servers.faults(server).cut());
        assertTrue(session.write(0, MemorySegment.ofArray(page), 0, PAGE, (token, status) -> statuses.add(status), 1));
        assertEquals(0, session.held());
    }

    private static int read(CodedSession session, byte[] page) {
        return session.readBlocking(0, MemorySegment.ofArray(page), 0, PAGE);
    }

    @Test
    void aWriteGoesOnWhenItsSessionIsClosed() {
        try (CodedSpace space = servers.space(CODE, PAGE);
                CodedSession other = space.openSession()) {
            space.closeWithin(1);
            byte[] written = bytes(2);
            try (CodedSession session = space.openSession()) {
                beginWrite(session, written);
            }
            assertEquals(List.of(CodedStatus.CLOSED), statuses);
            assertTrue(space.hasUnfinished());
            assertEquals(0, space.health().voidSlabs());
            heal();
            byte[] read = new byte[PAGE];
            assertEquals(CodedStatus.OK, read(other, read));
            assertArrayEquals(written, read);
            CodedServers.await("nothing is unfinished", () -> !space.hasUnfinished());
        }
    }

    /** A cache's session polls like this when it is closed, until no request is pending. */
    @Test
    void aWriteOnItsWayIsCalledBackWhenTheTimeToCloseIsOver() {
        try (CodedSpace space = servers.space(CODE, PAGE);
                CodedSession other = space.openSession()) {
            CodedSession session = space.openSession();
            byte[] written = bytes(3);
            beginWrite(session, written);
            session.abandonUnposted();
            session.poll();
            assertEquals(List.of(), statuses);
            space.closeWithin(1);
            CodedServers.await("the write is called back", () -> {
                session.poll();
                return session.pending() == 0;
            });
            assertEquals(List.of(CodedStatus.CLOSED), statuses);
            assertFalse(space.hasUnfinished());
            session.close();
            assertTrue(space.hasUnfinished());
            heal();
            byte[] read = new byte[PAGE];
            assertEquals(CodedStatus.OK, read(other, read));
            assertArrayEquals(written, read);
        }
    }

    @Test
    void theSpaceIsClosedWhileAWriteGoesOn() {
        try (CodedSpace space = servers.space(CODE, PAGE)) {
            space.closeWithin(1);
            try (CodedSession session = space.openSession()) {
                beginWrite(session, bytes(4));
            }
            assertTrue(space.hasUnfinished());
            space.close();
            assertFalse(space.hasUnfinished());
            for (int server = 0; server < 4; server++) {
                int which = server;
                CodedServers.await("all memory is back", () -> servers.freeRegions(which) == 2);
            }
        }
    }

    /** Sessions that are closed one after another wait together no longer than one session. */
    @Test
    void allSessionsTogetherHaveOneTimeToClose() {
        try (CodedSpace space = servers.space(CODE, PAGE)) {
            CodedSession session = space.openSession();
            beginWrite(session, bytes(5));
            space.closeWithin(1);
            space.beginClosing();
            // A time of the session's own, or a second time for all sessions, would end too late for this test.
            space.closeWithin(Long.MAX_VALUE / 2);
            space.beginClosing();
            session.close();
            assertEquals(List.of(CodedStatus.CLOSED), statuses);
        }
    }
}
