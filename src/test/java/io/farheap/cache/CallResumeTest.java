package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.calls.CallLinks;
import io.farheap.cache.calls.SessionCalls;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.procedure.CallStatus;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Fields;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stopped calls that cannot be resumed yet: each keeps its handle, which is good later. */
@Timeout(300)
class CallResumeTest {

    private static final long REGION = Cluster.REGION_BYTES;

    private final Cluster cluster = new Cluster().serving(ServedCode.JAVA);
    private Cache cache;
    private Caller caller;
    private CacheSession session;
    private CacheProcedures procedures;
    /** The sum of the amounts of the list at 8, whose second node is in the second region. */
    private long all;

    @BeforeEach
    void create() {
        for (int server = 0; server < 3; server++) {
            cluster.add(1);
        }
        cache = Cache.builder()
                .capacity(3 * REGION)
                .servers(cluster.addresses())
                .name("resumes")
                .create();
        procedures = Fields.get(cache, "procedures", CacheProcedures.class);
        caller = new Caller(cache);
        session = caller.session;
        all = caller.list(2, 2);
    }

    @AfterEach
    void close() {
        caller.close();
        cache.close();
        cluster.close();
    }

    /** Records the tokens and statuses of calls that end. */
    private static final class OrderedEnds implements CallCompletion {

        final List<Long> tokens = new ArrayList<>();
        final List<Integer> statuses = new ArrayList<>();

        @Override
        public void completed(long token, int status, int code, int bytes) {
            tokens.add(token);
            statuses.add(status);
        }
    }

    private Procedure sum(int flags) {
        return cache.procedures().register(TestProcedures.SumSince.class, Procedures.READS | Procedures.STOP | flags);
    }

    private Procedure load() {
        return cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
    }

    private Procedure store() {
        return cache.procedures().register(TestProcedures.Store.class, Procedures.WRITES);
    }

    private CallResult stop(Procedure procedure) {
        CallResult stopped = caller.call(procedure, 8, 8, 0);
        assertEquals(CallStatus.describe(CallStatus.STOPPED), CallStatus.describe(stopped.status()));
        assertEquals(1, session.stopped());
        return stopped;
    }

    private boolean resume(CallResult stopped, CallCompletion ends) {
        return session.resume(stopped.handle(), caller.buffer, 64, ends, 9);
    }

    private boolean loads(Procedure load, CallCompletion ends) {
        return session.call(load, REGION, caller.buffer, 0, 8, 64, 8, ends, 0);
    }

    /** The handle is good: the call ends as it would have. */
    private void assertResumes(CallResult stopped) {
        assertEquals(1, session.stopped());
        OrderedEnds ends = new OrderedEnds();
        while (!resume(stopped, ends)) {
            session.poll();
        }
        assertEquals(0, session.stopped());
        session.drain();
        assertEquals(List.of(CallStatus.DONE), ends.statuses);
        assertEquals(List.of(9L), ends.tokens);
        assertEquals(all, caller.result());
    }

    @Test
    void untilThereIsRoomOnTheWayToTheServer() {
        CallResult stopped = stop(sum(0));
        Procedure load = load();
        // The session is connected to the server, and does not poll while the connection becomes full.
        assertEquals(CallStatus.DONE, caller.call(load, REGION, REGION + 8).status());
        OrderedEnds ends = new OrderedEnds();
        int made = 0;
        while (loads(load, ends)) {
            made++;
        }
        assertTrue(made < SessionCalls.MOST, made + " calls were made, as many as a session may have");
        assertFalse(resume(stopped, ends));
        assertEquals(made, session.pending());
        session.drain();
        assertEquals(made, ends.tokens.size());
        assertResumes(stopped);
    }

    @Test
    void untilTheSessionHasRoomForACall() {
        CallResult stopped = stop(sum(0));
        Procedure load = load();
        caller.arguments(REGION + 8);
        OrderedEnds ends = new OrderedEnds();
        procedures.moving(1, () -> {
            for (int i = 0; i < SessionCalls.MOST; i++) {
                assertTrue(loads(load, ends));
            }
            assertFalse(resume(stopped, ends));
            return true;
        });
        assertEquals(SessionCalls.MOST, session.pending());
        session.drain();
        assertEquals(SessionCalls.MOST, ends.tokens.size());
        assertResumes(stopped);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void untilACallHasEndedThatItsFootprintOverlaps(boolean unordered) {
        CallResult stopped = stop(sum(unordered ? Procedures.UNORDERED : 0));
        Procedure store = store();
        OrderedEnds ends = new OrderedEnds();
        procedures.moving(1, () -> {
            caller.arguments(REGION + 1024, 5);
            assertTrue(session.call(store, REGION, caller.buffer, 0, 16, 64, 0, ends, 1));
            assertEquals(unordered, resume(stopped, ends));
            assertEquals(unordered ? 0 : 1, session.stopped());
            assertEquals(unordered ? 2 : 1, session.pending());
            return true;
        });
        session.drain();
        assertEquals(unordered ? 2 : 1, ends.tokens.size());
        if (!unordered) {
            assertResumes(stopped);
        }
        assertEquals(5, caller.read(REGION + 1024));
    }

    /** A callback that cannot resume the call keeps its handle by returning true, and forgets it by returning false. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void afterACallbackThatCouldNotResumeIt(boolean keeps) {
        Procedure sum = sum(0);
        Procedure store = store();
        long[] handle = new long[1];
        OrderedEnds stored = new OrderedEnds();
        CallCompletion stops = new CallCompletion() {
            @Override
            public void completed(long token, int status, int code, int bytes) {
                throw new AssertionError("the call ended: " + CallStatus.describe(status));
            }

            @Override
            public boolean stopped(long token, long its, long address, int line) {
                handle[0] = its;
                // The region moves, so this call is in the way; its footprint is the whole cache.
                caller.arguments(2 * REGION + 8, 5);
                assertTrue(session.call(store, 2 * REGION, caller.buffer, 0, 16, 64, 0, stored, 1));
                assertFalse(session.resume(its, caller.buffer, 64, this, token));
                return keeps;
            }
        };
        procedures.moving(2, () -> {
            caller.arguments(8, 0);
            assertTrue(session.call(sum, 8, caller.buffer, 0, 16, 64, 8, stops, 0));
            while (handle[0] == CallResult.NO_HANDLE) {
                session.poll();
            }
            return true;
        });
        assertEquals(keeps ? 1 : 0, session.stopped());
        session.drain();
        assertEquals(List.of(CallStatus.DONE), stored.statuses);
        if (keeps) {
            assertResumes(new CallResult(CallStatus.STOPPED, 0, 0, REGION + 16, 0, handle[0]));
        } else {
            assertThrows(IllegalArgumentException.class, () -> session.resume(handle[0], caller.buffer, 64, stored, 9));
        }
    }

    /** The call is not taken as well: its rest would run twice. */
    @Test
    void afterAnException() throws IllegalAccessException {
        Procedure both = cache.procedures().register(CallStopTest.AddToBoth.class, Procedures.WRITES | Procedures.STOP);
        CallResult stopped = caller.call(both, 0, 1024, REGION + 1024);
        assertEquals(CallStatus.STOPPED, stopped.status());
        CallLinks links = Fields.get(session.core().admission.calls().all(), "links", CallLinks.class);
        Field array = Fields.field(links, "links");
        Object before = array.get(links);
        OrderedEnds ends = new OrderedEnds();
        array.set(links, null);
        try {
            assertThrows(NullPointerException.class, () -> resume(stopped, ends));
        } finally {
            array.set(links, before);
        }
        assertEquals(0, session.pending());
        assertEquals(1, session.stopped());
        CallResult ended = session.resumeBlocking(stopped.handle(), caller.buffer, 64);
        assertEquals(new CallResult(CallStatus.DONE, 4, 8), ended);
        assertEquals(List.of(), ends.tokens);
        assertEquals(1, caller.read(1024));
        assertEquals(1, caller.read(REGION + 1024));
    }
}
