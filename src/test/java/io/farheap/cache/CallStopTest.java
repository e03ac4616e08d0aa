package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.calls.CallLink;
import io.farheap.cache.calls.CallLinks;
import io.farheap.cache.calls.CallTable;
import io.farheap.cache.calls.SessionCall;
import io.farheap.cache.calls.SessionCalls;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.procedure.Call;
import io.farheap.procedure.CallStatus;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that stop at memory of another server, and are resumed or dropped. */
@Timeout(300)
class CallStopTest {

    private static final long REGION = Cluster.REGION_BYTES;
    /** The most stopped calls of a session. */
    private static final int MOST = 64;

    /** Adds one to the word at each of two addresses. */
    static final class AddToBoth {

        public static int run(Call call) {
            long first = call.getAndAdd(call.argument(0), 1);
            call.result(0, first + call.getAndAdd(call.argument(8), 1));
            return 4;
        }
    }

    /** Records what calls are called back with. */
    private static final class RecordedEnds implements CallCompletion {

        final List<CallResult> all = new ArrayList<>();
        final List<Long> tokens = new ArrayList<>();
        boolean keeps = true;

        @Override
        public void completed(long token, int status, int code, int bytes) {
            throw new AssertionError("the method without the place");
        }

        @Override
        public void completed(long token, int status, int code, int bytes, long address, int line) {
            tokens.add(token);
            all.add(new CallResult(status, code, bytes, address, line));
        }

        @Override
        public boolean stopped(long token, long handle, long address, int line) {
            tokens.add(token);
            all.add(new CallResult(CallStatus.STOPPED, 0, 0, address, line, handle));
            return keeps;
        }

        CallResult last() {
            return all.getLast();
        }
    }

    /** A callback that fails when its call stops. */
    private static final CallCompletion FAILS = new CallCompletion() {
        @Override
        public void completed(long token, int status, int code, int bytes) {}

        @Override
        public boolean stopped(long token, long handle, long address, int line) {
            throw new IllegalCallerException("the callback's");
        }
    };

    private static Cluster cluster(int... regions) {
        return cluster(ServedCode.JAVA, regions);
    }

    private static Cluster cluster(ServedCode served, int... regions) {
        Cluster cluster = new Cluster().serving(served);
        for (int each : regions) {
            cluster.add(each);
        }
        return cluster;
    }

    private static Cache cache(Cluster cluster) {
        return Cache.builder()
                .capacity(2 * REGION)
                .servers(cluster.addresses())
                .name("stops")
                .create();
    }

    private static Procedure sum(Cache cache, int flags) {
        return cache.procedures().register(TestProcedures.SumSince.class, Procedures.READS | flags);
    }

    /** Calls the procedure for a list that begins at 8; it stops at the second node, which is in the other region. */
    private static CallResult stop(Caller caller, Procedure sum) {
        CallResult stopped = caller.call(sum, 8, 8, 0);
        assertEquals(CallStatus.describe(CallStatus.STOPPED), CallStatus.describe(stopped.status()));
        assertEquals(Caller.node(1, 2) + 8, stopped.address());
        return stopped;
    }

    /** Issues a call for that list. */
    private static void begin(Caller caller, Procedure sum, CallCompletion completion) {
        caller.arguments(8, 0);
        assertTrue(caller.session.call(sum, 8, caller.buffer, 0, 16, 64, 8, completion, 0));
    }

    private static CallResult resume(Caller caller, CallResult stopped) {
        return caller.session.resumeBlocking(stopped.handle(), caller.buffer, 64);
    }

    /** Resumes a call until it does not stop any more. */
    private static CallResult resumeToItsEnd(Caller caller, CallResult stopped) {
        CallResult now = stopped;
        while (now.status() == CallStatus.STOPPED) {
            now = resume(caller, now);
        }
        return now;
    }

    private static void assertStatus(int expected, CallResult ended) {
        assertEquals(
                CallStatus.describe(expected),
                ended.describe().split(";|,", 2)[0].trim(),
                ended.describe());
    }

    private static void assertNoHandle(Caller caller, long handle) {
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class,
                () -> caller.session.resume(handle, caller.buffer, 64, (token, status, code, bytes) -> {}, 0));
        assertTrue(refused.getMessage().contains("handle " + handle), refused.getMessage());
        assertThrows(IllegalArgumentException.class, () -> caller.session.resumeBlocking(handle, caller.buffer, 64));
        assertThrows(IllegalArgumentException.class, () -> caller.session.drop(handle));
    }

    /** More crossings than a context may make from server to server before it has to come back to its session. */
    @ParameterizedTest
    @CsvSource({"JAVA,false", "JAVA,true", "OFF,true"})
    void aChainThatCrossesAThousandTimesEndsDone(ServedCode served, boolean stops) {
        int crossings = 1_000;
        try (Cluster cluster = cluster(served, 1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, stops ? Procedures.STOP : Procedures.SESSION);
            long all = caller.list(crossings + 1, 2);
            CallResult now = caller.call(sum, 8, 8, 0);
            for (int i = 1; i <= crossings && stops; i++) {
                assertStatus(CallStatus.STOPPED, now);
                assertEquals(Caller.node(i, 2) + 8, now.address());
                assertEquals(1, caller.session.stopped());
                assertEquals(0, caller.session.pending());
                now = resume(caller, now);
            }
            assertEquals(new CallResult(CallStatus.DONE, 0, 8), now);
            assertEquals(all, caller.result());
            assertEquals(0, caller.session.stopped());
            assertEquals(stops ? crossings : 0, cache.callCounts().ended(CallStatus.STOPPED));
        }
    }

    @Test
    void aHandleIsGoodOnceAndInItsSession() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache);
                Caller other = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            long all = caller.list(2, 2);
            assertNoHandle(caller, CallResult.NO_HANDLE);
            CallResult stopped = stop(caller, sum);
            assertNotEquals(CallResult.NO_HANDLE, stopped.handle());
            assertNoHandle(other, stopped.handle());
            assertNotEquals(stopped.handle(), stop(other, sum).handle());
            assertNoHandle(other, stopped.handle());
            for (long wrong : new long[] {-1, Long.MIN_VALUE, stopped.handle() + 1, stopped.handle() ^ 1L << 40}) {
                assertNoHandle(caller, wrong);
            }
            assertStatus(CallStatus.DONE, resume(caller, stopped));
            assertEquals(all, caller.result());
            assertNoHandle(caller, stopped.handle());

            CallResult dropped = stop(caller, sum);
            assertNotEquals(stopped.handle(), dropped.handle());
            caller.session.drop(dropped.handle());
            assertNoHandle(caller, dropped.handle());
            CallResult next = stop(caller, sum);
            assertNoHandle(caller, dropped.handle());
            assertNoHandle(caller, stopped.handle());
            assertEquals(1, caller.session.stopped());
            assertStatus(CallStatus.DONE, resume(caller, next));
            assertEquals(1, other.session.stopped());
        }
    }

    @Test
    void aRequestThatIsRefusedLeavesTheHandleGood() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            long all = caller.list(2, 2);
            CallResult stopped = stop(caller, sum(cache, Procedures.STOP));
            CallCompletion none = (token, status, code, bytes) -> {};
            Buffer closed = cache.allocate(4096);
            closed.close();
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> caller.session.resume(stopped.handle(), caller.buffer, 8192 - 63, none, 0));
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> caller.session.resume(stopped.handle(), caller.buffer, -1, none, 0));
            assertThrows(
                    IllegalStateException.class, () -> caller.session.resume(stopped.handle(), closed, 0, none, 0));
            assertThrows(
                    NullPointerException.class,
                    () -> caller.session.resume(stopped.handle(), caller.buffer, 0, null, 0));
            assertStatus(CallStatus.DONE, resume(caller, stopped));
            assertEquals(all, caller.result());
        }
    }

    /** Beyond 64 calls of a session a call ends where it comes to the other server, as one without a handle. */
    @Test
    void aCallBeyondTheRoomForStoppedCallsEnds() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            long all = caller.list(2, 2);
            List<CallResult> stopped = new ArrayList<>();
            for (int i = 0; i < MOST; i++) {
                stopped.add(stop(caller, sum));
            }
            assertEquals(
                    MOST, stopped.stream().map(CallResult::handle).distinct().count());
            assertEquals(MOST, caller.session.stopped());
            CallResult beyond = stop(caller, sum);
            assertEquals(CallResult.NO_HANDLE, beyond.handle());
            assertEquals(stopped.getFirst().address(), beyond.address());
            assertEquals(stopped.getFirst().line(), beyond.line());

            caller.session.drop(stopped.removeFirst().handle());
            stopped.add(stop(caller, sum));
            for (CallResult each : stopped) {
                assertNotEquals(CallResult.NO_HANDLE, each.handle());
                assertStatus(CallStatus.DONE, resume(caller, each));
                assertEquals(all, caller.result());
            }
        }
    }

    /** An application that does not ask for the handle, as by a lambda, gets the end, and no call is kept for it. */
    @Test
    void aCallbackThatDoesNotAskForTheHandleGetsTheEnd() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            caller.list(2, 2);
            int[] ended = new int[1];
            for (int i = 0; i < 2 * MOST; i++) {
                begin(caller, sum, (token, status, code, bytes) -> ended[0] = status);
                caller.session.drain();
                assertEquals(CallStatus.STOPPED, ended[0]);
                assertEquals(0, caller.session.stopped());
            }
        }
    }

    @Test
    void aCallbackResumesRefusesAndFails() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            long all = caller.list(7, 2);
            long[] seen = new long[2];
            CallCompletion resumes = new CallCompletion() {
                @Override
                public void completed(long token, int status, int code, int bytes) {
                    seen[0] = 100 + status;
                }

                @Override
                public boolean stopped(long token, long handle, long address, int line) {
                    assertTrue(caller.session.resume(handle, caller.buffer, 64, this, token + 1));
                    seen[1] = token;
                    return false;
                }
            };
            begin(caller, sum, resumes);
            caller.session.drain();
            assertEquals(100 + CallStatus.DONE, seen[0]);
            assertEquals(5, seen[1], "six stops");
            assertEquals(all, caller.result());

            RecordedEnds refuses = new RecordedEnds();
            refuses.keeps = false;
            begin(caller, sum, refuses);
            caller.session.drain();
            assertNoHandle(caller, refuses.last().handle());

            begin(caller, sum, FAILS);
            assertThrows(IllegalCallerException.class, caller.session::drain);
            assertEquals(0, caller.session.pending());
            assertEquals(0, caller.session.stopped());
        }
    }

    /** A stopped call that may write the whole cache is in the way of nothing that its session or its cache does. */
    @Test
    void aStoppedCallIsInTheWayOfNothing() {
        try (Cluster cluster = cluster(1, 1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure both = cache.procedures().register(AddToBoth.class, Procedures.WRITES | Procedures.STOP);
            try (Buffer arguments = cache.allocate(64)) {
                arguments.segment().set(JAVA_LONG, 0, 8);
                arguments.segment().set(JAVA_LONG, 8, REGION + 8);
                CallResult stopped = caller.session.callBlocking(both, 0, arguments, 0, 16, 16, 8);
                assertStatus(CallStatus.STOPPED, stopped);
                assertEquals(1, caller.read(8));
                // Both buffers have lost all that the call has given up.
                arguments.segment().fill((byte) -1);
                arguments.close();
                caller.write(8, 40);
                caller.write(REGION + 8, 50);
                assertEquals(0, caller.session.pending());
                String spare = cluster.addresses().stream()
                        .filter(each -> !each.equals(cache.serverOf(0)) && !each.equals(cache.serverOf(1)))
                        .findFirst()
                        .orElseThrow();
                cache.migrate(1, spare);
                Configurations.change(cache, Configurations.DIRECT);
                cache.reshape(2 * REGION - 1024);
                assertEquals(new CallResult(CallStatus.DONE, 4, 8), resume(caller, stopped));
                assertEquals(50, caller.result(), "the first word before, 0, and the second");
                assertEquals(40, caller.read(8), "the access before the stop is not made again");
                assertEquals(51, caller.read(REGION + 8));
            }
        }
    }

    /** Also if the session makes the accesses, by the device's atomics. */
    @ParameterizedTest
    @EnumSource(
            value = ServedCode.class,
            names = {"JAVA", "OFF"})
    void eachAtomicTakesEffectOnce(ServedCode served) {
        try (Cluster cluster = cluster(served, 1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure both = cache.procedures().register(AddToBoth.class, Procedures.WRITES | Procedures.STOP);
            int calls = 30;
            for (int i = 0; i < calls; i++) {
                CallResult stopped = caller.call(both, 0, 8, REGION + 8);
                assertStatus(CallStatus.STOPPED, stopped);
                assertEquals(REGION + 8, stopped.address());
                if (i % 3 == 2) {
                    caller.session.drop(stopped.handle());
                } else {
                    assertEquals(new CallResult(CallStatus.DONE, 4, 8), resume(caller, stopped));
                }
            }
            assertEquals(calls, caller.read(8));
            assertEquals(calls * 2 / 3, caller.read(REGION + 8));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theRestIsOrderedAsIfItWereIssuedWhenItIsResumed(boolean unordered) {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure both = cache.procedures()
                    .register(
                            AddToBoth.class,
                            Procedures.WRITES | Procedures.STOP | (unordered ? Procedures.UNORDERED : 0));
            CacheSession session = caller.session;
            CallResult stopped = caller.call(both, 0, 8, REGION + 8);
            assertStatus(CallStatus.STOPPED, stopped);
            caller.buffer.segment().set(JAVA_LONG, 1024, 700);
            int[] written = new int[1];
            assertTrue(session.write(REGION + 8, caller.buffer, 1024, 8, (token, status) -> written[0]++, 0));
            RecordedEnds ends = new RecordedEnds();
            // Without a poll the write is in the way.
            assertEquals(unordered, session.resume(stopped.handle(), caller.buffer, 64, ends, 9));
            assertEquals(unordered ? 0 : 1, session.stopped());
            while (!unordered && !session.resume(stopped.handle(), caller.buffer, 64, ends, 9)) {
                session.poll();
            }
            assertEquals(
                    unordered,
                    session.write(REGION + 16, caller.buffer, 1024, 8, (token, status) -> written[0]++, 0),
                    "a request behind the call");
            session.drain();
            assertEquals(new CallResult(CallStatus.DONE, 4, 8), ends.last());
            assertEquals(List.of(9L), ends.tokens);
            if (!unordered) {
                assertEquals(700, caller.result());
                assertEquals(701, caller.read(REGION + 8));
            }
        }
    }

    @Test
    void theFootprintHoldsBehindAStop() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            caller.list(3, 2);
            caller.arguments(8, 0);
            long from = 32;
            assertStatus(
                    CallStatus.OUT_OF_RANGE,
                    caller.session.callBlocking(sum, 8, from, REGION, caller.buffer, 0, 16, 64, 8));
            caller.arguments(Caller.node(1, 2), 0);
            CallResult stopped =
                    caller.session.callBlocking(sum, REGION, 40, Caller.node(1, 2), caller.buffer, 0, 16, 64, 8);
            assertStatus(CallStatus.STOPPED, stopped);
            assertEquals(Caller.node(2, 2) + 8, stopped.address());
            assertStatus(CallStatus.OUT_OF_RANGE, resume(caller, stopped));
        }
    }

    @Test
    void aCallContinuesWhereItsRegionIsByThen() {
        try (Cluster cluster = cluster(1, 1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            long all = caller.list(20, 2);
            CallResult stopped = stop(caller, sum);
            List<String> all3 = cluster.addresses();
            for (int i = 0; stopped.status() == CallStatus.STOPPED; i++) {
                int region = i % 2;
                String spare = all3.stream()
                        .filter(each -> !each.equals(cache.serverOf(0)) && !each.equals(cache.serverOf(1)))
                        .findFirst()
                        .orElseThrow();
                cache.migrate(region, spare);
                stopped = resume(caller, stopped);
            }
            assertStatus(CallStatus.DONE, stopped);
            assertEquals(all, caller.result());
            // The cache leaves the server at which the call has run, and joins the third again.
            CallResult again = stop(caller, sum);
            cache.retire(cache.serverOf(0), moved -> {});
            assertStatus(CallStatus.DONE, resumeToItsEnd(caller, again));
            assertEquals(all, caller.result());
        }
    }

    /** While the region moves it is unknown whether the call stops. */
    @ParameterizedTest
    @EnumSource(
            value = ServedCode.class,
            names = {"JAVA", "OFF"})
    void aCallThatComesToAMovingRegionStopsOnceItHasMoved(ServedCode served) {
        try (Cluster cluster = cluster(served, 1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            long all = caller.list(2, 2);
            CacheProcedures procedures = Fields.get(cache, "procedures", CacheProcedures.class);
            RecordedEnds ends = new RecordedEnds();
            procedures.moving(1, () -> {
                begin(caller, sum, ends);
                long before = cache.callCounts().held();
                while (cache.callCounts().held() == before) {
                    caller.session.poll();
                }
                assertEquals(List.of(), ends.all);
                return true;
            });
            caller.session.drain();
            assertStatus(CallStatus.STOPPED, ends.last());
            assertStatus(CallStatus.DONE, resume(caller, ends.last()));
            assertEquals(all, caller.result());
        }
    }

    @Test
    void aCallWhoseServerIsGoneSaysSo() throws InterruptedException {
        CountDownLatch gone = new CountDownLatch(1);
        try (Cluster cluster = cluster(1)) {
            cluster.add(1, TestDevice.shortLease(1_000_000_000L));
            try (Cache cache = Cache.builder()
                            .capacity(2 * REGION)
                            .servers(cluster.addresses())
                            .onLost((server, why, regions) -> gone.countDown())
                            .create();
                    Caller caller = new Caller(cache)) {
                Procedure sum = sum(cache, Procedures.STOP);
                int dies = cache.serverOf(1).equals(cluster.address(1)) ? 1 : 0;
                long all = caller.list(3, 2);
                // One call stops at memory of the server that will be gone, another has been there.
                CallResult at = dies == 1 ? stop(caller, sum) : resume(caller, stop(caller, sum));
                CallResult past = dies == 1 ? resume(caller, stop(caller, sum)) : stop(caller, sum);
                cluster.stop(1);
                assertTrue(gone.await(TestDevice.patience(60), TimeUnit.SECONDS), "the server is lost");
                assertEquals(2, caller.session.stopped());
                CallResult ended = resume(caller, at);
                assertEquals(CallStatus.INCOMPLETE, ended.status(), ended.describe());
                assertEquals(CallStatus.SERVER_GONE, ended.code(), ended.describe());
                assertEquals(at.address(), ended.address());
                CallResult other = resumeToItsEnd(caller, past);
                if (dies == 1) {
                    assertStatus(CallStatus.DONE, other);
                    assertEquals(all, caller.result());
                } else {
                    assertEquals(CallStatus.INCOMPLETE, other.status(), other.describe());
                }
            }
        }
    }

    /** One that has begun is not refused. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCallWhoseProcedureIsGoneSaysSo(boolean replaced) {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            long all = caller.list(2, 2);
            CallResult stopped = stop(caller, sum);
            cache.procedures().unregister(sum);
            Procedure next = replaced ? sum(cache, Procedures.SESSION) : null;
            RecordedEnds ends = new RecordedEnds();
            assertTrue(caller.session.resume(stopped.handle(), caller.buffer, 64, ends, 5));
            assertEquals(List.of(), ends.all, "no callback outside of a poll");
            caller.session.drain();
            assertEquals(
                    List.of(new CallResult(
                            CallStatus.INCOMPLETE, CallStatus.NO_PROCEDURE, 0, stopped.address(), stopped.line())),
                    ends.all);
            assertNoHandle(caller, stopped.handle());
            if (next != null) {
                assertStatus(CallStatus.DONE, caller.call(next, 8, 8, 0));
                assertEquals(all, caller.result());
            }
        }
    }

    @Test
    void anAddressThatTheCacheHasGivenUpIsOutOfRange() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            caller.list(2, 2);
            CallResult beyond = stop(caller, sum);
            // This list begins in the second region, and comes back to it.
            long head = REGION + 1024;
            caller.write(head, 1024);
            caller.write(1024, head + 24);
            caller.write(head + 24, 0);
            CallResult within = caller.call(sum, head, head, 0);
            assertStatus(CallStatus.STOPPED, within);
            assertEquals(1032, within.address());

            cache.reshape(REGION);
            CallResult ended = resume(caller, beyond);
            assertEquals(new CallResult(CallStatus.OUT_OF_RANGE, 0, 0, beyond.address(), beyond.line()), ended);
            CallResult back = resume(caller, within);
            assertStatus(CallStatus.OUT_OF_RANGE, back);
            assertEquals(head + 32, back.address());
            // No pending call is left that reaches beyond the end.
            cache.reshape(REGION / 2);
            assertEquals(0, caller.session.stopped());
        }
    }

    /** The call's footprint does not have the address that it was sent to, so the cache may become smaller. */
    @Test
    void aCallStopsAfterTheCacheHasGivenUpTheAddressThatItWasSentTo() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            long all = caller.list(3, 1);
            caller.arguments(8, 0);
            CallResult first = caller.session.callBlocking(sum, REGION, 0, REGION, caller.buffer, 0, 16, 64, 8);
            assertStatus(CallStatus.STOPPED, first);
            caller.session.drop(first.handle());
            RecordedEnds ends = new RecordedEnds();
            assertTrue(caller.session.call(sum, REGION, 0, REGION, caller.buffer, 0, 16, 64, 8, ends, 0));
            caller.session.flush();
            cache.reshape(REGION);
            caller.session.drain();
            assertStatus(CallStatus.STOPPED, ends.last());
            assertEquals(first.address(), ends.last().address());
            assertStatus(CallStatus.DONE, resume(caller, ends.last()));
            assertEquals(all, caller.result());
        }
    }

    /** The session has the context that the resumed call was sent with. */
    @Test
    void aReadingCallIsMadeOnceMoreBehindItsStop() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
            long all = caller.list(4, 2);
            CallResult stopped = stop(caller, sum);
            while (stopped.status() == CallStatus.STOPPED) {
                // The session is connected to both servers, so the call is sent at once.
                assertStatus(CallStatus.DONE, caller.call(load, 0, 8));
                assertStatus(CallStatus.DONE, caller.call(load, REGION, REGION + 8));
                RecordedEnds ends = new RecordedEnds();
                assertTrue(caller.session.resume(stopped.handle(), caller.buffer, 64, ends, 0));
                caller.session.flush();
                CallTable table = Fields.get(calls(caller), "calls", CallTable.class);
                SessionCall sent = table.get(0);
                assertEquals(SessionCall.SENT, sent.state);
                CallLinks links = Fields.get(calls(caller), "links", CallLinks.class);
                for (CallLink link : Fields.get(links, "links", CallLink[].class)) {
                    link.lose();
                }
                caller.session.drain();
                // Its place counts the connections that were lost under it until another call takes it.
                assertEquals((byte) 1, Fields.get(sent, "tries", Byte.class));
                stopped = ends.last();
            }
            assertStatus(CallStatus.DONE, stopped);
            assertEquals(all, caller.result());
        }
    }

    private static SessionCalls calls(Caller caller) {
        return caller.session.core().admission.calls().all();
    }

    @Test
    void aSessionThatClosesForgetsItsStoppedCalls() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster)) {
            Procedure sum = sum(cache, Procedures.STOP);
            RecordedEnds ends = new RecordedEnds();
            Caller caller = new Caller(cache);
            caller.list(2, 2);
            for (int i = 0; i < MOST; i++) {
                begin(caller, sum, ends);
                caller.session.drain();
            }
            assertEquals(MOST, caller.session.stopped());
            SessionCalls calls = calls(caller);
            Arena memory = Fields.get(Fields.get(calls, "memory", Object.class), "arena", Arena.class);
            assertTrue(memory.scope().isAlive());
            caller.close();
            assertFalse(memory.scope().isAlive());
            assertEquals(MOST, ends.all.size(), "no callback");
            assertThrows(
                    IllegalStateException.class,
                    () -> caller.session.resume(ends.last().handle(), caller.buffer, 64, ends, 0));
            assertThrows(
                    IllegalStateException.class,
                    () -> caller.session.drop(ends.last().handle()));
            try (Caller other = new Caller(cache)) {
                assertNoHandle(other, ends.last().handle());
            }
        }
    }

    /** It gets no handle, which nothing could use any more. */
    @Test
    void aCallThatStopsWhileItsSessionClosesEnds() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster)) {
            Procedure sum = sum(cache, Procedures.STOP);
            RecordedEnds ends = new RecordedEnds();
            CallResult first;
            try (Caller caller = new Caller(cache)) {
                caller.list(2, 2);
                // It connects the session to the server, so the next call is on its way when the session closes.
                first = stop(caller, sum);
                caller.session.drop(first.handle());
                begin(caller, sum, ends);
            }
            assertEquals(List.of(new CallResult(CallStatus.STOPPED, 0, 0, first.address(), first.line())), ends.all);
        }
    }

    /** The caller gets no handle, so the session keeps no call for it. */
    @Test
    void aBlockingCallThatAnotherCallbackEndsIsForgottenWhenItStops() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            Procedure sum = sum(cache, Procedures.STOP);
            caller.list(2, 2);
            CacheProcedures procedures = Fields.get(cache, "procedures", CacheProcedures.class);
            procedures.moving(1, () -> {
                assertTrue(caller.session.read(
                        0,
                        caller.buffer,
                        1024,
                        8,
                        (token, status) -> {
                            throw new IllegalCallerException("the callback's");
                        },
                        0));
                // The call waits for the region until this returns.
                assertThrows(IllegalCallerException.class, () -> caller.call(sum, 8, 8, 0));
                return true;
            });
            long before = cache.callCounts().ended(CallStatus.STOPPED);
            caller.session.drain();
            assertEquals(before + 1, cache.callCounts().ended(CallStatus.STOPPED));
            assertEquals(0, caller.session.stopped());
        }
    }

    /** It has stopped, and in the same poll the callback of a call in a later place fails. */
    @Test
    void aBlockingCallThatAnotherCallbackEndsIsForgottenAfterItsStop() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache)) {
            CacheSession session = caller.session;
            Procedure sum = sum(cache, Procedures.STOP);
            Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
            caller.list(2, 2);
            CacheProcedures procedures = Fields.get(cache, "procedures", CacheProcedures.class);
            procedures.moving(1, () -> {
                long before = cache.callCounts().held();
                // Calls follow one another in the first place until two others have come to the region that moves.
                CallCompletion looks = new CallCompletion() {
                    @Override
                    public void completed(long token, int status, int code, int bytes) {
                        if (cache.callCounts().held() >= before + 2) {
                            endMove(procedures);
                        } else {
                            assertTrue(session.call(load, 0, caller.buffer, 1024, 8, 1032, 8, this, 0));
                        }
                    }
                };
                caller.buffer.segment().set(JAVA_LONG, 1024, 8);
                assertTrue(session.call(load, 0, caller.buffer, 1024, 8, 1032, 8, looks, 0));
                // This call leaves the second place to the blocking call, before that of the call whose callback fails.
                int[] loaded = new int[1];
                assertTrue(session.call(
                        load, 0, caller.buffer, 1024, 8, 1032, 8, (token, status, code, bytes) -> loaded[0]++, 0));
                begin(caller, sum, FAILS);
                while (loaded[0] == 0 || cache.callCounts().held() == before) {
                    session.poll();
                }
                long stops = cache.callCounts().ended(CallStatus.STOPPED);
                assertThrows(IllegalCallerException.class, () -> caller.call(sum, 8, 8, 0));
                assertEquals(stops + 2, cache.callCounts().ended(CallStatus.STOPPED));
                return true;
            });
            assertEquals(0, session.stopped());
            assertEquals(0, session.pending());
        }
    }

    /** Sessions see from now on that no region moves. */
    private static void endMove(CacheProcedures procedures) {
        try {
            Fields.field(procedures, "moving").set(procedures, -1);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void futuresResumeAndDrop() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache);
                FutureCacheSession futures = cache.openFutureSession()) {
            Procedure sum = sum(cache, Procedures.STOP);
            long all = caller.list(3, 2);
            MemorySegment arguments = MemorySegment.ofArray(new long[] {8, 0});
            long[] result = new long[1];
            MemorySegment room = MemorySegment.ofArray(result);
            CallResult now = futures.call(sum, 8, arguments, room).join();
            long first = now.handle();
            while (now.status() == CallStatus.STOPPED) {
                now = futures.resume(now.handle(), room).join();
            }
            assertEquals(new CallResult(CallStatus.DONE, 0, 8), now);
            assertEquals(all, result[0]);
            assertFails(() -> futures.resume(first, room).join());
            assertFails(() -> futures.drop(first).join());

            long second = futures.call(sum, 8, arguments, room).join().handle();
            assertFails(() ->
                    futures.resume(second, MemorySegment.ofArray(new int[1])).join());
            futures.drop(second).join();
            assertFails(() -> futures.resume(second, room).join());
        }
    }

    /** The application does not get the handle, so the session keeps no call for it. */
    @Test
    void aCancelledFutureForgetsItsCallWhenItStops() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster);
                Caller caller = new Caller(cache);
                FutureCacheSession futures = cache.openFutureSession()) {
            Procedure sum = sum(cache, Procedures.STOP);
            caller.list(2, 2);
            MemorySegment arguments = MemorySegment.ofArray(new long[] {8, 0});
            MemorySegment room = MemorySegment.ofArray(new long[1]);
            CacheProcedures procedures = Fields.get(cache, "procedures", CacheProcedures.class);
            procedures.moving(1, () -> {
                CompletableFuture<CallResult> cancelled = futures.call(sum, 8, arguments, room);
                await(() -> cache.callCounts().held() > 0);
                return cancelled.cancel(false);
            });
            await(() -> cache.callCounts().ended(CallStatus.STOPPED) > 0);
            // The session handles this request when the callback of the stop has returned.
            futures.read(0, room).join();
            CacheSession session = Fields.get(futures, "session", CacheSession.class);
            assertEquals(0, session.core().admission.calls().stopped());
        }
    }

    /** Waits for a condition, at most until the test's time limit. */
    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            assertFalse(Thread.interrupted(), "what is waited for does not happen");
            Thread.onSpinWait();
        }
    }

    private static void assertFails(Runnable wrong) {
        CompletionException thrown = assertThrows(CompletionException.class, wrong::run);
        assertInstanceOf(IllegalArgumentException.class, thrown.getCause());
    }

    @Test
    void aProcedureHasOneMode() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster)) {
            IllegalArgumentException refused = assertThrows(
                    IllegalArgumentException.class, () -> sum(cache, Procedures.STOP | Procedures.SESSION));
            assertTrue(refused.getMessage().contains("one of SESSION and STOP"), refused.getMessage());
            assertEquals(List.of(), cache.procedures().all());
        }
    }
}
