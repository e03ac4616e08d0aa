package io.farheap.procedure.service;

import io.farheap.procedure.translate.running.CallContext;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.PendingCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A call in progress: its context, and the lease that it belongs to. The object is reused, by one thread at a time.
 * Memory that an earlier call has written is zeroed before another lease gets it.
 */
final class RunningCall {

    private final MemorySegment memory = Arena.ofAuto().allocate(CallContext.MEMORY_BYTES, Long.BYTES);
    final CallContext context = new CallContext(memory);
    /** The lease that used it last; ids of leases are not used again. */
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

    /** Number of the thread whose ring the call came over, once it is put off. */
    int home;
    /** Address of its message, while the batch that it came in is served. */
    long at;
    /** The outcome of its context's last run. */
    int left;
    /** Fuel that is left of a slice in turns. */
    int fuelLeft;
    /** End of its footprint. */
    long end;

    /** Begins a call of a lease, to which it belongs from now on. */
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

    /** Drops all references to its lease; the memory stays as it is. */
    void finish() {
        held = null;
        lease = null;
        procedure = null;
        pending = null;
        context.end();
    }
}
