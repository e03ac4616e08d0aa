package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.Call;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.RegionHolders;
import io.farheap.rpc.RinglessCall;
import io.farheap.server.contract.CallInterleaving;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a thread charges leases for the calls that it runs. */
class ThreadCallsTest {

    private static final int SHORT = 1;
    private static final int SHIFT = 16;

    /** Has no loop, and so is never put off. */
    static final class Sum {
        public static int run(Call call) {
            call.result(0, call.argument(0) + call.argument(8));
            return 0;
        }
    }

    private final MemorySegment memory = Arena.ofAuto().allocate(1 << SHIFT, 4096);
    private final RegionHolders holders = new RegionHolders(memory, 1 << SHIFT, 1);
    private final HeldRegions manys = new HeldRegions(holders, 1, "many");
    private final HeldRegions fews = new HeldRegions(holders, 2, "few");
    private final LeaseProcedures many = new LeaseProcedures("many", () -> 0);
    private final LeaseProcedures few = new LeaseProcedures("few", () -> 0);
    private final MemorySegment message = Arena.ofAuto().allocate(CallFormat.CALL_BYTES + 16, Long.BYTES);
    private final MemorySegment answer = Arena.ofAuto().allocate(64, Long.BYTES);

    private final ThreadCalls thread = new ThreadCalls(
            0,
            Map.of(1L, many, 2L, few),
            CallInterleaving.OFF,
            new CallContextPool(),
            new ThreadCalls.ServerThreadGroup() {
                @Override
                public RunningCall steal(ThreadCalls thief) {
                    return null;
                }

                @Override
                public void help(ThreadCalls busy) {}

                @Override
                public UnderWaySlices underWay(ThreadCalls own) {
                    throw new AssertionError("no map is replaced");
                }
            },
            () -> {});

    private void call(HeldRegions lease) {
        assertTrue(RinglessCall.execute(thread.handler(false), lease, message, answer) > 0, "it was put off");
        assertEquals(CallStatus.DONE, answer.get(JAVA_INT_UNALIGNED, 0));
    }

    /** Each is charged for its own calls, in whatever order they come, although only some of all are timed. */
    @Test
    void aLeasePaysForItsOwnCallsAlone() {
        ServedProcedure sum = new ServedProcedure(SHORT, Procs.translated(Sum.class));
        many.add(sum);
        few.add(sum);
        message.set(JAVA_INT_UNALIGNED, 0, SHORT);
        message.set(JAVA_INT_UNALIGNED, 4, 8);
        message.set(JAVA_LONG_UNALIGNED, CallFormat.CALL_BYTES, 3);
        int rounds = 1_000;
        for (int i = 0; i < rounds; i++) {
            for (int j = 0; j < 31; j++) {
                call(manys);
            }
            call(fews);
            thread.run(true);
        }
        double share = (double) few.used() / (few.used() + many.used());
        assertTrue(share > 1 / 64.0 && share < 1 / 16.0, "of 32 calls one is charged for " + share + " of the time");
    }
}
