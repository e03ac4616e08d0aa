package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallCompletion.RangeCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.CallResult.ResultJoiner;
import io.farheap.procedure.CallStatus;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Effort;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Calls allocate nothing on the session's thread and on the servers' threads, as the JVM counts in bytes. The servers
 * are in this process; two run procedures, the third does not.
 */
@Tag("optimised")
@Needs(Need.HOST)
class CallAllocationTest {

    /** The calls of a round. */
    private enum Kind {
        SHORT(CallAllocationTest::callShort),
        MANY_AT_ONCE(CallAllocationTest::callAll),
        /** Calls that are longer than a slice. */
        SUSPENDED(CallAllocationTest::callLong),
        /** Calls that run on a thread which is woken to help the thread that has the ring. */
        STOLEN(CallAllocationTest::callMany),
        /** Calls that move from one server to another and back. */
        MOVING_ON(CallAllocationTest::callOverServers),
        /** Calls that stop at memory of another server, and are resumed. */
        STOPPED(CallAllocationTest::callStopping),
        /** Calls that wait in the session while their region moves. */
        HELD(CallAllocationTest::callHeld),
        /** Ranges of each kind. */
        RANGES(CallAllocationTest::callRanges),
        /** Calls that run in the client, because no server runs them. */
        HERE(CallAllocationTest::callHere);

        private final Consumer<CallAllocationTest> round;

        Kind(Consumer<CallAllocationTest> round) {
            this.round = round;
        }
    }

    private static final long REGION = Cluster.REGION_BYTES;
    private static final int SILENT_ROUNDS = Effort.either(5, 10);
    /** The most rounds, for the same reasons as in {@link AllocationTest}. */
    private static final int MOST_ROUNDS = 500;

    private static final int CALLS = 200;
    private static final int AT_ONCE = 32;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final long[] addresses = new long[AT_ONCE];
    private final CallCompletion ended = this::ended;
    private long[] serverThreads;
    private CacheProcedures procedures;
    private Caller caller;
    private Procedure load;
    private Procedure spin;
    private Procedure sum;
    private Procedure stops;
    private Procedure sumOfPiece;
    private long allocated;
    private long made;
    private long done;

    private final RangeCompletion rangeEnded = this::ended;
    /** Joins in order. */
    private final ResultJoiner last = (memory, at, bytes, laterAt, laterBytes, room) -> {
        memory.set(JAVA_LONG, at, memory.get(JAVA_LONG, laterAt));
        return bytes;
    };

    private final long[] handles = new long[AT_ONCE];
    private int stoppedCount;
    private final CallCompletion stopping = new CallCompletion() {
        @Override
        public void completed(long token, int status, int code, int bytes) {
            ended(token, status, code, bytes);
        }

        @Override
        public boolean stopped(long token, long handle, long address, int line) {
            handles[stoppedCount++] = handle;
            return true;
        }
    };

    private void ended(long token, int status, int code, int bytes) {
        if (status == CallStatus.DONE) {
            done++;
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void aCallAllocatesNothing(Kind kind) {
        Set<Thread> others = Thread.getAllStackTraces().keySet();
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA).threads(kind == Kind.STOLEN ? 2 : 1)) {
            cluster.add(1);
            cluster.add(1);
            cluster.serving(ServedCode.OFF).add(1);
            try (Cache cache = Cache.builder()
                            .capacity(3 * REGION)
                            .servers(cluster.addresses())
                            .create();
                    Caller opened = new Caller(cache)) {
                caller = opened;
                procedures = Fields.get(cache, "procedures", CacheProcedures.class);
                load = cache.procedures().register(TestProcedures.Load.class, Procedures.READS);
                spin = cache.procedures().register(TestProcedures.Spin.class, Procedures.READS);
                sum = cache.procedures().register(TestProcedures.Sum.class, Procedures.READS);
                stops = cache.procedures().register(TestProcedures.Sum.class, Procedures.READS | Procedures.STOP);
                sumOfPiece = cache.procedures().register(TestProcedures.SumOfPiece.class, Procedures.READS);
                if (kind == Kind.STOLEN) {
                    awaitHelp(cluster);
                }
                measure(kind, others);
            }
        }
    }

    /** Makes calls until the server's other thread has helped: on a busy machine it may be slow to wake. */
    private void awaitHelp(Cluster cluster) {
        for (int round = 0; cluster.status(0).counters().getOrDefault("procedures.stolen", 0L) == 0; round++) {
            assertTrue(round < TestDevice.patience(1_000), "the other thread does not help");
            callMany();
        }
    }

    /** @param others threads that do not belong to this test's servers */
    private void measure(Kind kind, Set<Thread> others) {
        kind.round.accept(this);
        serverThreads = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !others.contains(thread) && thread.getName().startsWith("farheap-srv-"))
                .mapToLong(Thread::threadId)
                .toArray();
        assertTrue(serverThreads.length > 0);
        List<Long> all = new ArrayList<>();
        int silent = 0;
        for (int round = 0; round < MOST_ROUNDS && silent < SILENT_ROUNDS; round++) {
            allocated = 0;
            kind.round.accept(this);
            silent = allocated == 0 ? silent + 1 : 0;
            all.add(allocated);
        }
        assertEquals(SILENT_ROUNDS, silent, "last rounds that allocated nothing; bytes of all: " + all);
        assertEquals(made, done);
    }

    /**
     * Counts the bytes that this thread and the servers' threads allocate during the calls, without those of the test
     * itself. Asking for another thread's bytes allocates, so it is done outside the interval of this thread.
     */
    private void counted(Runnable calls) {
        long servers = allocatedByServers();
        long own = threads.getCurrentThreadAllocatedBytes();
        calls.run();
        allocated += threads.getCurrentThreadAllocatedBytes() - own;
        allocated += allocatedByServers() - servers;
    }

    private long allocatedByServers() {
        long bytes = 0;
        if (serverThreads != null) {
            for (long thread : serverThreads) {
                bytes += threads.getThreadAllocatedBytes(thread);
            }
        }
        return bytes;
    }

    private void call(Procedure procedure, long address) {
        while (!caller.session.call(procedure, address, caller.buffer, 0, 24, 64, 8, ended, made)) {
            caller.session.poll();
        }
        made++;
    }

    private void drain() {
        while (caller.session.pending() > 0) {
            caller.session.poll();
        }
    }

    private void loads(long region) {
        for (int i = 0; i < CALLS; i++) {
            call(load, region);
        }
        drain();
    }

    private void callShort() {
        caller.arguments(REGION + 8, 0, 0);
        counted(() -> loads(REGION));
    }

    private void callHere() {
        caller.arguments(2 * REGION + 8, 0, 0);
        counted(() -> loads(2 * REGION));
    }

    private void callAll() {
        for (int i = 0; i < AT_ONCE; i++) {
            addresses[i] = i % 2 * REGION;
        }
        caller.arguments(new long[AT_ONCE]);
        counted(() -> {
            for (int i = 0; i < CALLS / AT_ONCE; i++) {
                while (!caller.session.callAll(load, addresses, AT_ONCE, caller.buffer, 0, 8, 1024, 8, ended, made)) {
                    caller.session.poll();
                }
                made += AT_ONCE;
            }
            drain();
        });
    }

    private void callLong() {
        caller.arguments(8, 100_000, 0);
        counted(() -> {
            for (int i = 0; i < CALLS / 10; i++) {
                call(spin, 0);
            }
            drain();
        });
    }

    private void callMany() {
        caller.arguments(8, 20_000, 0);
        counted(() -> {
            for (int i = 0; i < AT_ONCE; i++) {
                call(spin, 0);
            }
            drain();
        });
    }

    private void callOverServers() {
        // The calls begin in both regions in turn, and read a word of each.
        caller.arguments(8, 2, REGION);
        counted(() -> {
            for (int i = 0; i < CALLS; i++) {
                call(sum, (i & 1) * REGION);
            }
            drain();
        });
    }

    private void callStopping() {
        caller.arguments(8, 3, REGION);
        counted(() -> {
            for (int i = 0; i < AT_ONCE; i++) {
                while (!caller.session.call(stops, 0, caller.buffer, 0, 24, 64, 8, stopping, made)) {
                    caller.session.poll();
                }
                made++;
            }
            // Each stops twice: at a server that runs procedures, and at one that does not.
            while (caller.session.pending() > 0 || stoppedCount > 0) {
                if (stoppedCount > 0
                        && caller.session.resume(handles[stoppedCount - 1], caller.buffer, 64, stopping, 0)) {
                    stoppedCount--;
                }
                caller.session.poll();
            }
        });
    }

    private void callRanges() {
        counted(() -> {
            for (int i = 0; i < 3; i++) {
                long bytes = 2 * REGION - 1024 * i;
                CacheSession session = caller.session;
                while (!(i == 0
                        ? session.callRange(sumOfPiece, 0, bytes, 1024, caller.buffer, 0, 0, 64, 8, rangeEnded, made)
                        : session.callRange(
                                sumOfPiece,
                                0,
                                bytes,
                                1024,
                                caller.buffer,
                                0,
                                0,
                                64,
                                8,
                                i == 1 ? CallResult.SUM : last,
                                rangeEnded,
                                made))) {
                    session.poll();
                }
                made++;
            }
            drain();
        });
    }

    private void callHeld() {
        caller.arguments(REGION + 8, 0, 0);
        procedures.moving(1, () -> {
            counted(() -> {
                for (int i = 0; i < AT_ONCE; i++) {
                    call(load, REGION);
                }
                for (int i = 0; i < CALLS; i++) {
                    caller.session.poll();
                }
            });
            assertEquals(AT_ONCE, caller.session.held());
            return true;
        });
        counted(this::drain);
    }
}
