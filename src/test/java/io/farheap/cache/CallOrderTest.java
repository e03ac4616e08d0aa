package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.PauseScope;
import io.farheap.procedure.CallStatus;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A call waits for earlier requests that its footprint overlaps, if one of the two writes, and for no others. */
class CallOrderTest {

    private static final long REGION = Cluster.REGION_BYTES;
    /** The data of requests in the buffer; behind it, each call has 32 bytes for its arguments and its result. */
    private static final int DATA = 0;

    private static final int CALLS = 64;
    private static final int CALL = 32;

    private final Cluster cluster = new Cluster().serving(ServedCode.JAVA);
    private Cache cache;
    private Caller caller;
    private CacheSession session;
    private Procedure load;
    private Procedure store;
    private int made;
    private int ended;

    private void create(CacheConfiguration configuration) {
        cluster.add(4);
        cluster.add(4);
        cache = Cache.builder()
                .capacity(2 * REGION)
                .servers(cluster.address(0))
                .configuration(configuration)
                .create();
        cache.addServer(cluster.address(1));
        load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
        store = cache.procedures().register(TestProcedures.Store.class, Procedures.WRITES);
        caller = new Caller(cache);
        session = caller.session;
    }

    @AfterEach
    void close() {
        cluster.pulls().open();
        caller.close();
        cache.close();
        cluster.close();
    }

    private boolean calls(Procedure procedure, long address, long from, long span) {
        int at = CALLS + CALL * made;
        caller.buffer.segment().set(JAVA_LONG, at, address);
        caller.buffer.segment().set(JAVA_LONG, at + 8, 4711);
        boolean taken = session.call(
                procedure,
                address,
                from,
                span,
                caller.buffer,
                at,
                16,
                at + 16,
                8,
                (token, status, code, bytes) -> {
                    assertEquals(CallStatus.describe(CallStatus.DONE), CallStatus.describe(status));
                    ended++;
                },
                0);
        made += taken ? 1 : 0;
        return taken;
    }

    private void awaitEnded() {
        while (ended < made) {
            session.awaitProgress();
        }
    }

    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#some")
    void aCallPassesAHeldWriteThatItsFootprintDoesNotOverlap(CacheConfiguration configuration) throws Exception {
        create(configuration);
        assertEquals(CallStatus.DONE, caller.call(load, REGION, REGION).status());
        cluster.pulls().shut();
        CompletableFuture<Void> migration = CompletableFuture.runAsync(
                () -> cache.migrate(List.of(0), cluster.address(1), MigrationOptions.DEFAULT.pause(PauseScope.CACHE)));
        cluster.pulls().awaitPull();
        boolean[] written = new boolean[1];
        caller.buffer.segment().set(JAVA_LONG, DATA, 42);
        while (!session.write(16, caller.buffer, DATA, 8, (token, status) -> written[0] = status == Status.OK, 0)) {
            session.awaitProgress();
        }
        assertTrue(calls(load, REGION + 8, REGION, REGION), "nothing is in its way");
        awaitEnded();
        assertTrue(calls(store, REGION + 8, REGION, REGION), "nor in that of one that writes, but the pause is");
        assertFalse(calls(load, REGION + 8, 0, 2 * REGION), "its footprint is all of the cache");
        assertFalse(calls(load, 16, 16, 8));
        assertFalse(calls(store, 16, 20, 1));
        assertFalse(written[0], "the write is held");
        cluster.pulls().open();
        while (!calls(load, 16, 16, 8)) {
            session.awaitProgress();
        }
        assertTrue(written[0], "it has waited");
        awaitEnded();
        assertEquals(42, caller.buffer.segment().get(JAVA_LONG, CALLS + CALL * (made - 1) + 16));
        migration.get(TestDevice.patience(60), TimeUnit.SECONDS);
    }

    /** The same is true of requests that nothing holds, until they are called back, which takes a poll. */
    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#some")
    void onlyWhatOverlapsIsWaitedFor(CacheConfiguration configuration) {
        create(configuration);
        Completion nothing = (token, status) -> {};
        assertTrue(session.read(16, caller.buffer, DATA, 8, nothing, 0));
        assertTrue(session.write(REGION + 16, caller.buffer, DATA + 8, 8, nothing, 0));
        long[] records = {REGION + 1024, REGION + 4096};
        assertTrue(session.writeAll(records, 2, caller.buffer, DATA + 16, 8, nothing, 0));
        assertTrue(session.readAll(new long[] {512, 768}, 2, caller.buffer, DATA + 32, 8, nothing, 0));
        assertFalse(calls(store, 16, 16, 1), "a read is in the way of a call that writes");
        assertFalse(calls(store, 768, 775, 1), "a record is");
        assertFalse(calls(load, REGION + 16, REGION + 23, 1), "a write is in the way of one that reads");
        assertFalse(calls(load, REGION + 4096, REGION + 4103, 1), "a record is");
        assertTrue(calls(load, 16, 8, 16), "a read is not in the way of one that reads");
        assertTrue(calls(load, 768, 512, 512), "records are not");
        assertTrue(calls(load, REGION + 24, REGION + 24, 8), "behind the write");
        assertTrue(calls(store, 24, 24, 8), "behind the read");
        awaitEnded();
        session.drain();
        assertTrue(calls(load, 0, 0, 2 * REGION), "nothing is pending");
        session.drain();
    }

    /** A blocking request that finds nothing pending takes a shorter way, on which it must not pass a call either. */
    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#some")
    void aBlockingRequestComesBehindACallThatItOverlaps(CacheConfiguration configuration) {
        create(configuration);
        caller.write(16, 1);
        caller.write(24, 2);
        assertTrue(calls(store, 16, 16, 8));
        assertEquals(2, caller.read(24), "nothing is in its way");
        assertEquals(4711, caller.read(16));
        assertTrue(calls(load, 24, 24, 8));
        caller.write(24, 3);
        awaitEnded();
        assertEquals(2, caller.buffer.segment().get(JAVA_LONG, CALLS + CALL * (made - 1) + 16), "before the write");
        assertEquals(3, caller.read(24));
    }
}
