package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.Status;
import io.farheap.procedure.CallStatus;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.CutFile;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A request or a call that fails while it begins ends alone: its session continues, and so does the client thread that
 * other sessions share with it.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BeginningTest {

    private static final long REGION = Cluster.REGION_BYTES;
    /** More bytes than a batch takes. */
    private static final int LARGE = 32 * 1024;

    private static Cache cache(Cluster cluster, CacheConfiguration how) {
        return Cache.builder()
                .capacity(REGION)
                .servers(cluster.addresses())
                .device(TestDevice.client())
                .configuration(how)
                .create();
    }

    @ParameterizedTest
    @EnumSource(ServedCode.class)
    void aCallOfANegativeLengthIsRefused(ServedCode served) {
        try (Cluster cluster = new Cluster().serving(served)) {
            cluster.add(1);
            try (Cache cache = cache(cluster, Configurations.DIRECT);
                    Caller caller = new Caller(cache)) {
                Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
                caller.write(16, 5);
                caller.arguments(16);
                for (int[] lengths : new int[][] {{-1, 8}, {8, -1}, {Integer.MIN_VALUE, 8}, {8, Integer.MIN_VALUE}}) {
                    for (long at : new long[] {0, 64, 9000}) {
                        CallCompletion never = (token, status, code, bytes) -> {
                            throw new AssertionError("a call that was refused has ended");
                        };
                        assertThrows(
                                RuntimeException.class,
                                () -> caller.session.call(
                                        load, 0, caller.buffer, at, lengths[0], at, lengths[1], never, 0));
                        assertThrows(
                                RuntimeException.class,
                                () -> caller.session.callAll(
                                        load, new long[2], 2, caller.buffer, at, lengths[0], at, lengths[1], never, 0));
                    }
                }
                assertEquals(0, caller.session.pending());
                String why = assertThrows(
                                IllegalArgumentException.class,
                                () -> caller.session.callBlocking(load, 0, caller.buffer, 0, -1, 64, 8))
                        .getMessage();
                assertTrue(why.contains("-1 bytes of arguments") && why.contains("0 to 4096"), why);
                caller.write(16, 6);
                assertEquals(CallStatus.DONE, caller.call(load, 0, 16).status());
                assertEquals(6, caller.result());
            }
        }
    }

    /** No server runs the call, and no memory can be registered through which the call's accesses would go. */
    @Test
    @Needs(Need.SOFTVERBS)
    void aCallForWhichThereIsNoMemoryIsRefused() {
        try (Cluster cluster = new Cluster().serving(ServedCode.OFF)) {
            cluster.add(1);
            try (Cache cache = cache(cluster, Configurations.DIRECT);
                    Caller caller = new Caller(cache)) {
                Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
                Procedure store = cache.procedures().register(TestProcedures.Store.class, Procedures.WRITES);
                caller.write(16, 5);
                int[] refused = new int[1];
                Softverbs.set("memlock=1");
                try {
                    assertEquals(
                            CallStatus.REFUSED, caller.call(store, 16, 16, 7).status());
                    CallCompletion done =
                            (token, status, code, bytes) -> refused[0] += status == CallStatus.REFUSED ? 1 : 0;
                    assertTrue(caller.session.callAll(store, new long[3], 3, caller.buffer, 0, 16, 0, 0, done, 0));
                    caller.session.drain();
                    assertEquals(3, refused[0]);
                } finally {
                    Softverbs.set("memlock=0");
                }
                assertEquals(0, caller.session.pending());
                assertEquals(5, caller.read(16), "nothing waits for it");
                caller.write(16, 6);
                assertEquals(CallStatus.DONE, caller.call(load, 16, 16).status());
                assertEquals(6, caller.result());
            }
        }
    }

    /** The first request that uses unregistered memory fails if no memory can be registered to copy it through. */
    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#all")
    @Needs(Need.SOFTVERBS)
    void aSegmentForWhichThereIsNoMemoryIsRefused(CacheConfiguration how) {
        try (Cluster cluster = new Cluster(1);
                Cache cache = cache(cluster, how);
                CacheSession session = cache.openSession();
                CacheSession other = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            MemorySegment bytes = MemorySegment.ofArray(new byte[LARGE]);
            other.readBlocking(0, buffer, 0, 8);
            Softverbs.set("memlock=1");
            try {
                assertThrows(VerbsException.class, () -> session.writeBlocking(0, bytes));
                assertThrows(VerbsException.class, () -> session.read(0, bytes, (_, _) -> {}, 0));
                assertEquals(0, session.pending());
                buffer.segment().set(JAVA_LONG, 0, 5);
                session.writeBlocking(8, buffer, 0, 8);
                other.readBlocking(8, buffer, 16, 8);
                assertEquals(5, buffer.segment().get(JAVA_LONG, 16));
            } finally {
                Softverbs.set("memlock=0");
            }
            session.readBlocking(0, bytes);
            assertEquals(5, bytes.get(JAVA_LONG_UNALIGNED, 8));
            other.writeBlocking(0, bytes);
        }
    }

    /** The JVM reports an access to the file as an {@link InternalError}. */
    @ParameterizedTest
    @MethodSource("io.farheap.cache.Configurations#all")
    void aMappedFileThatWasCutIsGone(CacheConfiguration how, @TempDir Path directory) throws Exception {
        try (Cluster cluster = new Cluster(1);
                Cache cache = cache(cluster, how);
                CacheSession session = cache.openSession();
                CacheSession other = cache.openSession();
                FutureCacheSession futures = cache.openFutureSession();
                Buffer buffer = cache.allocate(64);
                CutFile file = new CutFile(directory, LARGE)) {
            MemorySegment cut = file.segment();
            file.cut();
            buffer.segment().set(JAVA_LONG, 0, 5);
            for (int length : new int[] {8, 512, LARGE}) {
                MemorySegment some = cut.asSlice(0, length);
                assertGone(assertThrows(CacheException.class, () -> session.writeBlocking(0, some)));
                assertGone(assertThrows(CacheException.class, () -> session.readBlocking(0, some)));
                assertGone(assertThrows(ExecutionException.class, () -> futures.write(0, some)
                                .get(TestDevice.patience(60), TimeUnit.SECONDS))
                        .getCause());
                assertEquals(0, session.pending());
                session.writeBlocking(8, buffer, 0, 8);
                other.readBlocking(8, buffer, 16, 8);
                assertEquals(5, buffer.segment().get(JAVA_LONG, 16));
            }
        }
    }

    private static void assertGone(Throwable e) {
        assertEquals(
                Status.SEGMENT_GONE, assertInstanceOf(CacheException.class, e).status());
    }

    /** The arguments and results of such calls are copied on a thread that serves other futures, too. */
    @Test
    void futuresOfCallsFailAlone(@TempDir Path directory) throws Exception {
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA)) {
            cluster.add(1);
            try (Cache cache = cache(cluster, Configurations.DIRECT);
                    FutureCacheSession futures = cache.openFutureSession();
                    CutFile file = new CutFile(directory, LARGE)) {
                Procedure load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
                MemorySegment cut = file.segment().asSlice(0, 8);
                file.cut();
                MemorySegment word = MemorySegment.ofArray(new long[1]);
                long patience = TestDevice.patience(60);
                assertThrows(ExecutionException.class, () -> futures.call(load, 0, cut, word)
                        .get(patience, TimeUnit.SECONDS));
                assertThrows(ExecutionException.class, () -> futures.call(load, 0, word, cut)
                        .get(patience, TimeUnit.SECONDS));
                assertEquals(
                        CallStatus.DONE,
                        futures.call(load, 0, word, MemorySegment.ofArray(new long[1]))
                                .get(patience, TimeUnit.SECONDS)
                                .status());
            }
        }
    }
}
