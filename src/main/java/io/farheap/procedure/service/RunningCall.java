package io.farheap.procedure.service;

import io.farheap.procedure.translate.running.CallContext;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.PendingCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A call under way: its context, and whose it is. Used again and again, by one thread at a time. What an earlier call
 * left in its memory is zeroed before another lease has it.
 */
final class RunningCall {

    private final MemorySegment memory = Arena.ofAuto().allocate(CallContext.MEMORY_BYTES, Long.BYTES);
    final CallContext context = new CallContext(memory);
    /** The lease that had it last; leases' ids do not come again. */
    private long owned;

    private boolean used;

    @Nullable
    HeldRegions held;

    @Nullable
    ServedProcedure procedure;

    @Nullable
    LeaseProcedures lease;
    /** Null while its handler executes it. */
    @Nullable
    PendingCall pending;

    /** The number of the thread whose ring it came over, once it is put off. */
    int home;
    /** Where its message is, while the batch that it came in is served. */
    long at;
    /** How its context left last. */
    int left;
    /** Of a slice in turns. */
    int fuelLeft;
    /** Where its footprint ends. */
    long end;

    /** It is that lease's from now on. */
    void begin(HeldRegions regions, LeaseProcedures procedures, ServedProcedure called) {
        if (used && owned != regions.lease()) {
            memory.fill((byte) 0);
        }
        used = true;
        owned = regions.lease();
        held = regions;
        lease = procedures;
        procedure = called;
    }

    /** Keeps nothing of its lease alive but the memory. */
    void finish() {
        held = null;
        lease = null;
        procedure = null;
        pending = null;
        context.end();
    }
}
