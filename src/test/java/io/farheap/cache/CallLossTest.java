package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.calls.CallHost;
import io.farheap.cache.calls.CallLink;
import io.farheap.cache.calls.CallLinks;
import io.farheap.cache.calls.CallTable;
import io.farheap.cache.calls.LocalCalls;
import io.farheap.cache.calls.SessionCall;
import io.farheap.cache.calls.SessionCalls;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.memory.NativeMemory;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.remote.queue.RpcLane;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Fields;
import io.farheap.testing.PlaneProxy;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The outcomes of calls whose connection fails while a server has them, and of calls to a server that is full. */
@Timeout(300)
class CallLossTest {

    private static final long REGION = Cluster.REGION_BYTES;
    /** The most calls that a session has on their way to a server. */
    private static final int CALLS = 64;

    private static Cache cache(Cluster cluster, int regions) {
        return Cache.builder()
                .capacity(regions * REGION)
                .servers(cluster.addresses())
                .name("losses")
                .create();
    }

    private static Cluster cluster(int... regions) {
        Cluster cluster = new Cluster().serving(ServedCode.JAVA).threads(1);
        for (int each : regions) {
            cluster.add(each);
        }
        return cluster;
    }

    private static long counter(Cluster cluster, int server, String name) {
        return cluster.status(server).counters().get("procedures." + name);
    }

    /** Calls {@code SpinThenAdd}; the arguments of each call are behind those of the call before in the buffer. */
    private static void spinThenAdd(
            Caller caller, Procedure procedure, long address, int index, long turns, CallCompletion done) {
        int at = 1024 + index * 32;
        caller.buffer.segment().set(JAVA_LONG, at, address);
        caller.buffer.segment().set(JAVA_LONG, at + 8, turns);
        caller.buffer.segment().set(JAVA_LONG, at + 16, 1);
        while (!caller.session.call(procedure, address, address, 8, caller.buffer, at, 24, at + 24, 8, done, index)) {
            caller.session.awaitProgress();
        }
    }

    /** Waits for a condition, at most until the test's time limit. */
    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            assertFalse(Thread.interrupted(), "what is waited for does not happen");
        }
    }

    private static CallLink[] links(CacheSession session) {
        CallLinks links = Fields.get(session.core().admission.calls().all(), "links", CallLinks.class);
        return Fields.get(links, "links", CallLink[].class);
    }

    /** Makes the client's ends of a session's call rings fail. */
    private static void fail(CacheSession session) {
        boolean entered = session.core().admission.enter();
        try {
            for (CallLink link : links(session)) {
                link.lose();
            }
        } finally {
            session.core().admission.exit(entered);
        }
    }

    /** The store of a lost call does not take effect after a store that comes after the loss. */
    @Test
    void aCallIsLostWhenItCanRunNoMore() {
        long turns = 500_000;
        try (Cluster cluster = cluster(1);
                Cache cache = cache(cluster, 1);
                Caller caller = new Caller(cache);
                Caller other = new Caller(cache)) {
            Procedure add = cache.procedures().register(TestProcedures.SpinThenAdd.class, Procedures.WRITES);
            int[] lost = new int[1];
            for (int i = 0; i < CALLS; i++) {
                spinThenAdd(caller, add, 8L * i, i, turns, (token, status, code, bytes) -> {
                    assertTrue(status == CallStatus.LOST || status == CallStatus.DONE, "status " + status);
                    lost[0] += status == CallStatus.LOST ? 1 : 0;
                });
            }
            await(() -> {
                caller.session.flush();
                caller.session.poll();
                return counter(cluster, 0, "put off") >= CALLS;
            });
            fail(caller.session);
            caller.session.drain();
            assertTrue(lost[0] > 0, "none was lost");
            for (int i = 0; i < CALLS; i++) {
                other.write(8L * i, 100);
            }
            // This call takes as long as the lost ones, and begins later, so they would end before it.
            assertEquals(
                    CallStatus.DONE,
                    other.call(add, 8 * CALLS, 8 * CALLS, turns, 1).status());
            for (int i = 0; i < CALLS; i++) {
                assertEquals(100, other.read(8L * i), "word " + i);
            }
            // The session continues on new rings.
            assertEquals(CallStatus.DONE, caller.call(add, 0, 0, 1, 1).status());
            assertEquals(100, caller.result());
        }
    }

    /** The call was never sent: it is kept while its server may answer, and does not wait for ever. */
    @ParameterizedTest
    @CsvSource({"1, UNAVAILABLE, DONE", "2, OUT_OF_MEMORY, DONE", "1000000, OUT_OF_MEMORY, UNREACHABLE"})
    void aCallIsKeptWhileItsServerRefusesAFewTimes(int refusals, Code how, String ends) {
        AtomicInteger left = new AtomicInteger();
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA).threads(1)) {
            cluster.behind(server -> PlaneProxy.around(server, (method, arguments, rest) -> {
                        if (method.equals("connectRing") && left.getAndDecrement() > 0) {
                            throw new ControlException(how, "not now");
                        }
                        return rest.call();
                    }))
                    .add(1);
            try (Cache cache = cache(cluster, 1);
                    Caller caller = new Caller(cache)) {
                Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
                left.set(refusals);
                CallResult ended = caller.call(load, 0, 8);
                if (ends.equals("DONE")) {
                    assertEquals(CallStatus.DONE, ended.status());
                } else {
                    assertEquals(CallStatus.UNREACHABLE, ended.status());
                    assertEquals(CallStatus.NO_CONNECTION, ended.code());
                }
            }
        }
    }

    /** The attempts that failed belong to a call that has ended: the server may be there again. */
    @Test
    void aCallIsKeptAlthoughItsServerWasUnreachableLongAgo() throws IllegalAccessException {
        AtomicInteger left = new AtomicInteger();
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA).threads(1)) {
            cluster.behind(server -> PlaneProxy.around(server, (method, arguments, rest) -> {
                        if (method.equals("connectRing") && left.getAndDecrement() > 0) {
                            throw new ControlException(Code.UNAVAILABLE, "not now");
                        }
                        return rest.call();
                    }))
                    .add(1);
            try (Cache cache = cache(cluster, 1);
                    Caller caller = new Caller(cache)) {
                Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
                left.set(1_000_000);
                assertEquals(CallStatus.UNREACHABLE, caller.call(load, 0, 8).status());
                CallLink link = links(caller.session)[0];
                await(() -> Fields.get(link, "unreachable", Boolean.class));
                left.set(0);
                Fields.field(link, "failedAt").set(link, System.nanoTime() - 60_000_000_000L);
                assertEquals(CallStatus.DONE, caller.call(load, 0, 8).status());
            }
        }
    }

    /** The call's answer has begun to arrive, and is never complete. */
    @Test
    void aReadingCallThatWasUnderWayIsRepeated() {
        try (Cluster cluster = cluster(2, 2);
                Cache cache = cache(cluster, 4);
                Caller caller = new Caller(cache)) {
            Procedure sum = cache.procedures().register(TestProcedures.SumSince.class, Procedures.READS);
            long all = caller.list(40, 4);
            caller.call(sum, 8, 8, 0);
            caller.buffer.segment().set(JAVA_LONG, 64, -1);
            caller.arguments(8, 0);
            int[] ended = {-1};
            CallCompletion done = (token, status, code, bytes) -> ended[0] = status;
            while (!caller.session.call(sum, 8, caller.buffer, 0, 16, 64, 8, done, 0)) {
                caller.session.awaitProgress();
            }
            boolean torn = false;
            while (ended[0] < 0) {
                assertFalse(Thread.interrupted(), "it does not end");
                caller.session.poll();
                torn = torn || tear(caller.session);
            }
            assertTrue(torn, "it has not moved from one server to another");
            assertEquals(CallStatus.DONE, ended[0]);
            assertEquals(all, caller.result());
        }
    }

    /** If a call is on its way that has begun elsewhere, writes a part of its answer and makes the connection fail. */
    private static boolean tear(CacheSession session) {
        SessionCalls calls = session.core().admission.calls().all();
        boolean moved = false;
        for (int place = 0; place < SessionCalls.MOST; place++) {
            SessionCall call = Fields.get(calls, "calls", CallTable.class).get(place);
            moved |= call.state == SessionCall.SENT && call.contextBytes > 0;
        }
        if (!moved) {
            return false;
        }
        for (CallLink link : links(session)) {
            RpcLane lane = Fields.get(link, "lane", RpcLane.class);
            Object[] users = Fields.get(lane, "users", Object[].class);
            Object entries = Fields.get(Fields.get(link, "connection", BatchConnection.class), "entries", Object.class);
            long[] answers = Fields.get(entries, "locals", long[].class);
            for (int entry = 0; entry < users.length; entry++) {
                for (int at = 0; users[entry] != null && at < CallFormat.RECORD_BYTES; at += 8) {
                    NativeMemory.ALL.set(JAVA_LONG, answers[entry] + at, -1);
                }
            }
        }
        fail(session);
        return true;
    }

    /** Its server has answered that the call has left it, with more than the context that a message has room for. */
    @Test
    void aCallWithTooLongAContextIsLost() {
        try (Cluster cluster = cluster(1);
                Cache cache = cache(cluster, 1);
                Caller caller = new Caller(cache)) {
            Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
            CacheProcedures procedures = Fields.get(cache, "procedures", CacheProcedures.class);
            int[] ended = {-1};
            // The region moves, so that the call is in its place, the first, and no server answers it.
            procedures.moving(0, () -> {
                caller.arguments(8);
                assertTrue(caller.session.call(
                        load, 0, caller.buffer, 0, 8, 64, 8, (token, status, code, bytes) -> ended[0] = status, 0));
                answer(caller.session, 8, CallFormat.RECORD_BYTES);
                return true;
            });
            assertEquals(CallStatus.LOST, ended[0]);
            assertEquals(CallStatus.DONE, caller.call(load, 0, 8).status());
        }
    }

    /** Hands the session an answer of a server to the call in its first place: that it has left for an address. */
    private static void answer(CacheSession session, long address, int bytes) {
        SessionCalls calls = session.core().admission.calls().all();
        Object memory = Fields.get(calls, "memory", Object.class);
        MemorySegment answer = Fields.get(memory, "first", MemorySegment.class);
        answer.set(JAVA_INT, 0, CallFormat.LEFT);
        answer.set(JAVA_INT, 4, 0);
        answer.set(JAVA_LONG, 8, address);
        boolean entered = session.core().admission.enter();
        try {
            Fields.get(calls, "handler", ReplyHandler.class).completed(0, Outcome.DONE, bytes);
        } finally {
            session.core().admission.exit(entered);
        }
    }

    /** The session has not looked for the call's answer when the cache leaves the server. */
    @Test
    void aReadingCallToAServerThatIsRetiredIsRepeated() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster, 1);
                Caller caller = new Caller(cache)) {
            Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
            caller.write(8, 4711);
            assertEquals(CallStatus.DONE, caller.call(load, 0, 8).status());
            String server = cache.serverOf(0);
            int index = cluster.addresses().indexOf(server);
            caller.arguments(8);
            caller.buffer.segment().set(JAVA_LONG, 64, 0);
            long done = counter(cluster, index, "calls.done");
            int[] ended = {-1};
            assertTrue(caller.session.call(
                    load, 0, caller.buffer, 0, 8, 64, 8, (token, status, code, bytes) -> ended[0] = status, 0));
            caller.session.flush();
            await(() -> counter(cluster, index, "calls.done") > done);
            cache.retire(server, moved -> {});
            await(() -> {
                caller.session.poll();
                return ended[0] >= 0;
            });
            assertEquals(CallStatus.DONE, ended[0]);
            assertEquals(4711, caller.result());
        }
    }

    /**
     * The cache leaves the server before the session has looked for the answers: of one call that has ended, and of
     * others that come back, since their region has moved. The session does not poll meanwhile.
     */
    @Test
    void writingCallsToAServerThatIsRetiredContinue() {
        int most = 8;
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster, 1);
                Caller caller = new Caller(cache)) {
            Procedure add = cache.procedures()
                    .register(TestProcedures.SpinThenAdd.class, Procedures.WRITES | Procedures.UNORDERED);
            caller.write(8, 4000);
            assertEquals(3, caller.call(add, 0, 8, 1, 700).code());
            String server = cache.serverOf(0);
            int index = cluster.addresses().indexOf(server);
            long done = counter(cluster, index, "calls.done");
            List<Integer> ended = new ArrayList<>();
            CallCompletion completion = (token, status, code, bytes) -> ended.add(status);
            spinThenAdd(caller, add, 8, 0, 1, completion);
            for (int i = 1; i < most; i++) {
                spinThenAdd(caller, add, 8, i, 50_000, completion);
            }
            caller.session.flush();
            await(() -> counter(cluster, index, "calls.done") > done);
            cache.retire(server, moved -> {});
            caller.session.drain();
            assertEquals(Collections.nCopies(most, CallStatus.DONE), ended);
            assertEquals(4700 + most, caller.read(8));
        }
    }

    /**
     * Long calls have kept all places of some batches, and all of them have ended when the session looks for the first
     * time after that: it takes also the answers to the batches that it had to send without calls.
     */
    @Test
    void aSessionGoesOnAfterManyLongCalls() {
        int most = 80;
        try (Cluster cluster = cluster(1);
                Cache cache = cache(cluster, 1);
                Caller caller = new Caller(cache)) {
            Procedure add = cache.procedures()
                    .register(TestProcedures.SpinThenAdd.class, Procedures.WRITES | Procedures.UNORDERED);
            Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
            caller.call(add, 0, 0, 1, 1);
            int[] ended = new int[1];
            CallCompletion done = (token, status, code, bytes) -> {
                assertEquals(CallStatus.DONE, status);
                ended[0]++;
            };
            for (int round = 0; round < 3; round++) {
                ended[0] = 0;
                long before = counter(cluster, 0, "calls.done");
                long putOff = counter(cluster, 0, "put off");
                for (int i = 0; i < most; i++) {
                    spinThenAdd(caller, add, 8, i, 500_000, done);
                }
                await(() -> {
                    caller.session.flush();
                    caller.session.poll();
                    return counter(cluster, 0, "put off") >= putOff + most;
                });
                assertEquals(CallStatus.DONE, caller.call(load, 0, 8).status());
                await(() -> counter(cluster, 0, "calls.done") > before + most);
                boolean[] made = new boolean[1];
                await(() -> {
                    made[0] = made[0] || caller.session.call(load, 0, caller.buffer, 0, 8, 64, 8, done, 0);
                    caller.session.poll();
                    return ended[0] == most + 1;
                });
            }
        }
    }

    /** A call that waits in the batch that is sent next when the cache leaves the server: no server has seen it. */
    @Test
    void aCallThatWasNotSentIsKeptIfItsServerIsRetired() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster, 1);
                Caller caller = new Caller(cache)) {
            Procedure add = cache.procedures().register(TestProcedures.Add.class, Procedures.WRITES);
            caller.write(8, 4000);
            assertEquals(1, caller.call(add, 0, 8, 700).code());
            caller.arguments(8, 11);
            List<Integer> ended = new ArrayList<>();
            assertTrue(caller.session.call(
                    add, 0, caller.buffer, 0, 16, 64, 8, (token, status, code, bytes) -> ended.add(status), 0));
            cache.retire(cache.serverOf(0), moved -> {});
            caller.session.drain();
            assertEquals(List.of(CallStatus.DONE), ended);
            assertEquals(4711, caller.read(8));
        }
    }

    /** A server that has the most calls of a lease refuses no call that has begun elsewhere, but takes it later. */
    @Test
    void aCallThatHasBegunIsNotRefused() {
        int sessions = 20;
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster, 2);
                Caller mover = new Caller(cache)) {
            Procedure add = cache.procedures()
                    .register(TestProcedures.SpinThenAdd.class, Procedures.WRITES | Procedures.UNORDERED);
            Procedure sum = cache.procedures().register(TestProcedures.SumSince.class, Procedures.READS);
            long all = mover.list(2, 2);
            assertEquals(CallStatus.DONE, mover.call(sum, 8, 8, 0).status());
            int[] refused = new int[1];
            List<Caller> callers = new ArrayList<>();
            try {
                for (int i = 0; i < sessions; i++) {
                    callers.add(new Caller(cache));
                    callers.get(i).call(add, REGION + 2048, REGION + 2048, 1, 1);
                }
                for (Caller caller : callers) {
                    for (int j = 0; j < CALLS; j++) {
                        spinThenAdd(caller, add, REGION + 4096, j, 100_000, (token, status, code, bytes) -> {
                            refused[0] += status == CallStatus.REFUSED ? 1 : 0;
                        });
                    }
                    caller.session.flush();
                }
                await(() -> counter(cluster, 1, "calls.refused") > 0);
                int[] ended = {-1};
                CallCompletion done = (token, status, code, bytes) -> ended[0] = status;
                mover.arguments(8, 0);
                assertTrue(mover.session.call(sum, 8, mover.buffer, 0, 16, 64, 8, done, 0));
                // As if it had been refused for long.
                setRefusals(mover.session, (1 << 20) - 1);
                await(() -> {
                    mover.session.flush();
                    mover.session.poll();
                    return ended[0] >= 0;
                });
                assertEquals(CallStatus.describe(CallStatus.DONE), CallStatus.describe(ended[0]));
                assertEquals(all, mover.result());
                callers.forEach(caller -> caller.session.drain());
                assertEquals(sessions * CALLS - refused[0], mover.read(REGION + 4096), "what was not refused has run");
                assertTrue(refused[0] > 0, "none was refused");
            } finally {
                callers.forEach(Caller::close);
            }
        }
    }

    /** Sets how often a server has refused each call of a session. */
    private static void setRefusals(CacheSession session, int refusals) {
        CallTable calls = Fields.get(session.core().admission.calls().all(), "calls", CallTable.class);
        try {
            for (int place = 0; place < SessionCalls.MOST; place++) {
                SessionCall call = calls.get(place);
                Fields.field(call, "refusals").set(call, refusals);
            }
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    /** It has run at one server, and another does not run it; memory for it here may come. */
    @Test
    void aCallThatHasBegunWaitsForMemoryOfTheClient() throws IllegalAccessException {
        try (Cluster cluster = cluster(1)) {
            cluster.serving(ServedCode.OFF).add(1);
            try (Cache cache = cache(cluster, 2);
                    Caller caller = new Caller(cache)) {
                Procedure sum = cache.procedures().register(TestProcedures.SumSince.class, Procedures.READS);
                long all = caller.list(2, 2);
                int[] refusals = new int[1];
                boolean[] room = new boolean[1];
                refuseMemory(caller.session, () -> {
                    refusals[0] += room[0] ? 0 : 1;
                    return !room[0];
                });
                caller.arguments(8, 0);
                int[] ended = {-1};
                CallCompletion done = (token, status, code, bytes) -> ended[0] = status;
                assertTrue(caller.session.call(sum, 8, caller.buffer, 0, 16, 64, 8, done, 0));
                await(() -> {
                    caller.session.flush();
                    caller.session.poll();
                    return refusals[0] > 2 || ended[0] >= 0;
                });
                assertEquals(-1, ended[0]);
                // A session polls without a pause, and a registration is expensive.
                lookForMemory(caller.session, System.nanoTime() + 3_600_000_000_000L);
                int before = refusals[0];
                for (int i = 0; i < 100; i++) {
                    caller.session.poll();
                }
                assertEquals(before, refusals[0]);
                lookForMemory(caller.session, System.nanoTime());
                room[0] = true;
                await(() -> {
                    caller.session.poll();
                    return ended[0] >= 0;
                });
                assertEquals(CallStatus.describe(CallStatus.DONE), CallStatus.describe(ended[0]));
                assertEquals(all, caller.result());
            }
        }
    }

    /** Sets when the calls of a session look for memory again, by nanoTime. */
    private static void lookForMemory(CacheSession session, long at) throws IllegalAccessException {
        CallTable calls = Fields.get(session.core().admission.calls().all(), "calls", CallTable.class);
        for (int place = 0; place < SessionCalls.MOST; place++) {
            SessionCall call = calls.get(place);
            Fields.field(call, "memoryAt").set(call, at);
        }
    }

    /** Makes the registration of memory for calls that run here fail as long as {@code refuses} holds. */
    private static void refuseMemory(CacheSession session, BooleanSupplier refuses) throws IllegalAccessException {
        SessionCalls calls = session.core().admission.calls().all();
        LocalCalls here = Fields.get(calls, "here", LocalCalls.class);
        CallHost host = Fields.get(here, "cache", CallHost.class);
        Object refusing = Proxy.newProxyInstance(
                CallHost.class.getClassLoader(), new Class<?>[] {CallHost.class}, (_, method, arguments) -> {
                    if (method.getName().equals("register") && refuses.getAsBoolean()) {
                        throw new OutOfMemoryError("on purpose");
                    }
                    return method.invoke(host, arguments);
                });
        Fields.field(here, "cache").set(here, refusing);
    }
}
