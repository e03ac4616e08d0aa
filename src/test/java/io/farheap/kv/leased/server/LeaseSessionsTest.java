package io.farheap.kv.leased.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.server.contract.ServedSpace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LeaseSessionsTest {

    private static final int REGION = 1 << 20;
    private static final int CHUNK = 16;

    private boolean opened = true;

    /** One process's calls cost a bounded number of places, whatever it names; a session that has ended costs none. */
    @Test
    void theNamesOfCallsAreBounded() {
        LeaseSessions sessions = new LeaseSessions(0);
        int given = 0;
        boolean refused = false;
        for (int number = 0; number < LeasedCalls.MOST_SESSIONS && !refused; number++) {
            for (int place = 0; place < LeasedCalls.MOST_SESSIONS && !refused; place += CHUNK) {
                refused = sessions.of(LeasedCalls.session(number, 1), place) == null;
                given += refused ? 0 : CHUNK;
            }
        }
        assertTrue(refused, "a process may name as many calls as it likes");
        assertEquals(LeaseSessions.MOST_PLACES, given);
        // What has a place keeps it; and the places of a session go to others when a later one has its number.
        assertNotNull(sessions.of(LeasedCalls.session(0, 1), 5));
        assertNull(sessions.of(LeasedCalls.session(LeasedCalls.MOST_SESSIONS - 1, 1), 0));
        assertNotNull(sessions.of(LeasedCalls.session(0, 2), 0));
        assertNotNull(sessions.of(LeasedCalls.session(LeasedCalls.MOST_SESSIONS - 1, 1), 0));
        assertNull(sessions.of(LeasedCalls.session(0, 1), 5), "a later session has its number");
    }

    private ServedShards shards() {
        MemorySegment region = Arena.ofAuto().allocate(REGION, 4096);
        ServedSpace space = (ServedSpace) Proxy.newProxyInstance(
                ServedSpace.class.getClassLoader(), new Class<?>[] {ServedSpace.class}, (proxy, method, arguments) -> {
                    @Nullable Object answer = method.getName().equals("region") ? region : null;
                    return method.getName().equals("openedBy") ? (Object) opened : answer;
                });
        LeasedDescriptor map = new LeasedDescriptor(1, 0, 1, 1, REGION, 1000, 0, 0, 1, new KeyHash(1, 2));
        return new ServedShards(space, map, () -> 0);
    }

    /** A process that opens the map again has other sessions, which no thread takes for the earlier ones. */
    @Test
    void sessionsEndWithTheOpening() {
        ServedShards shards = shards();
        LeaseSessions first = shards.sessions(7);
        assertSame(first, shards.sessions(7));
        assertFalse(first.hasEnded());
        shards.ended(7);
        assertTrue(first.hasEnded());
        assertNotSame(first, shards.sessions(7));
    }

    /** A call that runs while its process ends leaves nothing behind. */
    @Test
    void aCallOfAProcessThatHasEndedLeavesNoSessions() {
        ServedShards shards = shards();
        opened = false;
        shards.ended(7);
        LeaseSessions late = shards.sessions(7);
        assertTrue(late.hasEnded());
        assertNotSame(late, shards.sessions(7));
    }
}
