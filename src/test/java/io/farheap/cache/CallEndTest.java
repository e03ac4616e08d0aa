package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.calls.CallLink;
import io.farheap.cache.calls.CallLinks;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.builtin.CompareAndSetWords;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Fields;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the end of a call says beside its status: the address, the line of the procedure's source, and the reason. */
@Timeout(300)
class CallEndTest {

    private static final long REGION = Cluster.REGION_BYTES;
    private static final Path SOURCE = Path.of("src/test/java/io/farheap/cache/TestProcedures.java");

    private static Cache cache(Cluster cluster, int regions) {
        return Cache.builder()
                .capacity(regions * REGION)
                .servers(cluster.addresses())
                .name("ends")
                .create();
    }

    /** The line of some code in the first class of that name. */
    private static int line(String of, String code) throws IOException {
        List<String> lines = Files.readAllLines(SOURCE);
        int at = 0;
        while (!lines.get(at).contains("class " + of + " ")) {
            at++;
        }
        while (!lines.get(at).contains(code)) {
            at++;
        }
        return at + 1;
    }

    /** By a server or by its session: the end is the same. */
    @ParameterizedTest
    @EnumSource(
            value = ServedCode.class,
            names = {"JAVA", "OFF"})
    void anEndSaysWhereTheCallWas(ServedCode served) throws IOException {
        try (Cluster cluster = new Cluster().serving(served)) {
            cluster.add(1);
            cluster.add(1);
            try (Cache cache = cache(cluster, 2);
                    Caller caller = new Caller(cache)) {
                Procedures procedures = cache.procedures();
                Procedure load = procedures.register(TestProcedures.Load.class, Procedures.READS);
                Procedure store = procedures.register(TestProcedures.Store.class, Procedures.WRITES);
                Procedure add = procedures.register(TestProcedures.Add.class, Procedures.WRITES);
                Procedure divide = procedures.register(TestProcedures.Divide.class, Procedures.READS);
                Procedure spin = procedures.register(TestProcedures.Spin.class, Procedures.READS);
                int loads = line("Load", "getLong");
                assertEquals(
                        new CallResult(CallStatus.OUT_OF_RANGE, 0, 0, 2 * REGION + 8, loads),
                        caller.call(load, 0, 2 * REGION + 8));
                assertEquals(
                        new CallResult(CallStatus.SPLIT, 0, 0, REGION - 4, loads), caller.call(load, 0, REGION - 4));
                assertEquals(
                        new CallResult(CallStatus.OUT_OF_RANGE, 0, 0, 8, line("Store", "putLong")),
                        caller.call(store, 0, 16),
                        "an argument that is not there");
                assertEquals(
                        new CallResult(CallStatus.NOT_ALIGNED, 0, 0, 12, line("Add", "getAndAdd")),
                        caller.call(add, 0, 12, 1));
                assertEquals(
                        new CallResult(CallStatus.FAULT, 0, 0, CallResult.NOWHERE, line("Divide", "/")),
                        caller.call(divide, 0, 7, 0));
                CallResult endless = caller.call(spin, 0, 0, -1);
                assertEquals(CallStatus.OUT_OF_FUEL, endless.status());
                assertEquals(CallResult.NOWHERE, endless.address());
                assertTrue(Math.abs(endless.line() - line("Spin", "for (")) < 2, "in line " + endless.line());
                caller.arguments(16);
                assertEquals(
                        new CallResult(CallStatus.RESULT_FULL, 0, 0, 0, loads),
                        caller.session.callBlocking(load, 0, caller.buffer, 0, 8, 64, 7));
                assertEquals(new CallResult(CallStatus.DONE, 16, 8), caller.call(load, 0, 16));
                try (FutureCacheSession futures = cache.openFutureSession()) {
                    assertEquals(
                            "an address out of range, at " + (2 * REGION) + ", in line " + loads,
                            futures.call(
                                            load,
                                            0,
                                            MemorySegment.ofArray(new long[] {2 * REGION}),
                                            MemorySegment.ofArray(new long[1]))
                                    .join()
                                    .describe());
                }
            }
        }
    }

    @Test
    void aCallbackThatAsksForThePlaceGetsIt() throws IOException {
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA)) {
            cluster.add(2);
            cluster.add(2);
            try (Cache cache = cache(cluster, 4);
                    Caller caller = new Caller(cache)) {
                Procedure sum =
                        cache.procedures().register(TestProcedures.SumSince.class, Procedures.READS | Procedures.STOP);
                caller.list(40, 4);
                CallResult[] ended = new CallResult[1];
                CallCompletion done = new CallCompletion() {
                    @Override
                    public void completed(long token, int status, int code, int bytes) {
                        throw new AssertionError("the method without the place");
                    }

                    @Override
                    public void completed(long token, int status, int code, int bytes, long address, int line) {
                        ended[0] = new CallResult(status, code, bytes, address, line);
                    }
                };
                caller.arguments(8, 0);
                assertTrue(caller.session.call(sum, 8, caller.buffer, 0, 16, 64, 8, done, 0));
                caller.session.drain();
                assertEquals(CallStatus.STOPPED, ended[0].status());
                assertNotEquals(cache.serverOf(0), cache.serverOf((int) (ended[0].address() / REGION)));
                assertEquals(line("SumSince", "node + 8"), ended[0].line());
            }
        }
    }

    /** A call that runs in its session has begun, so it is not refused. */
    @Test
    void aCallThatRunsInItsSessionEndsAtASetThatOnlyServersMake() {
        try (Cluster cluster = new Cluster().serving(ServedCode.OFF)) {
            cluster.add(1);
            try (Cache cache = cache(cluster, 1);
                    Caller caller = new Caller(cache)) {
                Procedure words = cache.procedures().register(CompareAndSetWords.class, Procedures.WRITES);
                CallResult ended = caller.call(words, 8, 8, 0, 0);
                assertEquals(CallStatus.INCOMPLETE, ended.status());
                assertEquals(CallStatus.NO_ATOMIC, ended.code());
                assertTrue(ended.describe().contains("an atomic cannot be executed"), ended.describe());
            }
        }
    }

    /** The procedure is gone from the second server, which says so; the call has run at the first. */
    @Test
    void aCallThatHasBegunSaysThatItsProcedureIsGone() throws ReflectiveOperationException {
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA)) {
            cluster.add(1);
            cluster.add(1);
            try (Cache cache = cache(cluster, 2);
                    Caller caller = new Caller(cache)) {
                Procedure sum = cache.procedures().register(TestProcedures.SumSince.class, Procedures.READS);
                Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
                long all = caller.list(2, 2);
                caller.call(sum, 8, 8, 0);
                assertEquals(all, caller.result());
                remove(cache, sum, cache.serverOf(1));
                CallResult begun = caller.call(sum, 8, 8, 0);
                assertEquals(CallStatus.INCOMPLETE, begun.status());
                assertEquals(CallStatus.NO_PROCEDURE, begun.code());
                assertEquals(Caller.node(1, 2) + 8, begun.address());
                remove(cache, load, cache.serverOf(0));
                CallResult first = caller.call(load, 0, 8);
                assertEquals(CallStatus.REFUSED, first.status());
                assertEquals(CallStatus.NO_PROCEDURE, first.code());
                assertEquals(
                        "refused; the server does not have the procedure",
                        CallStatus.describe(first.status(), first.code()));
            }
        }
    }

    /** Removes a procedure at a server, as if the client had lost track of it. */
    private static void remove(Cache cache, Procedure procedure, String address) throws ReflectiveOperationException {
        CacheProcedures procedures = Fields.get(cache.procedures(), "procedures", CacheProcedures.class);
        for (Object told : Fields.get(procedures, "told", List.class)) {
            if (Fields.get(told, "server", RemoteServer.class).address().equals(address)) {
                Object line = Fields.get(told, "line", Object.class);
                Method unregister = line.getClass().getDeclaredMethod("unregister", int.class);
                unregister.setAccessible(true);
                unregister.invoke(line, Fields.get(procedure, "id", Integer.class));
            }
        }
    }

    /** It was in a batch that had not been sent when the connection failed: the next connection takes it. */
    @Test
    void aCallThatWasNotSentIsNotLost() {
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA).threads(1)) {
            cluster.add(1);
            try (Cache cache = cache(cluster, 1);
                    Caller caller = new Caller(cache)) {
                Procedure add = cache.procedures().register(TestProcedures.Add.class, Procedures.WRITES);
                assertEquals(CallStatus.DONE, caller.call(add, 8, 8, 1).status());
                int[] ended = {-1};
                caller.arguments(8, 1);
                assertTrue(caller.session.call(
                        add, 8, caller.buffer, 0, 16, 64, 8, (token, status, code, bytes) -> ended[0] = status, 0));
                CallLinks links =
                        Fields.get(caller.session.core().admission.calls().all(), "links", CallLinks.class);
                for (CallLink link : Fields.get(links, "links", CallLink[].class)) {
                    link.lose();
                }
                caller.session.drain();
                assertEquals(CallStatus.describe(CallStatus.DONE), CallStatus.describe(ended[0]));
                assertEquals(2, caller.read(8));
                assertEquals(1, caller.buffer.segment().get(JAVA_LONG, 64));
            }
        }
    }
}
