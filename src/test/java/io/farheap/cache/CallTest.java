package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.session.SessionAdmission;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.builtin.Chase;
import io.farheap.procedure.builtin.CompareAndSetWords;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of procedures, on servers in this process. */
class CallTest {

    private static final long REGION = Cluster.REGION_BYTES;

    private static Cache cache(Cluster cluster, int regions) {
        return Cache.builder()
                .capacity(regions * REGION)
                .servers(cluster.addresses().toArray(String[]::new))
                .name("calls")
                .create();
    }

    private static Cluster cluster(int... regions) {
        Cluster cluster = new Cluster().serving(ServedCode.JAVA);
        for (int each : regions) {
            cluster.add(each);
        }
        return cluster;
    }

    @ParameterizedTest
    @EnumSource(ServedCode.class)
    void aListIsFollowedWhereverItsNodesAre(ServedCode second) {
        try (Cluster cluster = cluster(2)) {
            cluster.serving(second).add(2);
            try (Cache cache = cache(cluster, 4);
                    Caller caller = new Caller(cache)) {
                Procedure sum = cache.procedures().register(TestProcedures.SumSince.class, Procedures.READS);
                assertEquals(2, sum.servers().size());
                assertEquals("", sum.servers().get(cluster.address(0)));
                assertEquals(
                        second == ServedCode.JAVA,
                        sum.servers().get(cluster.address(1)).isEmpty());
                long all = caller.list(40, 4);
                CallResult result = caller.call(sum, 8, 8, 0);
                assertEquals(new CallResult(CallStatus.DONE, 0, 8), result);
                assertEquals(all, caller.result());
                caller.call(sum, 8, 8, 39);
                assertEquals(3 * 39 + 1, caller.result());
                // This call begins at an address without a node.
                caller.call(sum, 3 * REGION, 8, 0);
                assertEquals(all, caller.result());
            }
        }
    }

    @Test
    void aServerRunsBuiltInsWhereItRunsNothingElse() {
        try (Cluster cluster = new Cluster(2);
                Cache cache = cache(cluster, 2);
                Caller caller = new Caller(cache)) {
            Procedures procedures = cache.procedures();
            Procedure chase = procedures.register(Chase.class, Procedures.READS);
            Procedure sum = procedures.register(TestProcedures.SumSince.class, Procedures.READS);
            assertEquals("", chase.servers().get(cluster.address(0)));
            assertTrue(sum.servers().get(cluster.address(0)).contains("--procedures java"));
            long all = caller.list(10, 2);
            assertEquals(1, caller.call(chase, 8, 8, 0, 3).code());
            assertEquals(Caller.node(3, 2), caller.result());
            caller.call(sum, 8, 8, 0);
            assertEquals(all, caller.result());
        }
    }

    @Test
    void oneThatIsToStopDoesNotGoOnElsewhere() {
        try (Cluster cluster = cluster(2, 2);
                Cache cache = cache(cluster, 4);
                Caller caller = new Caller(cache)) {
            Procedure sum =
                    cache.procedures().register(TestProcedures.SumSince.class, Procedures.READS | Procedures.STOP);
            caller.list(40, 4);
            assertEquals(CallStatus.STOPPED, caller.call(sum, 8, 8, 0).status());
            caller.list(40, 1);
            assertEquals(CallStatus.DONE, caller.call(sum, 8, 8, 0).status());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void callsAndRequestsOfASessionTakeEffectInOrder(boolean whole) {
        try (Cluster cluster = cluster(2, 2);
                Cache cache = cache(cluster, 4);
                Caller caller = new Caller(cache)) {
            Procedure store = cache.procedures().register(TestProcedures.Store.class, Procedures.WRITES);
            Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
            CacheSession session = caller.session;
            long[] seen = new long[3];
            for (int i = 1; i < 200; i++) {
                long at = i % 4 * REGION + 8L * (i % 5);
                long from = whole ? 0 : at;
                long span = whole ? cache.capacity() : 8;
                caller.buffer.segment().set(JAVA_LONG, 1024, 1_000 + i);
                issue(session, () -> session.write(at, caller.buffer, 1024, 8, (token, status) -> seen[0]++, 0));
                caller.buffer.segment().set(JAVA_LONG, 0, at);
                issue(session, () -> session.call(load, at, from, span, caller.buffer, 0, 8, 64, 8, done(seen), 1));
                caller.buffer.segment().set(JAVA_LONG, 16, at);
                caller.buffer.segment().set(JAVA_LONG, 24, 2_000 + i);
                issue(session, () -> session.call(store, at, from, span, caller.buffer, 16, 16, 0, 0, done(seen), 2));
                issue(session, () -> session.read(at, caller.buffer, 72, 8, (token, status) -> seen[0]++, 0));
                session.drain();
                assertEquals(1_000 + i, caller.result(), "what was written before the call");
                assertEquals(2_000 + i, caller.buffer.segment().get(JAVA_LONG, 72), "what the call stored");
            }
            assertEquals(398, seen[0]);
            assertEquals(199, seen[1]);
            assertEquals(199, seen[2]);
        }
    }

    private static CallCompletion done(long[] seen) {
        return (token, status, code, bytes) -> {
            assertEquals(CallStatus.DONE, status);
            seen[(int) token]++;
        };
    }

    private interface Issue {
        boolean tried();
    }

    private static void issue(CacheSession session, Issue issue) {
        while (!issue.tried()) {
            session.awaitProgress();
        }
    }

    @Test
    void atomicsOfManySessionsAddUp() throws InterruptedException {
        int threads = 4;
        int calls = 500;
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster, 2)) {
            Procedure add = cache.procedures().register(TestProcedures.Add.class, Procedures.WRITES);
            List<Thread> all = IntStream.range(0, threads)
                    .mapToObj(i -> Thread.ofPlatform().start(() -> {
                        try (Caller caller = new Caller(cache)) {
                            for (int j = 0; j < calls; j++) {
                                caller.call(add, REGION + 8, REGION + 8, 3);
                            }
                        }
                    }))
                    .toList();
            for (Thread thread : all) {
                thread.join();
            }
            try (Caller caller = new Caller(cache)) {
                assertEquals(3L * threads * calls, caller.read(REGION + 8));
            }
        }
    }

    /** The server that runs procedures changes its words itself; the device's atomics change the other server's. */
    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#some")
    void atomicsAddUpWhereNoServerRunsThem(CacheConfiguration how) throws InterruptedException {
        int threads = 3;
        int calls = 200;
        try (Cluster cluster = cluster(1)) {
            cluster.serving(ServedCode.OFF).add(1);
            try (Cache cache = Cache.builder()
                    .capacity(2 * REGION)
                    .servers(cluster.addresses())
                    .configuration(how)
                    .create()) {
                Procedure add = cache.procedures().register(TestProcedures.Add.class, Procedures.WRITES);
                Procedure set = cache.procedures().register(TestProcedures.Set.class, Procedures.WRITES);
                long[] refused = new long[threads];
                List<Thread> all = IntStream.range(0, threads)
                        .mapToObj(i -> Thread.ofPlatform().start(() -> {
                            try (Caller caller = new Caller(cache)) {
                                for (int j = 0; j < calls; j++) {
                                    long word = j % 2 * REGION + 8;
                                    refused[i] +=
                                            caller.call(add, word, word, 3).done() ? 0 : 1;
                                    // The call tries again until no other session was faster.
                                    refused[i] += caller.call(set, word + 8, word + 8, 5)
                                                    .done()
                                            ? 0
                                            : 1;
                                }
                            }
                        }))
                        .toList();
                for (Thread thread : all) {
                    thread.join();
                }
                assertEquals(0, Arrays.stream(refused).sum(), "calls that did not end well");
                try (Caller caller = new Caller(cache)) {
                    for (int region = 0; region < 2; region++) {
                        assertEquals(3L * threads * calls / 2, caller.read(region * REGION + 8));
                        assertEquals(5L * threads * calls / 2, caller.read(region * REGION + 16));
                    }
                    assertEquals(
                            CallStatus.NOT_ALIGNED,
                            caller.call(add, REGION, REGION + 4, 1).status());
                    Procedure words = cache.procedures().register(CompareAndSetWords.class, Procedures.WRITES);
                    assertEquals(
                            CallStatus.INCOMPLETE,
                            caller.call(words, REGION, REGION + 8, 0, 0).status(),
                            "many words at once");
                }
            }
        }
    }

    @Test
    void whoWaitsForACallThatRunsHereDoesNotSleepBetweenItsSlices() {
        try (Cluster cluster = new Cluster().serving(ServedCode.OFF)) {
            cluster.add(1);
            try (Cache cache = cache(cluster, 1);
                    Caller caller = new Caller(cache)) {
                Procedure spin = cache.procedures().register(TestProcedures.Spin.class, Procedures.READS);
                caller.arguments(0, -1);
                int[] ended = {-1};
                CallCompletion done = (token, status, code, bytes) -> ended[0] = status;
                assertTrue(caller.session.call(spin, 0, caller.buffer, 0, 16, 64, 8, done, 0));
                int slices = 0;
                for (; ended[0] < 0; slices++) {
                    assertEquals(1, patience(caller.session));
                    caller.session.poll();
                }
                assertEquals(CallStatus.OUT_OF_FUEL, ended[0]);
                assertTrue(slices > 100, slices + " slices");
            }
        }
    }

    /** @return how long the session's calls let its thread sleep, in ns */
    private static long patience(CacheSession session) {
        SessionAdmission admission = session.core().admission;
        boolean entered = admission.enter();
        try {
            return admission.calls().listen();
        } finally {
            admission.exit(entered);
        }
    }

    @Test
    void whatACallMayNotDoEndsItAlone() {
        try (Cluster cluster = cluster(1, 1);
                Cache cache = cache(cluster, 2);
                Caller caller = new Caller(cache)) {
            Procedures procedures = cache.procedures();
            Procedure load = procedures.register(TestProcedures.Load.class, Procedures.READS);
            Procedure add = procedures.register(TestProcedures.Add.class, Procedures.WRITES);
            Procedure divide = procedures.register(TestProcedures.Divide.class, Procedures.READS);
            Procedure spin = procedures.register(TestProcedures.Spin.class, Procedures.READS);
            assertEquals(
                    CallStatus.OUT_OF_RANGE, caller.call(load, 0, 2 * REGION).status());
            assertEquals(CallStatus.OUT_OF_RANGE, caller.call(load, 0, -8).status());
            assertEquals(
                    CallStatus.OUT_OF_RANGE,
                    caller.call(load, 0, Long.MAX_VALUE).status());
            assertEquals(CallStatus.SPLIT, caller.call(load, 0, REGION - 4).status());
            assertEquals(CallStatus.OUT_OF_RANGE, caller.call(load, 0).status(), "an argument that is not there");
            assertEquals(CallStatus.NOT_ALIGNED, caller.call(add, 0, 4, 1).status());
            assertEquals(CallStatus.FAULT, caller.call(divide, 0, 7, 0).status());
            assertEquals(new CallResult(CallStatus.DONE, 3, 0), caller.call(divide, 0, 7, 2));
            assertEquals(CallStatus.OUT_OF_FUEL, caller.call(spin, 0, 0, -1).status());
            caller.buffer.segment().set(JAVA_LONG, 0, 0);
            assertEquals(
                    CallStatus.RESULT_FULL,
                    caller.session
                            .callBlocking(load, 0, caller.buffer, 0, 8, 64, 7)
                            .status());
            int[] ended = new int[1];
            issue(
                    caller.session,
                    () -> caller.session.call(
                            load,
                            0,
                            8,
                            8,
                            caller.buffer,
                            0,
                            8,
                            64,
                            8,
                            (token, status, code, bytes) -> ended[0] = status,
                            0));
            caller.session.drain();
            assertEquals(CallStatus.OUT_OF_RANGE, ended[0], "outside its footprint");
            assertEquals(new CallResult(CallStatus.DONE, 16, 8), caller.call(load, 0, 16));
        }
    }

    @Test
    void aLongCallDoesNotHoldOthersUp() {
        try (Cluster cluster = cluster(1);
                Cache cache = cache(cluster, 1);
                Caller caller = new Caller(cache);
                Caller other = new Caller(cache)) {
            Procedure spin =
                    cache.procedures().register(TestProcedures.Spin.class, Procedures.READS | Procedures.UNORDERED);
            Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
            boolean[] ended = new boolean[1];
            caller.buffer.segment().set(JAVA_LONG, 8, -1);
            for (int i = 0; i < Effort.either(2, 8); i++) {
                issue(
                        caller.session,
                        () -> caller.session.call(
                                spin,
                                0,
                                caller.buffer,
                                0,
                                16,
                                64,
                                8,
                                (token, status, code, bytes) -> ended[0] = true,
                                0));
            }
            caller.session.flush();
            // Each call uses ten million units of fuel in slices, between which other calls run.
            for (int i = 0; i < 20; i++) {
                assertEquals(CallStatus.DONE, other.call(load, 0, 8).status());
            }
            caller.session.drain();
            assertTrue(ended[0]);
        }
    }

    @Test
    void scratchMemoryHoldsWhatTheLeasesLastCallLeft() {
        try (Cluster cluster = cluster(1, 1)) {
            for (int i = 0; i < 3; i++) {
                try (Cache cache = cache(cluster, 1);
                        Caller caller = new Caller(cache)) {
                    Procedure remember = cache.procedures().register(TestProcedures.Remember.class, Procedures.READS);
                    caller.call(remember, 0, 4711 + i);
                    assertEquals(0, caller.result(), "another lease's");
                }
            }
        }
    }

    @Test
    void aClassThatIsNotAdmittedIsOnNoServer() {
        try (Cluster cluster = cluster(1);
                Cache cache = cache(cluster, 1)) {
            Procedures procedures = cache.procedures();
            RefusedProcedureException refused = assertThrows(
                    RefusedProcedureException.class,
                    () -> procedures.register(TestProcedures.Allocates.class, Procedures.READS));
            assertTrue(refused.getMessage().contains("Allocates"), refused.getMessage());
            IllegalArgumentException writes = assertThrows(
                    IllegalArgumentException.class,
                    () -> procedures.register(TestProcedures.Store.class, Procedures.READS));
            assertTrue(writes.getMessage().contains("WRITES"), writes.getMessage());
            assertThrows(RuntimeException.class, () -> procedures.register(new byte[100], Procedures.READS));
            assertTrue(procedures.all().isEmpty());
        }
    }

    @Test
    void whatIsUnregisteredIsNotCalled() {
        try (Cluster cluster = cluster(1);
                Cache cache = cache(cluster, 1);
                Cache another = cache(new Cluster(1), 1);
                Caller caller = new Caller(cache);
                Caller stranger = new Caller(another)) {
            Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
            assertThrows(IllegalArgumentException.class, () -> stranger.call(load, 0, 8));
            assertEquals(CallStatus.DONE, caller.call(load, 0, 8).status());
            cache.procedures().unregister(load);
            cache.procedures().unregister(load);
            assertThrows(IllegalArgumentException.class, () -> caller.call(load, 0, 8));
            Procedure again = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
            assertEquals(CallStatus.DONE, caller.call(again, 0, 8).status());
        }
    }

    @Test
    void aLostServerTakesItsCallsAlong() {
        try (Cluster cluster = cluster(1)) {
            // The server is lost when the lease has expired: until then a call may be under way there.
            cluster.add(1, TestDevice.shortLease(4_000_000_000L));
            try (Cache cache = cache(cluster, 2);
                    Caller caller = new Caller(cache)) {
                Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
                Procedure store = cache.procedures().register(TestProcedures.Store.class, Procedures.WRITES);
                assertEquals(CallStatus.DONE, caller.call(load, REGION, REGION).status());
                cluster.stop(1);
                assertEquals(
                        CallStatus.LOST, caller.call(store, REGION, REGION, 1).status());
                assertEquals(
                        CallStatus.UNREACHABLE,
                        caller.call(load, REGION, REGION).status(),
                        "it was never sent");
                assertEquals(CallStatus.DONE, caller.call(load, 0, 8).status());
            }
        }
    }

    @Test
    void aServerThatComesLaterGetsThemBeforeARegion() {
        try (Cluster cluster = cluster(2);
                Cache cache = cache(cluster, 2);
                Caller caller = new Caller(cache)) {
            Procedure sum = cache.procedures().register(TestProcedures.SumSince.class, Procedures.READS);
            long all = caller.list(20, 2);
            String later = cluster.add(2);
            cache.addServer(later);
            assertEquals("", sum.servers().get(later));
            caller.call(sum, 8, 8, 0);
            assertEquals(all, caller.result());
            cache.migrate(1, later);
            caller.call(sum, 8, 8, 0);
            assertEquals(all, caller.result());
            cache.retire(cluster.address(0), moved -> {});
            assertFalse(sum.servers().containsKey(cluster.address(0)));
            caller.call(sum, 8, 8, 0);
            assertEquals(all, caller.result());
            cache.reshape(REGION);
            caller.list(20, 1);
            assertEquals(CallStatus.OUT_OF_RANGE, caller.call(sum, 8, REGION, 0).status());
        }
    }
}
