package io.farheap.procedure.service;

import io.farheap.procedure.format.CallFormat;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * Counts of the calls that one server thread has executed. That thread writes; any thread reads, and sees each number
 * as it was recently (opaque loads and stores).
 */
final class CallCounters {

    private static final VarHandle NUMBER = MethodHandles.arrayElementVarHandle(long[].class);

    /** The statuses of {@link io.farheap.procedure.CallStatus} that a server returns. */
    static final int STATUSES = 8;
    /** Calls that went back to their sessions, since the address that they need is elsewhere. */
    static final int LEFT = STATUSES;
    /** Units of fuel. */
    static final int FUEL = STATUSES + 1;
    /** Slices of calls that waited, and the time that the slices took, in ns. */
    static final int SLICES = STATUSES + 2;

    static final int SLICE_NANOS = STATUSES + 3;
    /** Calls that ended on another thread than that of the ring on which they came. */
    static final int STOLEN = STATUSES + 4;
    /** Calls that continued after the batch that they came in. */
    static final int PUT_OFF = STATUSES + 5;
    /** Calls that ran in turns with other calls. */
    static final int TURNS = STATUSES + 6;

    /**
     * Time, in ns, of slices and batches of 100 us or more beyond what their fuel has taken before: what the JVM did
     * meanwhile, such as first runs of code and deoptimization.
     */
    static final int JVM_NANOS = STATUSES + 7;

    static final int COUNT = STATUSES + 8;

    /** Their names in {@link io.farheap.server.MemoryServer#counters}. */
    static final List<String> NAMES = List.of(
            "procedures.calls.done",
            "procedures.calls.out of range",
            "procedures.calls.split",
            "procedures.calls.result full",
            "procedures.calls.out of fuel",
            "procedures.calls.fault",
            "procedures.calls.not aligned",
            "procedures.calls.refused",
            "procedures.calls.left",
            "procedures.fuel",
            "procedures.slices",
            "procedures.slice nanos",
            "procedures.stolen",
            "procedures.put off",
            "procedures.in turns",
            "procedures.jvm nanos");

    private final long[] numbers = new long[COUNT];

    void add(int which, long much) {
        NUMBER.setOpaque(numbers, which, numbers[which] + much);
    }

    /** @param status also {@link CallFormat#LEFT} */
    void ended(int status) {
        add(status == CallFormat.LEFT ? LEFT : status, 1);
    }

    long get(int which) {
        return (long) NUMBER.getOpaque(numbers, which);
    }
}
